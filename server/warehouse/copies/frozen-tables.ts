/**
 * The warehouse's tables at one instant: copies in a database of their own, made of hard links to the same
 * parts. That takes milliseconds at any size. The tables stay in use while the copies are read.
 *
 * Merges are stopped in the copies before they have a part, so that a count of rows stays true. Parts that a
 * merge replaces in the tables stay on disk until the copies are dropped.
 */
import { Refusal } from "../../../contract/refusal.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import { migratedTables } from "../schema/migrations.ts";

const database = "frozen";

/** One partition of one table: a year of events, or "all" of a table without partitions. */
export interface FrozenPartition {
  readonly table: string;
  readonly partition: string;
  readonly rows: number;
  /** About as many as in the Native format. */
  readonly uncompressedBytes: number;
}

/** Copies every table. The loader has to be paused. @throws Refusal on a server, whose disks and databases
 * are not ours */
export async function freezeTables(warehouse: Warehouse): Promise<readonly FrozenPartition[]> {
  if (!warehouse.topology.isEmbedded) {
    throw new Refusal(
      "the warehouse is a server of ClickHouse: back it up with ClickHouse's own BACKUP, and the ledger with PostgreSQL's tools.",
    );
  }
  await dropFrozenTables(warehouse);
  await warehouse.command(`CREATE DATABASE ${database}`);
  for (const table of await existingTables(warehouse)) {
    const copy = `${database}.${table}`;
    await createCopy(warehouse, copy, table);
    await warehouse.command(`ALTER TABLE ${copy} ATTACH PARTITION ALL FROM ${table}`);
  }
  const partitions = await warehouse.rows<Omit<FrozenPartition, "rows">>(
    `SELECT table, partition_id AS partition, sum(data_uncompressed_bytes) AS uncompressedBytes
     FROM system.parts WHERE database = {database:String} AND active
     GROUP BY table, partition_id ORDER BY table, partition_id`,
    { database },
  );
  const counted: FrozenPartition[] = [];
  for (const partition of partitions)
    counted.push({ ...partition, rows: await countRows(warehouse, partition) });
  // Until its next merge a part stays whose rows are all deleted. A file of it would have no columns, and
  // could not be read.
  return counted.filter(({ rows }) => rows > 0);
}

/** The rows of a partition, in ClickHouse's Native format. */
export function readFrozen(
  warehouse: Warehouse,
  { table, partition }: FrozenPartition,
): AsyncIterable<Uint8Array> {
  const sql = `SELECT * FROM ${database}.${table} WHERE _partition_id = {partition:String} SETTINGS max_threads = 1`;
  return warehouse.stream(sql, "Native", { partition });
}

/** Removes the copies; also those that a process left that died. On a server there are none. */
export async function dropFrozenTables(warehouse: Warehouse): Promise<void> {
  if (!warehouse.topology.isEmbedded) return;
  await warehouse.command(`DROP DATABASE IF EXISTS ${database} SYNC`);
}

/**
 * Adds rows from a file of the Native format, compressed with zstd, to a table. They are written to a
 * separate table and then attached, so that views on the table do not see them. The views' rows are in files
 * of their own. No row is merged on the way.
 * @throws WarehouseError; Refusal when the file has another number of rows
 */
export async function attachFile(
  warehouse: Warehouse,
  table: string,
  file: { readonly path: string; readonly rows: number },
): Promise<void> {
  const copy = `${database}.${table}`;
  await warehouse.command(`CREATE DATABASE IF NOT EXISTS ${database}`);
  await createCopy(warehouse, copy, table);
  // By their names: a backup of before a column was added does not have it.
  const columns = await warehouse.rows<{ name: string }>(
    "DESCRIBE TABLE file({path:String}, 'Native', 'auto', 'zstd')",
    { path: file.path },
  );
  const names = columns.map(({ name }) => `\`${name}\``).join(", ");
  await warehouse.command(
    `INSERT INTO ${copy} (${names}) SETTINGS insert_deduplicate = 0, optimize_on_insert = 0
     SELECT ${names} FROM file({path:String}, 'Native', 'auto', 'zstd')`,
    { path: file.path },
    { maxSeconds: 0 },
  );
  const [found] = await warehouse.rows<{ rows: number }>(`SELECT count() AS rows FROM ${copy}`);
  if (found?.rows !== file.rows) {
    throw new Refusal(`${file.path} was written with ${file.rows} rows, and ${found?.rows ?? 0} were read.`);
  }
  await warehouse.command(`ALTER TABLE ${table} ATTACH PARTITION ALL FROM ${copy}`);
  await warehouse.command(`DROP TABLE ${copy} SYNC`);
}

async function createCopy(warehouse: Warehouse, copy: string, table: string): Promise<void> {
  await warehouse.command(`CREATE TABLE ${copy} AS ${table}`);
  await warehouse.command(`SYSTEM STOP MERGES ${copy}`);
}

async function countRows(
  warehouse: Warehouse,
  { table, partition }: Pick<FrozenPartition, "table" | "partition">,
): Promise<number> {
  const [found] = await warehouse.rows<{ rows: number }>(
    `SELECT count() AS rows FROM ${database}.${table} WHERE _partition_id = {partition:String}`,
    { partition },
  );
  return found?.rows ?? 0;
}

/** Without tables that a killed rebuild left. */
async function existingTables(warehouse: Warehouse): Promise<readonly string[]> {
  const found = await warehouse.rows<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase()",
  );
  const names = new Set(found.map(({ name }) => name));
  return migratedTables().filter((name) => names.has(name));
}
