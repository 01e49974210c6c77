/** Direct access to a server's stored data, for reads and changes, on any of its engines. */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { join } from "node:path";
import { openPool } from "../server/ledger/postgres/connect.ts";
import { warehouseFolder } from "../server/process/data-folder.ts";
import { openChdbWarehouse } from "../server/warehouse/engine/chdb.ts";
import { openClickHouseWarehouse } from "../server/warehouse/engine/clickhouse.ts";
import type { Warehouse } from "../server/warehouse/engine/warehouse.ts";
import { enginesOf } from "./engines.ts";

type Value = string | number | null;

/** Runs a statement that SQLite and PostgreSQL both understand, with its values bound. Returns its rows. */
export type RunInLedger = <Row extends object = object>(
  strings: TemplateStringsArray,
  ...values: readonly Value[]
) => Promise<readonly Row[]>;

/** Does something to the tables of the ledger of a data folder. */
export async function inLedger<Result>(
  dataDir: string,
  work: (run: RunInLedger) => Promise<Result>,
): Promise<Result> {
  const engines = await enginesOf(dataDir);
  if (engines === undefined) return inSqlite(dataDir, work);
  const sql = openPool(engines.DATABASE_URL, { connections: 1 });
  try {
    return await work(
      async <Row extends object>(strings: TemplateStringsArray, ...values: readonly Value[]) => [
        ...(await sql<Row[]>(strings, ...values)),
      ],
    );
  } finally {
    await sql.end();
  }
}

async function inSqlite<Result>(
  dataDir: string,
  work: (run: RunInLedger) => Promise<Result>,
): Promise<Result> {
  const ledger = new Database(join(dataDir, "ledger.sqlite"), { strict: true });
  ledger.run("PRAGMA busy_timeout = 180000");
  try {
    return await work(
      async <Row extends object>(strings: TemplateStringsArray, ...values: readonly Value[]) =>
        ledger.query<Row, SQLQueryBindings[]>(strings.join("?")).all(...values),
    );
  } finally {
    ledger.close();
  }
}

/** Gives a table of the ledger another name. */
export async function renameInLedger(dataDir: string, from: string, to: string): Promise<void> {
  await inLedger(dataDir, (run) => run(asTemplate(`ALTER TABLE ${from} RENAME TO ${to}`)));
}

/** A statement that names a table, with nothing bound. */
export function asTemplate(text: string): TemplateStringsArray {
  return Object.assign([text], { raw: [text] });
}

/** The tables of the ledger in PostgreSQL in which a text is. */
export async function tablesWith(dataDir: string, text: string): Promise<readonly string[]> {
  const tables = await inLedger(
    dataDir,
    (run) =>
      run<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await inLedger(dataDir, (run) =>
      run<{ text: string }>(asTemplate(`SELECT t::text AS text FROM ${name} t`)),
    );
    if (rows.some((row) => row.text.includes(text))) found.push(name);
  }
  return found;
}

/** Opens the warehouse of a data folder on which nothing runs. */
export async function openWarehouseOf(dataDir: string): Promise<Warehouse> {
  const engines = await enginesOf(dataDir);
  if (engines === undefined) return openChdbWarehouse({ folder: warehouseFolder(dataDir) });
  return openClickHouseWarehouse({ url: engines.CLICKHOUSE_URL });
}
