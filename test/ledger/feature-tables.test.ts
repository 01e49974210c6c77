/** Every table of a ledger has an owner: the ledger itself, or a feature. */

import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { movedTables, otherTables } from "../../server/ledger/postgres/moved-tables.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-tables-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The tables of a new ledger, without SQLite's own. */
async function tablesOf(): Promise<string[]> {
  const file = join(folder, "ledger.sqlite");
  await (await openSqliteLedger({ features, file })).close();
  const db = new Database(file, { readonly: true });
  const rows = db.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  db.close();
  return rows.map(({ name }) => name).filter((name) => !name.startsWith("sqlite_"));
}

/** Tables that no move, and so no feature, knows. */
function ownerless(tables: readonly string[], of: typeof features): string[] {
  const known = new Set([...movedTables(of).map(({ name }) => name), ...otherTables]);
  return tables.filter((name) => !known.has(name));
}

test("a table without an owner is found, and a ledger has none", async () => {
  const tables = await tablesOf();
  const others = features.filter(({ name }) => name !== "notes-and-tasks");
  expect(ownerless(tables, others).toSorted()).toEqual(["notes", "tasks"]);
  expect(ownerless(tables, features)).toEqual([]);
});

test("a ledger is not opened without a feature whose tables its migrations make", async () => {
  const file = join(folder, "without.sqlite");
  await expect(openSqliteLedger({ features: [], file })).rejects.toThrow("saved-views");
});
