/** Data of one person in the ledger beside the user, notes and tasks: for a copy of everything about the person. */
import type { StoredAuditEntry } from "../audit.ts";
import type { HeldEvent, PersonId } from "../held-events.ts";
import type { StoredRejectedEvent } from "../rejected-events.ts";
import type { IngestionWarning } from "../warnings.ts";

/** Another id of a person, and the time of its link. */
export interface LinkedId extends PersonId {
  readonly atMs: number;
}

/** Rows that name a person by an id. An erasure deletes the same: see `Erasures.begin`. */
export interface IdentityData {
  readonly ids: readonly LinkedId[];
  /** In the order of their arrival. There are as many as one person may have. */
  readonly held: readonly HeldEvent[];
  readonly warnings: readonly IngestionWarning[];
}

export interface PersonDataStore {
  /** @param userId also one that was never identified */
  identity(organization: number, userId: string): Promise<IdentityData>;
  /** Rejected events of a user, in the order of their ids. @param after only ids above it */
  rejectedEvents(
    organization: number,
    user: number,
    after: number,
    limit: number,
  ): Promise<readonly StoredRejectedEvent[]>;
  /** Entries of the audit log about the user, the newest first. They name users by number. @param before only older ones than this entry */
  auditEntries(
    organization: number,
    user: number,
    before: number,
    limit: number,
  ): Promise<readonly StoredAuditEntry[]>;
}
