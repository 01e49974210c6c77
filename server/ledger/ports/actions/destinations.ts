/** Destinations: where messages about an organization are sent. */
import {
  type DestinationKind,
  type DestinationState,
  destinationLimits,
  type NoticeType,
} from "../../../../contract/actions/destinations.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import type { Actor, AuditNote } from "../audit.ts";

export interface Destination {
  readonly id: number;
  readonly organization: number;
  readonly kind: DestinationKind;
  readonly name: string;
  readonly address: string;
  /** Of a webhook: by which receivers verify, the newest first. Of e-mail: the code of the links by which its recipient agrees and
   * unsubscribes. Slack has none. */
  readonly secrets: readonly string[];
  readonly notices: readonly NoticeType[];
  readonly state: DestinationState;
  readonly stoppedBecause: string | null;
  /** The time of the first failed attempt since the last success, and the number of those attempts. */
  readonly failingSinceMs: number | null;
  readonly failedAttempts: number;
  readonly deliveredAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface DestinationWithCounts extends Destination {
  readonly pending: number;
  readonly held: number;
}

export type NewDestination = Pick<Destination, "kind" | "name" | "address" | "secrets" | "notices">;

export type DestinationChange = Partial<
  Pick<NewDestination, "name" | "address" | "secrets" | "notices"> & {
    readonly state: "unconfirmed" | "active" | "paused";
  }
>;

/** Every change and its entry in the audit log are one commit. */
export interface DestinationStore {
  /** By name. */
  list(organization: number): Promise<readonly DestinationWithCounts[]>;
  find(organization: number, id: number): Promise<DestinationWithCounts | undefined>;
  /** Destinations of all organizations that get messages about a whole organization, disabled and unconfirmed ones left out. */
  asking(): Promise<readonly DestinationWithCounts[]>;
  /** @throws Refusal when another destination has the name, there are too many, or there is no such organization */
  add(
    organization: number,
    destination: NewDestination,
    by: Actor,
    nowMs: number,
  ): Promise<DestinationWithCounts>;
  /** Changes the given fields. A destination that becomes active begins without failures.
   * @returns undefined when the organization has no such destination
   * @throws Refusal when another destination has the name */
  change(
    organization: number,
    id: number,
    change: DestinationChange,
    by: Actor,
    nowMs: number,
  ): Promise<DestinationWithCounts | undefined>;
  /** The recipient of an e-mail destination agrees, by the code that only a mail to the address has.
   * @returns undefined when there is no such destination with this code */
  agree(id: number, code: string, nowMs: number): Promise<Destination | undefined>;
  /** The recipient wants no more: the destination is disabled. @returns as `agree` */
  unsubscribe(id: number, code: string, nowMs: number): Promise<Destination | undefined>;
  /** Pauses every active destination when the ledger is at another place than before: two installations must not send the same
   * messages. The notes and the new place are in the same commit.
   * @param place names the storage of the ledger, as `Ledger.place` does. @returns how many were paused */
  pauseElsewhere(place: string, nowMs: number): Promise<number>;
  /** Its deliveries go with it. @returns false when the organization has no such destination */
  remove(organization: number, id: number, by: Actor, nowMs: number): Promise<boolean>;
}

/** Why a destination is disabled after a failed try. Null: it stays as it is.
 * @param isGone whether the receiver says that the address will never exist again */
export function disabledBecause(
  { failingSinceMs, failedAttempts }: Pick<Destination, "failingSinceMs" | "failedAttempts">,
  isGone: boolean,
  nowMs: number,
): string | null {
  if (isGone) return "The receiver answered 410: the address does not exist any more.";
  const isLong = failingSinceMs !== null && nowMs - failingSinceMs >= failingLongMs;
  return isLong && failedAttempts >= failingAttempts
    ? `No message was delivered for 5 days, in ${failedAttempts} attempts.`
    : null;
}

const failingLongMs = 5 * 86_400_000;
const failingAttempts = 20;

type Named = Pick<Destination, "id" | "kind" | "name">;

function note(action: AuditNote["action"], summary: string, { id, kind, name }: Named): AuditNote {
  return { action, summary, detail: { id, kind, name } };
}

/** The entry of a new destination. Neither address nor secret is in the log. */
export function destinationCreatedNote(destination: Named): AuditNote {
  return note("destination.created", `Added the destination ${destination.name}`, destination);
}

/** The entry of a changed destination. */
export function destinationChangedNote(before: Destination, change: DestinationChange): AuditNote {
  const fields = Object.keys(change).sort();
  return {
    action: "destination.changed",
    summary: `Changed ${fields.join(", ")} of the destination ${change.name ?? before.name}`,
    detail: { id: before.id, from: before.name, to: change.name ?? before.name, fields },
  };
}

/** The entry of a deleted destination. */
export function destinationDeletedNote(destination: Named): AuditNote {
  return note("destination.deleted", `Deleted the destination ${destination.name}`, destination);
}

/** The entry of a destination that the service disabled. */
export function destinationDisabledNote(destination: Named, because: string): AuditNote {
  return note(
    "destination.disabled",
    `Disabled the destination ${destination.name}: ${because}`,
    destination,
  );
}

/** The entry of a destination that the service paused. */
export function destinationPausedNote(destination: Named, because: string): AuditNote {
  return note("destination.paused", `Paused the destination ${destination.name}: ${because}`, destination);
}

/** Why destinations are paused in a ledger that is at another place than before. */
export const elsewhere = "This installation was restored, copied or moved.";

/** The entry of a recipient who agreed. */
export function destinationAgreedNote(destination: Named): AuditNote {
  return note("destination.agreed", `The recipient of ${destination.name} agreed`, destination);
}

/** Why a destination is disabled whose recipient wants no more. */
export const unsubscribed = "The recipient unsubscribed.";

/** The error when another destination has the name. */
export function destinationNameTaken(name: string): Refusal {
  return new Refusal(`name is taken: there is a destination called ${name} already.`);
}

/** @throws Refusal when the organization has the most destinations that it may have */
export function refuseTooManyDestinations(destinations: number): void {
  const { perOrganization } = destinationLimits;
  if (destinations < perOrganization) return;
  throw new Refusal(`There are ${perOrganization} destinations already: delete one before you add another.`);
}
