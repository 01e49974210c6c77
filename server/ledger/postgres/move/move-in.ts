/**
 * Moves a whole SQLite ledger into an empty PostgreSQL ledger, in one transaction: either all of it is there in the end,
 * compared table by table, or nothing.
 *
 * Every id stays as it is, of organizations, tokens, users and what else has one, and new ones go on behind the highest
 * that was ever given. So do the numbers of batches, under which the warehouse knows what it has taken, and the numbers
 * of which event ids are made. What waits for the warehouse is not moved: it has to be loaded before.
 */
import { existsSync } from "node:fs";
import { Refusal } from "../../../../contract/refusal.ts";
import { uuidOf } from "../../rules/message-id-hash.ts";
import { MovingOut, openSqliteLedger } from "../../sqlite/sqlite.ts";
import { openPool, refuseUnfitServer, type Tx } from "../client/connect.ts";
import { advisoryLocks } from "../client/locks.ts";
import { ledgerIdentity, migrate } from "../client/migrations.ts";
import { inTransaction } from "../client/transaction.ts";
import { countBehind } from "../inbox/batch-numbers.ts";
import { lockInbox, tableOf } from "../inbox/inbox-segments.ts";
import { moveTable } from "./moved-rows.ts";
import { movedTables, otherTables } from "./moved-tables.ts";
import { beginMoved, finishMoved, isUnfinished } from "./unfinished-move.ts";

const messageIdsAtOnce = 20_000;

/** How far the move is: of `table` so many of its rows are copied. */
/** For the inbox and other locks: nothing else works on the database. */
const inboxPatienceMs = 15_000;

export interface MoveProgress {
  readonly table: string;
  readonly rows: number;
  /** Undefined where nobody has counted them. */
  readonly of?: number;
}

export interface MoveOptions {
  /** The SQLite ledger's database; nobody has it open. It is only read, but for what an upgrade changes. */
  readonly file: string;
  /** Of an empty database of PostgreSQL, on which no node runs. */
  readonly url: string;
  readonly clock?: () => number;
  readonly progress?: (progress: MoveProgress) => void;
  /** Called when everything is there and compared, right before it is kept. */
  readonly beforeCommit?: () => Promise<void>;
}

/**
 * Moves the ledger and closes both. Nobody can open it before `finishMoveIn`.
 * @returns the rows of each table that were moved, message ids of the last 24 hours among them, when all counts and sums
 * are the same on both sides
 * @throws Refusal when rows still wait for the warehouse, the ledger in PostgreSQL is not empty or in use, or the two
 * differ in the end: nothing is moved then
 */
export async function moveIntoPostgres({
  file,
  url,
  clock = Date.now,
  progress = () => undefined,
  beforeCommit = async () => undefined,
}: MoveOptions): Promise<Readonly<Record<string, number>>> {
  await prepareSource(file, clock);
  const source = new MovingOut(file);
  const sql = openPool(url, { connections: 1 });
  try {
    await refuseUnfitServer(sql);
    await migrate(sql);
    return await inTransaction(sql, async (tx) => {
      const moved = await moveAll(tx, source, clock(), progress);
      await beginMoved(tx);
      await beforeCommit();
      return moved;
    });
  } finally {
    source.close();
    await sql.end({ timeout: 5 });
  }
}

/** Whether a ledger was moved there and the move was not finished. */
export async function isMoveInUnfinished(url: string): Promise<boolean> {
  const sql = openPool(url, { connections: 1 });
  try {
    await refuseUnfitServer(sql);
    return await isUnfinished(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** The warehouse is whole, too: from now on nodes may open the ledger. Done twice it changes nothing. */
export async function finishMoveIn(url: string): Promise<void> {
  const sql = openPool(url, { connections: 1 });
  try {
    await finishMoved(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Looks before there is anything to move, and makes the tables. @returns the ledger's identity
 * @throws Refusal when the server is not fit, or the ledger in PostgreSQL is not empty or in use */
export async function refuseFilledLedger(url: string): Promise<string> {
  const sql = openPool(url, { connections: 1 });
  try {
    await refuseUnfitServer(sql);
    await migrate(sql);
    await inTransaction(sql, async (tx) => {
      await refuseInUse(tx);
      await refuseFilled(tx);
    });
    return await ledgerIdentity(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Brings the ledger to today's form and its journal into its tables.
 * @throws Refusal when there is none, or rows wait */
async function prepareSource(file: string, clock: () => number): Promise<void> {
  if (!existsSync(file))
    throw new Refusal(`There is no ledger at ${file}: set DATA_DIR to the installation's.`);
  const ledger = await openSqliteLedger({ file, clock });
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
  nowMs: number,
  progress: (progress: MoveProgress) => void,
): Promise<Record<string, number>> {
  tx.connection.waitWithoutLimit();
  await tx`SET LOCAL statement_timeout = 0`;
  await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
  await tx`SELECT pg_advisory_xact_lock(${advisoryLocks.migrations})`;
  await lockInbox(tx, inboxPatienceMs);
  await refuseInUse(tx);
  await refuseFilled(tx);
  refuseUnknownTables(source);
  const moved: Record<string, number> = {};
  for (const table of movedTables) {
    const of = source.count(table.name);
    const said = (rows: number) => progress({ table: table.name, rows, of });
    moved[table.name] = await moveTable(tx, source, table, said);
  }
  await moveErasureKey(tx, source);
  moved.message_ids = await moveMessageIds(tx, source, nowMs, progress);
  await goOnBehind(tx, source);
  // So that the first questions are planned with what the tables hold now.
  await tx`ANALYZE`;
  return moved;
}

/** A node keeps in memory what it has read, the key of erasures for instance. */
async function refuseInUse(tx: Tx): Promise<void> {
  const [others] = await tx<{ count: number }[]>`
    SELECT count(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'rekindle' AND pid <> pg_backend_pid()`;
  if ((others?.count ?? 0) > 0) {
    throw new Refusal("A node of Rekindle runs on this database of PostgreSQL: stop all of them before.");
  }
}

async function refuseFilled(tx: Tx): Promise<void> {
  const segments = await tx<{ segment: number }[]>`SELECT segment FROM inbox_segments`;
  const names = movedTables.map(({ name }) => name);
  for (const name of [...names, "message_ids", "frozen_batches", ...segments.map(segmentTable)]) {
    const [any] = await tx`SELECT FROM ${tx(name)} LIMIT 1`;
    if (any === undefined) continue;
    throw new Refusal(
      `The ledger in PostgreSQL is not empty (${name} has rows): name a database that is empty, or empty this one.`,
    );
  }
}

function segmentTable({ segment }: { readonly segment: number }): string {
  return tableOf(segment);
}

/** What a later version adds shall not be left behind. */
function refuseUnknownTables(source: MovingOut): void {
  const known = new Set([...movedTables.map(({ name }) => name), ...otherTables]);
  const unknown = source.tables().filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`Nobody said how ${unknown.join(", ")} moves into PostgreSQL.`);
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
    // Of an id that comes twice the first is the newer.
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

/** Whatever is numbered goes on behind the highest number that SQLite ever gave. */
async function goOnBehind(tx: Tx, source: MovingOut): Promise<void> {
  const identities = await tx<{ name: string; column: string }[]>`
    SELECT table_name AS name, column_name AS "column" FROM information_schema.columns
    WHERE table_schema = current_schema() AND is_identity = 'YES'
      AND table_name = ANY (${movedTables.map(({ name }) => name)}::text[])`;
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
