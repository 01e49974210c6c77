/**
 * Erasures: everything of a user goes, and what stays is that it was done. Each is recorded in the commit that
 * deletes the user, and pending until everything else has gone too, so that a crash at any point only delays it.
 * Who was erased is kept as a keyed hash: enough to know the user again, no way to read who it was.
 */
import type { DayCount } from "./ledger.ts";

export interface Erasure {
  readonly id: number;
  readonly organization: number;
  /** The number that the user had, and nobody will have again. */
  readonly user: number;
  readonly state: "begun" | "counted" | "done";
  /** No row of the user stands behind this one in the inbox. */
  readonly uptoInboxId: number;
  readonly requestedAtMs: number;
  readonly erasedAtMs: number | null;
  readonly events: number;
  readonly versions: number;
  readonly deadLetters: number;
  readonly inboxRows: number;
  /** Days whose figures were computed again without the user. */
  readonly days: number;
}

/** What the warehouse holds of a user before it is deleted there. */
export interface FoundInWarehouse {
  /** Events by UTC day, to be taken from the ledger's own counts. */
  readonly dayCounts: readonly DayCount[];
  /** Rows of `user_versions`, and the sum of their versions. */
  readonly versions: number;
  readonly versionSum: number;
  readonly days: number;
}

/** The steps of an erasure, in their order. Each may be done again after a crash. */
export interface Erasures {
  /** Deletes the user, with the exclusion rules that name them, and leaves a tombstone, in one commit: from now on the
   * user is not known. The ids that were linked to the user, or to an e-mail address that nobody else has, leave
   * tombstones as well, and their links, what is parked under any of these ids and the ingestion warnings that name one
   * go, from the files at once. Of an id that was never identified the same goes, said as a user's and as a visitor's, and
   * tombstones stay of what there was.
   * @returns undefined when there is no such user. */
  begin(organization: number, userId: string): Promise<Erasure | undefined>;
  /** Those that are not done, oldest first. */
  pending(): Promise<readonly Erasure[]>;
  /** Takes the user's events and versions from the counts and deletes the user's dead letters, once and in one commit,
   * before the warehouse deletes anything. */
  counted(id: number, found: FoundInWarehouse): Promise<void>;
  /** Nothing of the user is in the warehouse any more: deletes what the inbox still keeps up to the erasure,
   * and gives the bytes back to the disk. @throws Error while rows before it are not loaded. */
  finish(id: number): Promise<void>;
  find(id: number): Promise<Erasure | undefined>;
  /** The organization's erasures, oldest first. */
  list(organization: number): Promise<readonly Erasure[]>;
}

/** What whoever asked for an erasure is given. */
export interface ErasureReceipt {
  readonly userId: string;
  /** ISO 8601. */
  readonly erasedAt: string;
  readonly events: number;
  readonly versions: number;
  readonly deadLetters: number;
  readonly inboxRows: number;
  readonly days: number;
  readonly seconds: number;
}

/** The receipt for an erasure that is done. */
export function receiptOf(userId: string, erasure: Erasure): ErasureReceipt {
  const { requestedAtMs, erasedAtMs, events, versions, deadLetters, inboxRows, days } = erasure;
  if (erasedAtMs === null) throw new Error("an erasure that is not done has no receipt");
  const seconds = (erasedAtMs - requestedAtMs) / 1_000;
  const erasedAt = new Date(erasedAtMs).toISOString();
  return { userId, erasedAt, events, versions, deadLetters, inboxRows, days, seconds };
}
