/**
 * Moves a whole SQLite ledger into an empty PostgreSQL ledger, in one transaction. It compares all tables.
 * Either all rows are moved, or none.
 *
 * No id changes. New ids continue after the highest earlier one. So do the numbers of batches, which are the
 * warehouse's tokens, and the numbers in event ids. Rows that wait for the warehouse are not moved: they have
 * to be loaded before.
 *
 * Export and import are not used here, because an export has no members, settings, tokens or message ids. The
 * format of backups is not used either: a backup is a copy of SQLite's file. It has to be read row by row,
 * too.
 */
import { existsSync } from "node:fs";
import { Refusal } from "../../../contract/refusal.ts";
import { systemTime } from "../../process/time.ts";
import type { Feature } from "../feature.ts";
import { uuidOf } from "../rules/message-id-hash.ts";
import { MovingOut } from "../sqlite/moving-out.ts";
import { openSqliteLedger } from "../sqlite/open.ts";
import type { MovedTable } from "../tables.ts";
import { countBehind } from "./batch-numbers.ts";
import { openPool, refuseUnfitServer, type Sql, type Tx } from "./connect.ts";
import { lockInbox, tableOf } from "./inbox-segments.ts";
import { advisoryLocks } from "./locks.ts";
import { ledgerIdentity, migrate } from "./migrations/migrations.ts";
import { moveTable } from "./moved-rows.ts";
import { movedTables, otherTables } from "./moved-tables.ts";
import { inTransaction } from "./transaction.ts";
import { beginMoved, finishMoved, isUnfinished } from "./unfinished-move.ts";

const messageIdsAtOnce = 20_000;

/** The longest wait for the inbox and other locks. No other process uses the database. */
const inboxPatienceMs = 15_000;

/** The number of copied rows of a table. */
export interface MoveProgress {
  readonly table: string;
  readonly rows: number;
  /** All rows of the table. Undefined if they are not counted. */
  readonly of?: number;
}

export interface MoveOptions {
  /** The SQLite ledger's database. No process has it open. It is only read, except by an upgrade. */
  readonly file: string;
  /** The address of an empty database of PostgreSQL. No node uses it. */
  readonly url: string;
  readonly features: readonly Feature[];
  readonly clock?: () => number;
  readonly progress?: (progress: MoveProgress) => void;
  /** Called when all tables are copied and compared, right before the commit. */
  readonly beforeCommit?: () => Promise<void>;
}

/**
 * Moves the ledger and closes both. It cannot be opened before `finishMoveIn`.
 * @returns the numbers of moved rows by table, including message ids of the last 24 hours, when all counts
 * and sums are the same on both sides
 * @throws Refusal when rows still wait for the warehouse, the ledger in PostgreSQL is not empty or in use, or
 * the two differ in the end. Then nothing is moved
 */
export async function moveIntoPostgres({
  file,
  url,
  features,
  clock = systemTime.nowMs,
  progress = () => undefined,
  beforeCommit = async () => undefined,
}: MoveOptions): Promise<Readonly<Record<string, number>>> {
  await prepareSource(file, clock, features);
  const source = new MovingOut(file);
  try {
    return await onServer(url, async (sql) => {
      await migrate(sql, features);
      return inTransaction(sql, async (tx) => {
        const moved = await moveAll(tx, source, movedTables(features), clock(), progress);
        await beginMoved(tx);
        await beforeCommit();
        return moved;
      });
    });
  } finally {
    source.close();
  }
}

/** Connects for one step of the move, because steps may be hours apart. @throws Refusal when the server is
 * not supported */
async function onServer<Result>(url: string, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const sql = openPool(url, { connections: 1 });
  try {
    await refuseUnfitServer(sql);
    return await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Whether a move to this database was not finished. */
export function isMoveInUnfinished(url: string): Promise<boolean> {
  return onServer(url, isUnfinished);
}

/** Allows nodes to open the ledger. Called when the warehouse is complete, too. A second call changes
 * nothing. */
export function finishMoveIn(url: string): Promise<void> {
  return onServer(url, finishMoved);
}

/** Creates the tables before the move. @returns the ledger's identity
 * @throws Refusal when the server is not supported, or the ledger in PostgreSQL is not empty or in use */
export function refuseFilledLedger(url: string, features: readonly Feature[]): Promise<string> {
  return onServer(url, async (sql) => {
    await migrate(sql, features);
    await inTransaction(sql, async (tx) => {
      await refuseInUse(tx);
      await refuseFilled(tx, movedTables(features));
    });
    return ledgerIdentity(sql);
  });
}

/** Runs the ledger's migrations and writes its journal into its tables.
 * @throws Refusal when there is no ledger, or rows wait */
async function prepareSource(file: string, clock: () => number, features: readonly Feature[]): Promise<void> {
  if (!existsSync(file))
    throw new Refusal(`There is no ledger at ${file}: set DATA_DIR to the installation's.`);
  const ledger = await openSqliteLedger({ file, clock, features });
  try {
    const { rows } = await ledger.inbox.backlog();
    if (rows === 0) return;
    throw new Refusal(
      `${rows} rows still wait for the warehouse: they have to be loaded before the ledger moves.`,
    );
  } finally {
    await ledger.close();
  }
}

async function moveAll(
  tx: Tx,
  source: MovingOut,
  tables: readonly MovedTable[],
  nowMs: number,
  progress: (progress: MoveProgress) => void,
): Promise<Record<string, number>> {
  tx.connection.waitWithoutLimit();
  await tx`SET LOCAL statement_timeout = 0`;
  await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
  await tx`SELECT pg_advisory_xact_lock(${advisoryLocks.migrations})`;
  await lockInbox(tx, inboxPatienceMs);
  await refuseInUse(tx);
  await refuseFilled(tx, tables);
  refuseUnknownTables(source, tables);
  const moved: Record<string, number> = {};
  for (const table of tables) {
    const of = source.count(table.name);
    const report = (rows: number) => progress({ table: table.name, rows, of });
    moved[table.name] = await moveTable(tx, source, table, report);
  }
  await moveErasureKey(tx, source);
  // The first node pauses destinations: their place is another now.
  await tx`DELETE FROM ledger_place`;
  moved.message_ids = await moveMessageIds(tx, source, nowMs, progress);
  await continueNumbers(tx, source, tables);
  // The first statements need plans with the sizes of the tables.
  await tx`ANALYZE`;
  return moved;
}

/** A node keeps rows in memory, for example the key of erasures. */
async function refuseInUse(tx: Tx): Promise<void> {
  const [others] = await tx<{ count: number }[]>`
    SELECT count(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'rekindle' AND pid <> pg_backend_pid()`;
  if ((others?.count ?? 0) > 0) {
    throw new Refusal("A node of Rekindle runs on this database of PostgreSQL: stop all of them before.");
  }
}

async function refuseFilled(tx: Tx, tables: readonly MovedTable[]): Promise<void> {
  const segments = await tx<{ segment: number }[]>`SELECT segment FROM inbox_segments`;
  const names = [...tables.map(({ name }) => name), ...segments.map(({ segment }) => tableOf(segment))];
  for (const name of [...names, "message_ids", "frozen_batches"]) {
    const [any] = await tx`SELECT FROM ${tx(name)} LIMIT 1`;
    if (any === undefined) continue;
    throw new Refusal(
      `The ledger in PostgreSQL is not empty (${name} has rows): name a database that is empty, or empty this one.`,
    );
  }
}

/** A table that a later version adds must be moved, too. */
function refuseUnknownTables(source: MovingOut, tables: readonly MovedTable[]): void {
  const known = new Set([...tables.map(({ name }) => name), ...otherTables]);
  const unknown = source.tables().filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new Error(`${unknown.join(", ")}: no feature says how to move it into PostgreSQL.`);
}

async function moveErasureKey(tx: Tx, source: MovingOut): Promise<void> {
  for (const { key } of source.rows("erasure_key")) {
    if (!(key instanceof Uint8Array)) throw new Error("The key of erasures is no bytes.");
    await tx`UPDATE erasure_key SET key = ${Buffer.from(key).toString("hex")}`;
  }
}

async function moveMessageIds(
  tx: Tx,
  source: MovingOut,
  nowMs: number,
  progress: (progress: MoveProgress) => void,
): Promise<number> {
  let rows = 0;
  let ids: string[] = [];
  let times: number[] = [];
  await tx`UPDATE ledger_form SET message_kinds_from_ms = ${source.messageKindsFromMs()}`;
  const send = async () => {
    // If an id occurs twice, the first one is newer.
    const added = await tx`
      INSERT INTO message_ids (id, at_ms) SELECT * FROM unnest(${ids}::uuid[], ${times}::bigint[])
      ON CONFLICT DO NOTHING`;
    rows += added.count;
    ids = [];
    times = [];
    progress({ table: "message_ids", rows });
  };
  for (const { hash, atMs } of source.messageIds(nowMs)) {
    ids.push(uuidOf(hash));
    times.push(atMs);
    if (ids.length === messageIdsAtOnce) await send();
  }
  if (ids.length > 0) await send();
  return rows;
}

/** Continues all numbers after the highest one in SQLite. */
async function continueNumbers(tx: Tx, source: MovingOut, tables: readonly MovedTable[]): Promise<void> {
  const identities = await tx<{ name: string; column: string }[]>`
    SELECT table_name AS name, column_name AS "column" FROM information_schema.columns
    WHERE table_schema = current_schema() AND is_identity = 'YES'
      AND table_name = ANY (${tables.map(({ name }) => name)}::text[])`;
  for (const { name, column } of identities) {
    await tx`
      SELECT setval(pg_get_serial_sequence(${name}, ${column}), last) FROM (
        SELECT greatest(${source.lastId(name)}::bigint, (SELECT max(${tx(column)}) FROM ${tx(name)})) AS last) AS given
      WHERE last > 0`;
  }
  await countBehind(tx, source.lastId("frozen_batches"));
  const newestInboxId = source.lastId("inbox");
  await tx`UPDATE inbox_position SET frozen_upto_inbox_id = ${newestInboxId}`;
  // A transaction of SQLite has the number of its first inbox row.
  if (newestInboxId > 0) await tx`SELECT setval('transaction_numbers', ${newestInboxId}::bigint)`;
  await tx`
    UPDATE populations SET
      last_user_number = greatest(
        (SELECT max(number) FROM users WHERE users.organization = populations.organization),
        (SELECT max("user") FROM erasures WHERE erasures.organization = populations.organization), 0),
      last_account_number = greatest(
        (SELECT max(number) FROM accounts WHERE accounts.organization = populations.organization),
        (SELECT max(account) FROM erasures WHERE erasures.organization = populations.organization), 0)`;
}
