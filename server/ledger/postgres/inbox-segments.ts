/**
 * Segments of the inbox. Each is a table of its own. It only grows until it is sealed, and is dropped when
 * all of it is loaded. No row is ever deleted: dead rows would make a queue in PostgreSQL slow.
 *
 * Invariant: writers share the inbox's lock until the commit, and read the current segment after they have
 * it. While a transaction holds the lock alone, no writer is under way. Then every row below the highest
 * position is committed or never will be, although positions are not in the order of commits.
 */

import type { InboxWriter } from "../engine.ts";
import type { InboxRows } from "../inbox.ts";
import { integer, Json, RowOf, run, select, sqlText } from "../sql.ts";
import type { Queries, Sql, Tx } from "./connect.ts";
import { advisoryLocks, tryLock } from "./locks.ts";
import { inTransaction, lockIsHeld, tableIsGone, undefinedIfRefused, waitAtMost } from "./transaction.ts";

/** The age at which a segment is sealed. A table a second would fill PostgreSQL's own tables. A table a day
 * would keep loaded rows for a day. */
const sealedAfterMs = 10 * 60_000;
const sealedAfterBytes = 512 * 1024 * 1024;

/** The table of a segment. */
export function tableOf(segment: number): string {
  return `inbox_${String(segment).padStart(6, "0")}`;
}

/** Writes rows in the caller's transaction, which holds the lock. */
export function appendRows(tx: Tx, segment: number, inbox: readonly InboxRows[]) {
  return inbox.map(({ table, year, schema, rows, body }) => {
    const ended = endedBody(body);
    return tx`
      INSERT INTO ${tx(tableOf(segment))} (warehouse_table, year, schema, rows, bytes, body)
      VALUES (${table}, ${year}, ${schema}, ${rows}, ${Buffer.byteLength(ended)}, ${ended})`;
  });
}

/** A body with an end of line after its last line, so that another body can follow. */
function endedBody(body: string): string {
  return body.endsWith("\n") ? body : `${body}\n`;
}

/** The longest wait of a transaction for the inbox alone, and for other locks while it holds it. Writers of
 * all nodes queue after it, so the wait is short: one blocked writer must not stop all others. A blocked
 * writer is ended after 10 s. If attempts fail for longer, the writers are slow, and half a second may never
 * be enough.
 * @param inVain the number of failed attempts */
export function inboxPatienceMs(inVain: number): number {
  return inVain < 10 ? 500 : 2_500;
}

/** Waits for every present writer. Other writers wait until the end of the transaction. */
export async function lockInbox(tx: Tx, patienceMs: number): Promise<void> {
  await Promise.all([
    waitAtMost(tx, patienceMs),
    tx`SELECT pg_advisory_xact_lock(${advisoryLocks.inbox}::bigint)`,
  ]);
}

/** Seals the current segment if it is old or large, and begins another. If a writer is slow, it does
 * nothing. */
export async function sealSegment(sql: Sql, nowMs: number): Promise<void> {
  const due = await sealable(sql, nowMs);
  if (due === undefined) return;
  const patienceMs = inboxPatienceMs(
    nowMs - due.begunAtMs < 3 * sealedAfterMs ? 0 : Number.POSITIVE_INFINITY,
  );
  await undefinedIfRefused(lockIsHeld, () =>
    inTransaction(sql, async (tx) => {
      if (!(await tryLock(tx, "sealing"))) return;
      await lockInbox(tx, patienceMs);
      // Another node may have been first.
      const current = await sealable(tx, nowMs);
      if (current !== undefined) await seal(tx, current.segment, nowMs);
    }),
  );
}

/** Begins another segment, so that the present rows can be dropped without later ones. The caller holds the
 * inbox's lock alone. @returns the last sealed segment */
export async function sealWritten(tx: Tx, nowMs: number): Promise<number> {
  const [current] = await tx<{ segment: number }[]>`SELECT segment FROM inbox_segments WHERE NOT sealed`;
  if (current === undefined) throw new Error("The ledger in PostgreSQL has lost its inbox's segment.");
  const { segment } = current;
  if (await isEmpty(tx, segment)) return segment - 1;
  await seal(tx, segment, nowMs);
  return segment;
}

async function seal(tx: Tx, segment: number, nowMs: number): Promise<void> {
  await tx`UPDATE inbox_segments SET sealed = true WHERE segment = ${segment}`;
  const [begun] = await tx<{ segment: number }[]>`
    INSERT INTO inbox_segments (begun_at_ms) VALUES (${nowMs}) RETURNING segment`;
  if (begun === undefined) throw new Error("PostgreSQL returned no row for a new segment of the inbox.");
  await tx`CREATE TABLE ${tx(tableOf(begun.segment))} (LIKE inbox_segment INCLUDING ALL)`;
}

async function isEmpty(queries: Queries, segment: number): Promise<boolean> {
  const [any] = await queries`SELECT FROM ${queries(tableOf(segment))} LIMIT 1`;
  return any === undefined;
}

async function sealable(
  queries: Queries,
  nowMs: number,
): Promise<{ readonly segment: number; readonly begunAtMs: number } | undefined> {
  const [current] = await queries<{ segment: number; begunAtMs: number }[]>`
    SELECT segment, begun_at_ms AS "begunAtMs" FROM inbox_segments WHERE NOT sealed`;
  if (current === undefined) return undefined;
  const [size] = await queries<{ bytes: number }[]>`
    SELECT pg_total_relation_size(to_regclass(${tableOf(current.segment)})) AS bytes`;
  const isDue = (size?.bytes ?? 0) >= sealedAfterBytes || nowMs - current.begunAtMs >= sealedAfterMs;
  return !isDue || (await isEmpty(queries, current.segment)) ? undefined : current;
}

/** Deletes batches that were finished before, and drops segments without batches and waiting rows. */
export async function forgetFinished(sql: Sql, finishedBeforeMs: number): Promise<void> {
  // Ranges are finished one after another, so there is no unfinished batch before the oldest unfinished
  // range.
  await sql`
    DELETE FROM frozen_batches WHERE upto_inbox_id < coalesce(
      (SELECT min(upto_inbox_id) FROM frozen_batches
       WHERE finished_at_ms IS NULL OR finished_at_ms > ${finishedBeforeMs}), 9007199254740991)`;
  await dropSegments(sql, 100);
}

/** Drops segments without batches and waiting rows. Their rows are not read any more. A segment that another
 * session has open is left until the next call: a `pg_dump` has every table open until it ends.
 * @param patienceMs the longest wait for each segment */
export async function dropSegments(sql: Sql, patienceMs: number): Promise<void> {
  const droppable = await sql<{ segment: number }[]>`
    SELECT segment FROM inbox_segments WHERE sealed AND segment < (SELECT segment FROM inbox_position)
      AND NOT EXISTS (SELECT FROM frozen_batches WHERE frozen_batches.segment = inbox_segments.segment)`;
  for (const { segment } of droppable) {
    // Another node may drop it, too.
    await undefinedIfRefused([...lockIsHeld, ...tableIsGone], () =>
      inTransaction(sql, async (tx) => {
        await waitAtMost(tx, patienceMs);
        await tx`LOCK TABLE ${tx(tableOf(segment))} IN ACCESS EXCLUSIVE MODE`;
        await tx`DELETE FROM inbox_segments WHERE segment = ${segment}`;
        await tx`DROP TABLE ${tx(tableOf(segment))}`;
      }),
    );
  }
}

const openSegment = new RowOf<{ readonly segment: number }>({ segment: integer() });

/** The inbox for stores. All nodes see their commits. */
export const inboxWriter: InboxWriter = {
  partLimits: { rows: 2_000, bytes: 8 * 1024 * 1024 },
  flush: () => undefined,
  *append(added) {
    const [current] = yield* select(openSegment)`FROM inbox_segments WHERE NOT sealed`;
    if (current === undefined) throw new Error("The ledger in PostgreSQL has lost its inbox's segment.");
    for (const { table, year, schema, rows, body } of added) {
      const ended = endedBody(body);
      yield* run`
        INSERT INTO ${sqlText(tableOf(current.segment))} (warehouse_table, year, schema, rows, bytes, body)
        VALUES (${table}, ${year}, ${schema}, ${rows}, ${Buffer.byteLength(ended)}, ${new Json(ended)})`;
    }
  },
  appended: () => undefined,
};
