/**
 * The inbox for the loader: rows are frozen into numbered batches, read as often as needed, and finished.
 *
 * Invariants. A row is in exactly one batch: the position moves in the commit that writes the batches. While
 * a frozen batch is unfinished, no other rows are frozen. Rows are counted in the order of their positions.
 * So inbox ids have no gaps, although a failed transaction leaves a gap among the positions.
 */

import type { Backlog, FrozenBatch, Inbox, RejectedEvent, WarehouseTable } from "../inbox.ts";
import type { RejectedEventLimits } from "../rules/rejected-event-facts.ts";
import { addRejectedEvents } from "../stores/rejected-event-rows.ts";
import { drawMark } from "./batch-numbers.ts";
import type { Queries, Sql, Tx } from "./connect.ts";
import { backlogOf, type Position, positionOf } from "./inbox-counts.ts";
import { inboxPatienceMs, lockInbox, tableOf } from "./inbox-segments.ts";
import { LoaderLease } from "./loader-lease.ts";
import { runOn } from "./store-engine.ts";
import { inTransaction, lockIsHeld, repeated, tableIsGone, undefinedIfRefused } from "./transaction.ts";

interface Waiting {
  readonly seq: number;
  readonly table: WarehouseTable;
  readonly year: number;
  readonly schema: number;
  readonly rows: number;
  readonly bytes: number;
}

/** Every row up to this position is committed, or never will be. */
interface Barrier extends Position {
  readonly uptoSeq: number;
  readonly isSealed: boolean;
}

/** A batch is one block in the engine's memory. 50,000 events may have 256 KiB each, 13 GB together. */
const maxFrozenBytes = 32 * 1024 * 1024;
/** Rows of the inbox. A batch of 50,000 events has 781 rows in groups of 64, and 50,000 rows of single
 * events. */
const readAtOnce = 2_000;

/** The pause after a failed attempt. Writers run meanwhile. */
const againAfterMs = 1_000;

/** PostgreSQL's time, or the given one if the ledger has a clock of its own. */
export type SharedNow = (nowMs: number) => Promise<number>;

interface InboxParts {
  readonly clock: () => number;
  readonly sharedNowMs: SharedNow;
  readonly rejectedEventLimits: RejectedEventLimits;
}

export class PostgresInbox implements Inbox {
  readonly #sql: Sql;
  readonly #clock: () => number;
  readonly #sharedNowMs: SharedNow;
  readonly #lease: LoaderLease;
  readonly #rejectedEventLimits: RejectedEventLimits;
  /** The number of consecutive attempts in which writers did not end in time, and the time of the next
   * attempt by `performance.now()`. */
  #inVain = 0;
  #againAtMs = 0;

  /** @param lease of the leader. Default: the first process that freezes takes it */
  constructor(sql: Sql, { clock, sharedNowMs, rejectedEventLimits }: InboxParts, lease = new LoaderLease()) {
    this.#sql = sql;
    this.#clock = clock;
    this.#sharedNowMs = sharedNowMs;
    this.#rejectedEventLimits = rejectedEventLimits;
    this.#lease = lease;
  }

  /** Freezes nothing while another node loads, or while a writer is so slow that others would wait for it,
   * too. */
  async freeze(maxRows: number): Promise<readonly FrozenBatch[]> {
    for (;;) {
      const nowMs = this.#clock();
      const unfinished = await inTransaction(this.#sql, async (tx) =>
        (await this.#lease.take(tx)) ? unfinishedBatches(tx) : undefined,
      );
      if (unfinished === undefined) return [];
      if (unfinished.length > 0) return unfinished;
      const barrier = await this.#findBarrier();
      if (barrier === undefined) return [];
      const moved = await inTransaction(this.#sql, async (tx) => {
        await this.#lease.refuseLate(tx);
        return freezeUpto(tx, barrier, { maxRows, nowMs });
      });
      if (!moved) return [];
    }
  }

  async #findBarrier(): Promise<Barrier | undefined> {
    if (performance.now() < this.#againAtMs) return undefined;
    const patienceMs = inboxPatienceMs(this.#inVain);
    const barrier = await undefinedIfRefused(lockIsHeld, () =>
      inTransaction(this.#sql, (tx) => findBarrier(tx, patienceMs)),
    );
    this.#inVain = barrier === undefined ? this.#inVain + 1 : 0;
    if (barrier === undefined) this.#againAtMs = performance.now() + againAfterMs;
    return barrier;
  }

  /** Only for the process with the last freeze. */
  async read({ number, rows, bytes }: FrozenBatch): Promise<Buffer> {
    return inTransaction(this.#sql, async (tx) => {
      await this.#lease.refuseLate(tx);
      const [batch] = await tx<
        { segment: number }[]
      >`SELECT segment FROM frozen_batches WHERE number = ${number}`;
      const stored =
        batch === undefined
          ? []
          : await tx<{ rows: number; body: string }[]>`
              SELECT stored.rows, stored.body FROM ${tx(tableOf(batch.segment))} AS stored
              JOIN frozen_batches AS batch ON batch.number = ${number}
                AND stored.seq > batch.after_seq AND stored.seq <= batch.upto_seq
                AND (stored.warehouse_table, stored.year, stored.schema)
                  = (batch.warehouse_table, batch.year, batch.schema)
              ORDER BY stored.seq`;
      const body = Buffer.from(stored.map((part) => part.body).join(""));
      const found = stored.reduce((sum, part) => sum + part.rows, 0);
      if (found !== rows || body.length !== bytes) {
        throw new Error(
          `Batch ${number} was frozen with ${rows} rows in ${bytes} bytes, and the inbox holds ${found} rows in ` +
            `${body.length} bytes of it.`,
        );
      }
      return body;
    });
  }

  async finish(batchNumber: number, rejectedEvents: readonly RejectedEvent[]): Promise<void> {
    const nowMs = this.#clock();
    const loadedAtMs = await this.#sharedNowMs(nowMs);
    await inTransaction(this.#sql, async (tx) => {
      await this.#lease.refuseLate(tx);
      const [finished] = await tx<{ number: number; year: number; schema: number }[]>`
        UPDATE frozen_batches SET finished_at_ms = ${loadedAtMs} WHERE number = ${batchNumber} AND finished_at_ms IS NULL
        RETURNING number, year, schema`;
      if (finished === undefined) return;
      const limits = this.#rejectedEventLimits;
      await runOn(tx, addRejectedEvents(finished, rejectedEvents, { limits, nowMs }));
      await tx`
        UPDATE inbox_position SET loaded_all_at_ms = frozen_all_at_ms
        WHERE NOT EXISTS (SELECT FROM frozen_batches WHERE finished_at_ms IS NULL)`;
    });
  }

  backlog(): Promise<Backlog> {
    // A segment may have been dropped since the position was read.
    return repeated(
      () => inTransaction(this.#sql, waitingIn, "ISOLATION LEVEL REPEATABLE READ READ ONLY"),
      tableIsGone,
    );
  }

  /** All rows that were acknowledged before this instant are loaded. Null if that is not known yet. */
  async loadedUptoMs(): Promise<number | null> {
    const nowMs = this.#clock();
    const { newestInboxId, loadedUptoInboxId } = await this.backlog();
    if (loadedUptoInboxId >= newestInboxId) return nowMs;
    const [position] = await this.#sql<{ atMs: number | null }[]>`
      SELECT loaded_all_at_ms AS "atMs" FROM inbox_position`;
    return position?.atMs ?? null;
  }

  close(): Promise<void> {
    return this.#lease.release(this.#sql);
  }
}

async function findBarrier(tx: Tx, patienceMs: number): Promise<Barrier> {
  await lockInbox(tx, patienceMs);
  const position = await positionOf(tx);
  const [newest] = await tx<{ seq: number; sealed: boolean }[]>`
    SELECT coalesce((SELECT max(seq) FROM ${tx(tableOf(position.segment))}), 0) AS seq, sealed
    FROM inbox_segments WHERE segment = ${position.segment}`;
  if (newest === undefined) throw new Error("The inbox's position is in no segment.");
  return { ...position, uptoSeq: newest.seq, isSealed: newest.sealed };
}

/** @returns whether the position has moved. If not, no row waits */
async function freezeUpto(
  tx: Tx,
  { segment, seq, inboxId, uptoSeq, isSealed }: Barrier,
  { maxRows, nowMs }: { readonly maxRows: number; readonly nowMs: number },
): Promise<boolean> {
  const position = await positionOf(tx, "for update");
  if (position.segment !== segment || position.seq !== seq) return true;
  const waiting = await firstWaiting(tx, { segment, seq, uptoSeq }, maxRows);
  const last = waiting.at(-1);
  if (last === undefined) return isSealed && moveToNext(tx, segment);
  const uptoInboxId = inboxId + waiting.length;
  const mark = drawMark();
  for (const group of Map.groupBy(waiting, (row) => `${row.table} ${row.year} ${row.schema}`).values()) {
    const [first] = group;
    if (first === undefined) continue;
    await tx`
      INSERT INTO frozen_batches (number, warehouse_table, year, schema, rows, bytes, after_inbox_id, upto_inbox_id,
        segment, after_seq, upto_seq)
      VALUES (${mark}::bigint + nextval('batch_numbers'), ${first.table}, ${first.year}, ${first.schema},
        ${sum(group, "rows")}, ${sum(group, "bytes")}, ${inboxId}, ${uptoInboxId}, ${segment}, ${seq}, ${last.seq})`;
  }
  const isAll = !isSealed && last.seq === uptoSeq;
  await tx`
    UPDATE inbox_position SET frozen_upto_seq = ${last.seq}, frozen_upto_inbox_id = ${uptoInboxId},
      frozen_upto_rows = frozen_upto_rows + ${sum(waiting, "rows")},
      frozen_upto_bytes = frozen_upto_bytes + ${sum(waiting, "bytes")},
      frozen_all_at_ms = CASE WHEN ${isAll} THEN ${nowMs}::bigint ELSE frozen_all_at_ms END`;
  return true;
}

function sum(rows: readonly Waiting[], field: "rows" | "bytes"): number {
  return rows.reduce((all, row) => all + row[field], 0);
}

async function moveToNext(tx: Tx, segment: number): Promise<boolean> {
  await tx`
    UPDATE inbox_position SET segment = (SELECT min(segment) FROM inbox_segments WHERE segment > ${segment})`;
  return true;
}

/** At most `maxRows` and 32 MiB, but at least one inbox row of any size. */
async function firstWaiting(
  tx: Tx,
  { segment, seq, uptoSeq }: Pick<Barrier, "segment" | "seq" | "uptoSeq">,
  maxRows: number,
): Promise<readonly Waiting[]> {
  const waiting: Waiting[] = [];
  let rows = 0;
  let bytes = 0;
  for (;;) {
    const step = await tx<Waiting[]>`
      SELECT seq, warehouse_table AS "table", year, schema, rows, bytes FROM ${tx(tableOf(segment))}
      WHERE seq > ${waiting.at(-1)?.seq ?? seq} AND seq <= ${uptoSeq} ORDER BY seq LIMIT ${readAtOnce}`;
    for (const row of step) {
      rows += row.rows;
      bytes += row.bytes;
      if ((rows > maxRows || bytes > maxFrozenBytes) && waiting.length > 0) return waiting;
      waiting.push(row);
    }
    if (step.length < readAtOnce) return waiting;
  }
}

async function waitingIn(tx: Tx): Promise<Backlog> {
  return backlogOf(tx, await unfinishedBatches(tx));
}

/** Unfinished batches, oldest first. */
export async function unfinishedBatches(queries: Queries): Promise<readonly FrozenBatch[]> {
  const rows = await queries<FrozenBatch[]>`
    SELECT number, warehouse_table AS "table", year, schema, rows, bytes, after_inbox_id AS "afterInboxId",
      upto_inbox_id AS "uptoInboxId"
    FROM frozen_batches WHERE finished_at_ms IS NULL ORDER BY after_inbox_id, number`;
  return [...rows];
}
