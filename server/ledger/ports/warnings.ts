/** Ingestion warnings: what senders did that is worth knowing, counted by day. Nothing that was acknowledged
 * depends on them: the counts of the last seconds may be lost when a process is killed. */

import type { StoredWarningKind } from "../rules/stored-names.ts";

/** Rows of an organization and a day at most; further details are counted in the row of all others. */
export const maxWarningDetails = 1_000;
export const warningsKeptDays = 30;

/** `unknown_key`, `event_in_future` and `duplicate` were answered 201; `…_left_out` and `…_ignored` were taken without something, and
 * `parked_…` dropped later; of `links_full` it is not remembered that two ids are one person; the others were refused. */
export type WarningKind = StoredWarningKind;

/** What is counted together: one line of the list. */
export interface IngestionWarning {
  readonly organization: number;
  /** Days since 1970-01-01, UTC. */
  readonly utcDay: number;
  readonly kind: WarningKind;
  /** The last part of the path that was called, `identify` or `track`; or the source. */
  readonly endpoint: string;
  /** The key, the event's name or the message's beginning; null for all others, once there are too many. */
  readonly detail: string | null;
  readonly count: number;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  /** The latest message that a sender read; null when the request was taken. */
  readonly message: string | null;
  /** The latest user's id, where it could be read; never that of somebody who was erased and is not there again. */
  readonly userId: string | null;
}

/** Some warnings can never be written, and were left out; all others are kept. */
export class UnwritableWarnings extends Error {}

export interface WarningStore {
  /** Adds counts to those that are kept, without the ids of people who were erased: what is late of them must not bring
   * them back. Past 1,000 details of an organization and day new ones are counted
   * without their detail.
   * @param written told after each of several commits how many more lines are in it, in their order
   * @throws UnwritableWarnings */
  add(counted: readonly IngestionWarning[], written?: (lines: number) => void): Promise<void>;
  /** The latest first. @param kind only warnings of this kind; without it, of all kinds */
  list(organization: number, limit: number, kind?: WarningKind): Promise<readonly IngestionWarning[]>;
}
