/**
 * Moves the tables of the embedded warehouse to a ClickHouse server. Rows are copied as they are, with
 * rollups and scores, because their raw events may be deleted. Views are created at the end, as they would
 * count the events again.
 *
 * Until the end a table of its own marks the move as unfinished: the service does not start on such tables,
 * and the next move begins from nothing.
 */
import { Refusal } from "../../../contract/refusal.ts";
import type { ServerWarehouse } from "../engine/server-warehouse.ts";
import { onCluster } from "../engine/topology.ts";
import { Unusable } from "../engine/unavailable.ts";
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";
import { rollups } from "../schema/billing-tables.ts";
import { claimForMove, refuseOtherLedger } from "../schema/ledger-identity.ts";
import { migratedTables } from "../schema/migrations.ts";
import { createRollupView, createTable, type Table } from "../schema/tables.ts";

/** How far the move is: rows of `table` that are copied, and how many it has. */
export interface TableProgress {
  readonly table: string;
  readonly rows: number;
  readonly of: number;
}

/** The contents of a table, equal on both engines: rows that a merge would combine count as one. */
interface Held {
  readonly rows: number;
  readonly hash: string;
}

const unfinishedMove: Table = {
  name: "unfinished_move",
  engine: { family: "MergeTree", arguments: "" },
  columns: ["at DateTime64(3, 'UTC')"],
  orderBy: "at",
};

/** An INSERT holds its rows in memory, here and there; the engine's own blocks have some 65,000 rows. */
const bytesAtOnce = 32 * 1024 * 1024;

/**
 * Copies every table and compares source and target.
 * @param source no other process may use it
 * @param target has empty tables of the current form
 * @param identity of the ledger that goes with them
 * @returns the rows of each table
 * @throws Refusal when the target is not empty, or the two differ in the end; WarehouseError
 */
export async function moveTables(
  source: Warehouse,
  target: ServerWarehouse,
  identity: string,
  progress: (progress: TableProgress) => void,
): Promise<Readonly<Record<string, number>>> {
  await beginMove(target, identity);
  const moved: Record<string, number> = {};
  for (const table of migratedTables()) {
    await copy(source, target, table, progress);
    const [here, there] = [await held(source, table), await held(target, table)];
    if (here.rows !== there.rows || here.hash !== there.hash) {
      throw new Refusal(
        `${table} has ${here.rows} rows here and ${there.rows} in ClickHouse after the move, or other ones: nothing was ` +
          "changed here. Run the move again; if it happens again, please report it.",
      );
    }
    moved[table] = there.rows;
  }
  return moved;
}

/** Called when the ledger is moved, too: from now on the service may use the tables. */
export async function finishMove(target: Warehouse): Promise<void> {
  for (const rollup of rollups) await target.command(createRollupView(rollup, target.topology));
  await target.command(`DROP TABLE IF EXISTS ${unfinishedMove.name}${onCluster(target.topology)} SYNC`);
}

/** @throws Refusal when the tables are those of a move that was not finished. */
export async function refuseUnfinishedMove(warehouse: Warehouse): Promise<void> {
  if (await isMoveUnfinished(warehouse)) {
    throw new Unusable(
      "the move to ClickHouse was not finished",
      "rekindle migrate-to was not finished on this ClickHouse: run it again, or name another database in CLICKHOUSE_URL.",
    );
  }
}

/** @throws Refusal when something is in the tables that no move has left there, or they belong to another
 * ledger. */
export async function refuseFilledTables(target: Warehouse, identity: string): Promise<void> {
  if (await isMoveUnfinished(target)) return;
  await refuseOtherLedger(target, identity);
  for (const table of migratedTables()) {
    const found = await target.rows(`SELECT 1 FROM ${table} LIMIT 1`);
    if (found.length === 0) continue;
    throw new Refusal(
      `the warehouse in ClickHouse is not empty (${table} has rows): name a database that is not there yet.`,
    );
  }
}

async function beginMove(target: Warehouse, identity: string): Promise<void> {
  const { topology } = target;
  await refuseFilledTables(target, identity);
  await target.command(createTable(unfinishedMove, topology));
  await claimForMove(target, identity);
  for (const { table } of rollups) {
    await target.command(`DROP TABLE IF EXISTS ${table.name}_view${onCluster(topology)} SYNC`);
  }
  for (const table of migratedTables()) {
    await target.command(`TRUNCATE TABLE ${table}${onCluster(topology)} SYNC`, {}, noLimitOfTime);
  }
}

async function isMoveUnfinished(warehouse: Warehouse): Promise<boolean> {
  const [table] = await warehouse.rows<{ result: number }>(`EXISTS TABLE ${unfinishedMove.name}`);
  return table?.result === 1;
}

async function copy(
  source: Warehouse,
  target: ServerWarehouse,
  table: string,
  progress: (progress: TableProgress) => void,
): Promise<void> {
  const names = (await columnsOf(source, table)).map(({ name }) => name).join(", ");
  const partitions = await source.rows<{ partition: string; rows: number }>(
    `SELECT partition_id AS partition, sum(rows) AS rows FROM system.parts
     WHERE database = currentDatabase() AND table = {table:String} AND active
     GROUP BY partition_id ORDER BY partition_id`,
    { table },
  );
  const of = partitions.reduce((sum, { rows }) => sum + rows, 0);
  let rows = 0;
  for (const { partition, rows: inPartition } of partitions) {
    const sql = `SELECT ${names} FROM ${table} WHERE _partition_id = {partition:String} SETTINGS max_threads = 1`;
    for await (const blocks of together(source.stream(sql, "Native", { partition }))) {
      progress({ table, rows, of });
      await target.insertNative(table, names, blocks);
    }
    rows += inPartition;
    progress({ table, rows, of });
  }
}

/** Whole blocks, as the embedded engine streams them, some together. */
async function* together(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    // The engine reuses its memory when the next chunk is asked for.
    waiting.push(Buffer.from(chunk));
    bytes += chunk.byteLength;
    if (bytes < bytesAtOnce) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** Rows and the sum of their hashes. Bitmaps are compared by their members: equal sets may be stored in two
 * ways, small ones in the order in which parts were merged. */
async function held(warehouse: Warehouse, table: string): Promise<Held> {
  const [{ engine } = { engine: "" }] = await warehouse.rows<{ engine: string }>(
    "SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = {table:String}",
    { table },
  );
  const merges = !/^(Replicated)?MergeTree$/.test(engine);
  const values = (await columnsOf(warehouse, table)).map(({ name, type }) =>
    type.startsWith("AggregateFunction(groupBitmap") ? `arraySort(bitmapToArray(${name}))` : name,
  );
  const [found] = await warehouse.rows<Held>(
    `SELECT count() AS rows, toString(sum(cityHash64(formatRow('RowBinary', ${values.join(", ")})))) AS hash
     FROM ${table} ${merges ? "FINAL" : ""}`,
    {},
    noLimitOfTime,
  );
  return found ?? { rows: 0, hash: "" };
}

/** In the order of their names: columns that were added later may have another position in new tables. */
function columnsOf(
  warehouse: Warehouse,
  table: string,
): Promise<{ readonly name: string; readonly type: string }[]> {
  return warehouse.rows(
    `SELECT name, type FROM system.columns
     WHERE database = currentDatabase() AND table = {table:String} ORDER BY name`,
    { table },
  );
}
