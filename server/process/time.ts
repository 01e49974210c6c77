/**
 * Time, as a process is given it: the wall clock and every interval at which work begins again by itself.
 * `serve` hands it down to whatever reads or polls. The product always uses `systemTime`; the tests' own
 * entry, test/serve.ts, gives another.
 *
 * Durations are measured by `performance.now()`, which never jumps. Intervals of the protocol between nodes
 * (heartbeats, looks, leases) stay beside the patience that depends on them, in ledger/postgres/.
 *
 * SQL reads clocks of its own, which no process can set:
 * - ledger/postgres/: PostgreSQL's `clock_timestamp()` decides which nodes live (nodes.ts, probe.ts),
 *   who holds the lease (loader-lease.ts), how old a transaction is (old-transactions.ts), and which live
 *   items are forgotten (live-items.ts).
 * - ledger/postgres/connect.ts: `clock_timestamp()` is the time of loads, which all nodes share.
 * - ledger/postgres/write/message-ids.ts, ledger/sqlite/message-id-kinds.ts and
 *   ledger/sqlite/migrations/held-event-tables.ts: when a migration ran (`clock_timestamp()`, `unixepoch()`).
 * - ledger/postgres/unfinished-move.ts: when a move began, for administrators.
 * - warehouse/schema/migrations.ts and ledger-identity.ts: `now64()` dates a migration and the ledger's mark,
 *   for administrators.
 * - warehouse/engine/probe.ts: `now64()` is compared with this machine's clock.
 */

/** Milliseconds from one time to the next. */
export interface Intervals {
  /** Intake: looks at the disk's room, tidies the ledger, sends messages that are due. */
  readonly choresMs: number;
  /** Intake: writes down warnings and counts of sources, tells owners of disabled destinations. */
  readonly countsMs: number;
  /** Intake: writes down when tokens and keys were last used. */
  readonly credentialUseMs: number;
  /** The loader: from a freeze of at least 1,000 rows to the next. */
  readonly loadMs: number;
  /** The loader: from a freeze of fewer rows to the next. */
  readonly quietLoadMs: number;
  /** The loader: looks whether an empty inbox has rows. */
  readonly emptyInboxMs: number;
  /** Applies changed exclusion rules. */
  readonly exclusionsMs: number;
  /** Compares subscriptions of loaded billing events. */
  readonly subscriptionsMs: number;
  /** Begins rebuilds, erasures and deletions that another process asked for, or a crash cut off. */
  readonly upkeepMs: number;
  /** Looks for old events and scores to delete. */
  readonly retentionMs: number;
  /** From the start to the first look for checks of ledger and warehouse that are due, and from a look to the
   * next. */
  readonly firstCheckMs: number;
  readonly checkMs: number;
  /** The schedule of scores looks for runs that are due. Null: only `rekindle score` scores. */
  readonly scheduleMs: number | null;
  /** Alert rules, notices, digests, segments and excluded people's messages look for work. */
  readonly actionsMs: number;
}

export interface Time {
  /** The wall clock, in milliseconds since 1970-01-01. It may jump. */
  readonly nowMs: () => number;
  readonly intervals: Intervals;
}

/** The machine's clock, and the intervals of the product. */
export const systemTime: Time = {
  nowMs: () => Date.now(),
  intervals: {
    choresMs: 1_000,
    countsMs: 5_000,
    credentialUseMs: 60_000,
    // An insert of few rows costs 25-80 ms of CPU and a dozen fsyncs, which delay commits. At 400 ms the p99
    // of answers was 34 ms at 5,000 events a second.
    loadMs: 600,
    // After few rows the cost is that of the insert. A row that just missed a freeze is in the warehouse
    // within 2 s, with 600 ms for its insert.
    quietLoadMs: 1_400,
    emptyInboxMs: 500,
    exclusionsMs: 1_000,
    subscriptionsMs: 500,
    upkeepMs: 2_000,
    retentionMs: 5_000,
    firstCheckMs: 2_000,
    checkMs: 60_000,
    scheduleMs: 10_000,
    actionsMs: 10_000,
  },
};

/** Calls `work` every `ms` milliseconds. @param ms null: never @returns ends it */
export function every(ms: number | null, work: () => void): () => void {
  if (ms === null) return () => undefined;
  const timer = setInterval(work, ms);
  return () => clearInterval(timer);
}

/** A version for a new row of a table that keeps the highest version of each row: above `version`, and above
 * versions that rows deleted meanwhile have had. It orders rows and is shown nowhere, so it always follows
 * the machine's clock. */
export function versionAbove(version: number): number {
  return Math.max(Date.now(), version + 1);
}
