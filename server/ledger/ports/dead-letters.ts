/** Dead letters: rows that were acknowledged and that the warehouse would not take. They are kept until
 * somebody sends them again or drops them. */
import type { Actor } from "./audit.ts";
import type { DayCount, DeadLetter } from "./inbox.ts";

export interface StoredDeadLetter extends DeadLetter {
  readonly id: number;
  /** 0 when the row does not say whose it is. */
  readonly organization: number;
  readonly atMs: number;
}

/** Which dead letters are meant: those of `ids`, or all; of one organization, or of everybody. */
export interface DeadLetterSelection {
  readonly organization?: number | undefined;
  readonly ids?: readonly number[] | undefined;
}

type WhoseDeadLetters = Pick<DeadLetterSelection, "organization">;

/** A user's or an account's version, by their number. */
export interface NumberedVersion {
  readonly number: number;
  readonly version: number;
}

/** How many rows of `user_versions` there are, and the sum of their versions. */
export interface VersionRows {
  readonly rows: number;
  readonly versions: number;
}

/** What was acknowledged and is not in the warehouse, because it is among the dead letters or was dropped. */
export interface MissingRows {
  readonly deadLetters: number;
  readonly events: readonly DayCount[];
  readonly userVersions: VersionRows;
  readonly users: readonly NumberedVersion[];
  readonly accounts: readonly NumberedVersion[];
}

/** Changes are made in several commits. Each organization's log has one entry of a change: see dead-letter-entries.ts. */
export interface DeadLetterStore {
  /** The newest first. */
  list(of: WhoseDeadLetters, limit: number): Promise<readonly StoredDeadLetter[]>;
  count(of: WhoseDeadLetters): Promise<number>;
  /** Puts rows into the inbox again, events with their day in the timezone of now; each leaves the dead letters
   * in the commit in which it enters the inbox. @returns how many. @throws Refusal for an id that is none. */
  retry(selection: DeadLetterSelection, by: Actor, nowMs: number): Promise<number>;
  /** Deletes rows for good, and takes them out of what was acknowledged. @returns how many.
   * @throws Refusal for an id that is none. */
  drop(selection: DeadLetterSelection, by: Actor, nowMs: number): Promise<number>;
  missing(organization: number): Promise<MissingRows>;
}
