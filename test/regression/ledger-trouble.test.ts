/** A ledger that cannot be opened is a sentence with a remedy. Pages of garbage, and a mount without writing,
 * were stack traces. */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refusal } from "../../contract/refusal.ts";
import { features } from "../../server/features/features.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { ledgerTrouble, openingTrouble } from "../../server/ledger/sqlite/trouble.ts";
import { rekindle } from "../server.ts";

let folder: string;
/** A data folder with an organization and a token. */
let whole: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rekindle-trouble-"));
  whole = join(folder, "whole");
  expect((await rekindle(whole, "organization", "create", "acme")).exitCode).toBe(0);
  expect((await rekindle(whole, "token", "create", "--organization", "acme")).exitCode).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pageBytes = 4_096;

/** A copy of the data folder, with garbage in these pages of the ledger, counted from 1. */
function damaged(name: string, pages: readonly number[]): string {
  const copy = join(folder, name);
  cpSync(whole, copy, { recursive: true });
  const file = join(copy, "ledger.sqlite");
  const bytes = readFileSync(file);
  for (const page of pages) bytes.fill(`garbage ${page} `, (page - 1) * pageBytes, page * pageBytes);
  writeFileSync(file, bytes);
  return copy;
}

/** How often the ledger opens, and is refused with its file and a backup as the remedy, with one page of
 * garbage after the other. */
test("garbage in any page of the ledger is a refusal, or is not met yet", async () => {
  const pages = readFileSync(join(whole, "ledger.sqlite")).length / pageBytes;
  const outcomes = { opened: 0, refused: 0 };
  for (let page = 2; page <= pages; page += 5) {
    const file = join(damaged(`page-${page}`, [page, page + 1]), "ledger.sqlite");
    try {
      await (await openSqliteLedger({ features, file })).close();
      outcomes.opened++;
    } catch (error) {
      expect([page, error]).toEqual([page, expect.any(Refusal)]);
      expect(String(error)).toContain(`${file} is no ledger, or damaged (SQLITE_`);
      outcomes.refused++;
    }
    rmSync(join(folder, `page-${page}`), { recursive: true });
  }
  expect(outcomes.opened).toBeGreaterThan(0);
  expect(outcomes.refused).toBeGreaterThan(0);
});

test("garbage that a command meets after the ledger was opened is a sentence, too", async () => {
  const ledger = new Database(join(whole, "ledger.sqlite"), { readonly: true });
  const root = (name: string) =>
    ledger
      .query<{ rootpage: number }, [string]>("SELECT rootpage FROM sqlite_master WHERE name = ?")
      .get(name);
  const pages = [root("tokens")?.rootpage ?? 0];
  ledger.close();
  const { exitCode, stderr } = await rekindle(
    damaged("later", pages),
    "token",
    "list",
    "--organization",
    "acme",
  );
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^rekindle: \S.* is no ledger, or damaged \(SQLITE_CORRUPT\): restore a backup/);
  expect(stderr).not.toContain("    at ");
});

test("a file that cannot be opened says so", async () => {
  const file = join(folder, "no-file", "ledger.sqlite");
  mkdirSync(file, { recursive: true });
  await expect(openSqliteLedger({ features, file })).rejects.toThrow(
    `${file} cannot be written (SQLITE_CANTOPEN)`,
  );
});

test.each([
  ["SQLITE_CORRUPT_INDEX", "restore a backup"],
  ["SQLITE_READONLY", "mount DATA_DIR for writing"],
  ["SQLITE_READONLY_DIRECTORY", "mount DATA_DIR for writing"],
  ["EROFS", "mount DATA_DIR for writing"],
  ["EACCES", "let this user write there"],
  ["SQLITE_FULL", "make room"],
  ["ENOSPC", "make room"],
  ["SQLITE_IOERR_READ", "check the disk"],
  ["EIO", "check the disk"],
  ["SQLITE_BUSY_RECOVERY", "another program holds"],
])("%s has a remedy: %s", (code, remedy) => {
  const error = Object.assign(new Error("short"), { code });
  expect(ledgerTrouble("/data/ledger.sqlite", error)?.message).toMatch(
    new RegExp(`^.*/data/ledger.sqlite.* \\(${code}\\)`),
  );
  expect(ledgerTrouble("/data/ledger.sqlite", error)?.message).toContain(remedy);
});

test("any other error of SQLite at the start is one, and a fault of the program is none", () => {
  const other = Object.assign(new Error("no such table: users"), { code: "SQLITE_ERROR" });
  expect(openingTrouble("/d/ledger.sqlite", other)?.message).toContain(
    "(SQLITE_ERROR, no such table: users)",
  );
  // After the start it may be a fault of ours, whose trace is needed.
  expect(ledgerTrouble("/d/ledger.sqlite", other)).toBeUndefined();
  expect(openingTrouble("/d/ledger.sqlite", new TypeError("undefined is no function"))).toBeUndefined();
});
