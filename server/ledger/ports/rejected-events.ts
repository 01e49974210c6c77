/** Rejected events, which tables and names call rejected events: rows that were acknowledged and that the
 * warehouse rejected. They are kept until a member sends them again or drops them. */
import type { Actor } from "./audit.ts";
import type { DayCount, RejectedEvent } from "./inbox.ts";

export interface StoredRejectedEvent extends RejectedEvent {
  readonly id: number;
  /** 0 if the organization cannot be read from the row. */
  readonly organization: number;
  readonly atMs: number;
}

/** Selects rejected events: those of `ids` or all, of one organization or of all organizations. */
export interface RejectedEventSelection {
  readonly organization?: number | undefined;
  readonly ids?: readonly number[] | undefined;
}

type WhoseRejectedEvents = Pick<RejectedEventSelection, "organization">;

/** A user's or an account's version, by their number. */
export interface NumberedVersion {
  readonly number: number;
  readonly version: number;
}

/** The number of rows of `user_versions` or `account_versions`, and the sum of their versions. */
export interface VersionRows {
  readonly rows: number;
  readonly versions: number;
}

/** Acknowledged rows that the warehouse does not have, because they were rejected or dropped. */
export interface MissingRows {
  readonly rejectedEvents: number;
  readonly events: readonly DayCount[];
  readonly userVersions: VersionRows;
  readonly accountVersions: VersionRows;
  readonly users: readonly NumberedVersion[];
  readonly accounts: readonly NumberedVersion[];
}

/** Changes are made in several commits. Each organization's log has one entry of a change: see
 * rejected-event-entries.ts. */
export interface RejectedEventStore {
  /** The newest first. */
  list(of: WhoseRejectedEvents, limit: number): Promise<readonly StoredRejectedEvent[]>;
  count(of: WhoseRejectedEvents): Promise<number>;
  /** Puts rows into the inbox again. Events get their day in the present timezone. The same commit deletes a
   * row from the rejected events and adds it to the inbox. @returns their number. @throws Refusal for an
   * unknown id. */
  retry(selection: RejectedEventSelection, by: Actor, nowMs: number): Promise<number>;
  /** Deletes rows permanently, and subtracts them from the counts of acknowledged rows. @returns their
   * number.
   * @throws Refusal for an unknown id. */
  drop(selection: RejectedEventSelection, by: Actor, nowMs: number): Promise<number>;
  missing(organization: number): Promise<MissingRows>;
}
