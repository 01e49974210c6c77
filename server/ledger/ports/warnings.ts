/** Ingestion warnings: problems of requests, counted by day. No acknowledged data depends on them: a killed
 * process may lose the counts of the last seconds. */

import type { warningKinds } from "../../../contract/api/api.ts";

/** Most rows of an organization and a day. Further details are counted in one row for all others. */
export const maxWarningDetails = 1_000;
export const warningsKeptDays = 30;

/** The answer to `unknown_key`, `event_in_future` and `duplicate` is 201. Requests with `…_left_out` and
 * `…_ignored` were stored without some fields. Items with `held_…` were dropped later. A link with
 * `links_full` was not stored. All others were rejected. */
export type WarningKind = (typeof warningKinds)[number];

/** Warnings that are counted together: one line of the list. */
export interface IngestionWarning {
  readonly organization: number;
  /** Days since 1970-01-01, UTC. */
  readonly utcDay: number;
  readonly kind: WarningKind;
  /** The last part of the request's path, for example `identify` or `track`. Or the source. */
  readonly endpoint: string;
  /** The key, the event's name or the message's beginning. Null for all further ones, once there are too
   * many. */
  readonly detail: string | null;
  readonly count: number;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  /** The latest error message to a sender. Null if the request was accepted. */
  readonly message: string | null;
  /** The latest user's id, if it could be read. Never the id of an erased user who was not identified
   * again. */
  readonly userId: string | null;
}

/** Some warnings can never be written and were left out. All others are stored. */
export class UnwritableWarnings extends Error {}

export interface WarningStore {
  /** Adds counts to the stored ones, without the ids of erased people: a late count must not store the id
   * again. Above 1,000 details of an organization and day, new ones are counted without their detail.
   * @param written gets the number of lines in each of several commits, in their order
   * @throws UnwritableWarnings */
  add(counted: readonly IngestionWarning[], written?: (lines: number) => void): Promise<void>;
  /** Newest first. @param kind only warnings of this kind. Default: all kinds */
  list(organization: number, limit: number, kind?: WarningKind): Promise<readonly IngestionWarning[]>;
}
