/**
 * Counts the inbox without a read of all waiting rows. Rows are counted once, up to a position. The loader's
 * position is one. While it does not move, because the warehouse is away, a second one (`inbox_counted`)
 * follows the writers. Rows after both are counted at each call, some thousands at most. With 600,000 waiting
 * rows, a call took 2.1 to 3.0 s without the second position, and 22 to 100 ms with it (docs/decisions/0028).
 */
import type { Backlog, FrozenBatch } from "../inbox.ts";
import type { Queries, Sql, Tx } from "./connect.ts";
import { inboxPatienceMs, lockInbox, tableOf } from "./inbox-segments.ts";
import { inTransaction, lockIsHeld, repeated, tableIsGone, undefinedIfRefused } from "./transaction.ts";

/** A position in the inbox, and the totals of all rows up to it. */
export interface Position {
  readonly segment: number;
  readonly seq: number;
  /** The number of rows of the inbox. Each has a body with many rows of the warehouse. */
  readonly inboxId: number;
  readonly rows: number;
  readonly bytes: number;
}

export const inboxPositions = `
  CREATE TABLE inbox_position (
    only_row integer PRIMARY KEY CHECK (only_row = 1),
    segment bigint NOT NULL,
    frozen_upto_seq bigint NOT NULL,
    frozen_upto_inbox_id bigint NOT NULL,
    frozen_upto_rows bigint NOT NULL DEFAULT 0,
    frozen_upto_bytes bigint NOT NULL DEFAULT 0,
    frozen_all_at_ms bigint,
    loaded_all_at_ms bigint
  );
  INSERT INTO inbox_position VALUES (1, 1, 0, 0);

  CREATE TABLE inbox_counted (
    only_row integer PRIMARY KEY CHECK (only_row = 1),
    segment bigint NOT NULL,
    upto_seq bigint NOT NULL,
    upto_inbox_id bigint NOT NULL,
    upto_rows bigint NOT NULL,
    upto_bytes bigint NOT NULL
  );
  INSERT INTO inbox_counted VALUES (1, 1, 0, 0, 0, 0);
`;

/** A call counts at most this many rows, and those of the second until the position moves: some 5 ms. A move
 * of the position makes new writers wait until the present ones have committed. */
const countedRowByRow = 5_000;

/** The loader's position: all rows before it are frozen. */
export async function positionOf(queries: Queries, lock?: "for update"): Promise<Position> {
  const [position] = await queries<Position[]>`
    SELECT segment, frozen_upto_seq AS seq, frozen_upto_inbox_id AS "inboxId", frozen_upto_rows AS rows,
      frozen_upto_bytes AS bytes
    FROM inbox_position ${lock === undefined ? queries`` : queries`FOR UPDATE`}`;
  if (position === undefined) throw new Error("The ledger in PostgreSQL has lost its inbox's position.");
  return position;
}

/** Counts the waiting rows. @param patienceMs the longest wait of writers
 * @returns a position. Rows up to it are counted permanently */
export function countWaiting(sql: Sql, patienceMs: number): Promise<Position> {
  // A segment may be dropped after its name was read.
  return repeated(async () => {
    const uptoSeq = await inTransaction(sql, async (tx) => {
      await lockInbox(tx, patienceMs);
      return lastSeq(tx);
    });
    return inTransaction(sql, (tx) => countUpto(tx, uptoSeq), "ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }, tableIsGone);
}

/** Moves the second position, if many rows come after it. Called about once a second. */
export async function moveCounted(sql: Sql): Promise<void> {
  const { seq } = await lastCounted(sql);
  if ((await lastSeq(sql)) - seq < countedRowByRow) return;
  // If a writer is slow, the rows are counted a second later.
  const counted = await undefinedIfRefused(lockIsHeld, () => countWaiting(sql, inboxPatienceMs(0)));
  if (counted === undefined) return;
  await sql`
    UPDATE inbox_counted SET segment = ${counted.segment}, upto_seq = ${counted.seq},
      upto_inbox_id = ${counted.inboxId}, upto_rows = ${counted.rows}, upto_bytes = ${counted.bytes}
    WHERE upto_seq < ${counted.seq}`;
}

/** The waiting rows, frozen or not, in the caller's snapshot. */
export async function backlogOf(tx: Tx, unfinished: readonly FrozenBatch[]): Promise<Backlog> {
  const position = await positionOf(tx);
  const newest = await countUpto(tx, Number.MAX_SAFE_INTEGER);
  const frozen = (field: "rows" | "bytes") => unfinished.reduce((sum, batch) => sum + batch[field], 0);
  return {
    rows: frozen("rows") + newest.rows - position.rows,
    bytes: frozen("bytes") + newest.bytes - position.bytes,
    newestInboxId: newest.inboxId,
    loadedUptoInboxId: unfinished[0]?.afterInboxId ?? position.inboxId,
  };
}

/** The inbox id of the newest row. The caller holds the inbox's lock alone. Earlier counted rows are not
 * counted again, so the lock is held briefly. */
export async function newestInboxId(tx: Tx, counted: Position): Promise<number> {
  // Rows that were loaded since may be dropped, and cannot be counted.
  const position = await positionOf(tx, "for update");
  const from = position.seq > counted.seq ? position : counted;
  const { inboxId } = await countFrom(tx, from, Number.MAX_SAFE_INTEGER);
  return inboxId;
}

async function countUpto(tx: Tx, uptoSeq: number): Promise<Position> {
  const counted = await lastCounted(tx);
  return counted.seq >= uptoSeq ? counted : countFrom(tx, counted, uptoSeq);
}

/** The later one of the loader's position and the second one. */
async function lastCounted(queries: Queries): Promise<Position> {
  const [counted] = await queries<Position[]>`
    SELECT segment, frozen_upto_seq AS seq, frozen_upto_inbox_id AS "inboxId", frozen_upto_rows AS rows,
      frozen_upto_bytes AS bytes
    FROM inbox_position
    UNION ALL SELECT segment, upto_seq, upto_inbox_id, upto_rows, upto_bytes FROM inbox_counted
    ORDER BY seq DESC, "inboxId" DESC LIMIT 1`;
  if (counted === undefined) throw new Error("The ledger in PostgreSQL has lost its inbox's position.");
  return counted;
}

async function lastSeq(queries: Queries): Promise<number> {
  const [given] = await queries<{ seq: number }[]>`SELECT last_value AS seq FROM inbox_seqs`;
  return given?.seq ?? 0;
}

async function countFrom(tx: Tx, from: Position, uptoSeq: number): Promise<Position> {
  const segments = await tx<{ segment: number }[]>`
    SELECT segment FROM inbox_segments WHERE segment >= ${from.segment} ORDER BY segment`;
  let position = from;
  for (const { segment } of segments) {
    const [counted] = await tx<{ count: number; rows: number; bytes: number; seq: number | null }[]>`
      SELECT count(*) AS count, coalesce(sum(rows), 0)::bigint AS rows, coalesce(sum(bytes), 0)::bigint AS bytes,
        max(seq) AS seq
      FROM ${tx(tableOf(segment))} WHERE seq > ${from.seq} AND seq <= ${uptoSeq}`;
    if (counted === undefined || counted.seq === null) continue;
    position = {
      segment,
      seq: counted.seq,
      inboxId: position.inboxId + counted.count,
      rows: position.rows + counted.rows,
      bytes: position.bytes + counted.bytes,
    };
  }
  return position;
}
