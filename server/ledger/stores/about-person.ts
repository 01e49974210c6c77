/** Data of one person in the ledger beside the user, notes and tasks: for a copy of everything about the
 * person. */

import type { AlertArm } from "../../../contract/alerts/rules.ts";
import type { DestinationKind } from "../../../contract/destinations/destinations.ts";
import type { StoredAuditEntry } from "../audit.ts";
import type { HeldEvent, PersonId } from "../rules/held-events.ts";
import type { StoredRejectedEvent } from "../rules/rejected-event-facts.ts";
import type { IngestionWarning } from "./warnings.ts";
import type { CallChange } from "../../features/alerts/store/alerts.ts";
import type { Delivery } from "../../sending/deliveries.ts";
import type { EntityStateRow } from "../../features/alerts/store/decisions.ts";

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

/** An alert rule, by its number and name. */
interface OfRule {
  readonly ruleId: number;
  readonly rule: string;
}

/** The state that an alert rule keeps of a user. */
export type PersonAlertState = OfRule & Omit<EntityStateRow, "entity">;

/** An entry of a user into an experiment of a hold-out. */
export interface PersonHoldOutEntry extends OfRule {
  readonly experiment: number;
  /** The account that was drawn for the user. Null if the user was drawn. */
  readonly accountId: string | null;
  readonly arm: AlertArm | null;
  readonly enteredDay: number | null;
  readonly outcome: string | null;
}

/** What team members said about the user's row of the call list. */
export interface PersonCall extends Required<CallChange> {
  /** Null without a verdict. */
  readonly verdictAtMs: number | null;
}

/** A message that names a user, and its destination. */
export interface PersonDelivery extends Omit<Delivery, "organization" | "destination" | "said"> {
  readonly destination: string;
  readonly destinationKind: DestinationKind;
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
  /** The states that alert rules keep of a user, in the order of the rules. */
  alertStates(organization: number, user: number): Promise<readonly PersonAlertState[]>;
  /** What was said about the user's row of the call list: one, or none. */
  calls(organization: number, user: number): Promise<readonly PersonCall[]>;
  /** The entries of a user into hold-outs, the oldest first. */
  holdOutEntries(organization: number, user: number): Promise<readonly PersonHoldOutEntry[]>;
  /** Messages that name a user, those that wait among them, in the order of their ids. A body may name other
   * users, too.
   * @param after only ids above it */
  deliveries(
    organization: number,
    user: number,
    after: number,
    limit: number,
  ): Promise<readonly PersonDelivery[]>;
  /** Entries of the audit log about the user, the newest first. They name users by number. @param before only
   * older ones than this entry */
  auditEntries(
    organization: number,
    user: number,
    before: number,
    limit: number,
  ): Promise<readonly StoredAuditEntry[]>;
}
