/** Destinations: where messages about an organization are sent. */
import {
  type DestinationKind,
  type DestinationState,
  destinationLimits,
  isOwnDigestName,
  type NoticeType,
} from "../../contract/destinations/destinations.ts";
import { ApiError, Refusal } from "../../contract/refusal.ts";
import type { AuditNote } from "../ledger/audit.ts";

export interface Destination {
  readonly id: number;
  readonly organization: number;
  readonly kind: DestinationKind;
  readonly name: string;
  readonly address: string;
  /** Of a webhook: by which receivers verify, the newest first. Of e-mail: the code of the links by which its
   * recipient agrees and unsubscribes. Slack has none. */
  readonly secrets: readonly string[];
  readonly notices: readonly NoticeType[];
  /** Whether messages about users have their e-mail addresses. */
  readonly sendsEmails: boolean;
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

export type NewDestination = Pick<Destination, "kind" | "name" | "address" | "secrets" | "notices"> &
  Partial<Pick<Destination, "sendsEmails">>;

export type DestinationChange = Partial<
  Pick<NewDestination, "name" | "address" | "notices" | "sendsEmails"> & {
    readonly state: "active" | "paused";
  }
>;

export interface ChangedDestination extends DestinationWithCounts {
  /** Whether its recipient has to agree, by a new code. */
  readonly mustAgree: boolean;
}

/** Whether a change needs the agreement of the recipient: to another address, before a start after a failure
 * or an unsubscription, and when the mail that asks is sent again. */
export function mustAgree(before: Destination, { address, state }: DestinationChange): boolean {
  if (before.kind !== "email") return false;
  const isAsked = address !== undefined && (address !== before.address || before.state === "unconfirmed");
  return isAsked || (state !== undefined && before.state === "disabled");
}

/** A destination after an attempt. Failures may disable an active one. */
export function afterAttempt(
  before: Destination,
  verdict: { readonly is: "delivered" | "retry" } | { readonly is: "failed"; readonly isGone: boolean },
  nowMs: number,
): Destination {
  if (verdict.is === "delivered") {
    return { ...before, failingSinceMs: null, failedAttempts: 0, deliveredAtMs: nowMs };
  }
  const after = {
    ...before,
    // The clock may have been ahead at the first failure.
    failingSinceMs: Math.min(before.failingSinceMs ?? nowMs, nowMs),
    failedAttempts: before.failedAttempts + 1,
  };
  const because = disabledBecause(after, verdict.is === "failed" && verdict.isGone, nowMs);
  return because === null || before.state !== "active"
    ? after
    : { ...after, state: "disabled", stoppedBecause: because };
}

/** Why a destination is disabled after a failed attempt. Null: it stays as it is.
 * @param isGone whether the receiver says that the address will never exist again */
function disabledBecause(
  { failingSinceMs, failedAttempts }: { readonly failingSinceMs: number; readonly failedAttempts: number },
  isGone: boolean,
  nowMs: number,
): string | null {
  if (isGone) return "The receiver answered 410: the address does not exist any more.";
  return nowMs - failingSinceMs >= failingLongMs && failedAttempts >= failingAttempts
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

type ChangedField = keyof DestinationChange | "secrets";

/** The fields that a change gives another value, sorted.
 * @param after the destination after the change. An active one that is made active again has no failures
 * then: that is a change of its state */
export function changedFields(
  before: Destination,
  change: DestinationChange,
  after: Destination,
): readonly ChangedField[] {
  const given = (["address", "name", "notices", "sendsEmails", "state"] as const).filter(
    (field) => change[field] !== undefined && !Bun.deepEquals(change[field], before[field], true),
  );
  const isOther = given.length === 0 && !Bun.deepEquals(after, before, true);
  return isOther && change.state !== undefined ? ["state"] : given;
}

/** The entry of a changed destination. @param to its name after the change @param fields those that
 * changed */
export function destinationChangedNote(
  { id, name: from }: Destination,
  to: string,
  fields: readonly ChangedField[],
): AuditNote {
  return {
    action: "destination.changed",
    summary: `Changed ${fields.join(", ")} of the destination ${to}`,
    detail: { id, from, to, fields },
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

/** The entry of a mail that asks a recipient to agree. These entries are counted: see
 * `refuseTooManyAsked`. */
export function destinationAskedNote(destination: Named): AuditNote {
  return note("destination.asked", `Asked the recipient of ${destination.name} to agree`, destination);
}

/** The entry of a recipient who agreed. */
export function destinationAgreedNote(destination: Named): AuditNote {
  return note("destination.agreed", `The recipient of ${destination.name} agreed`, destination);
}

/** Why a destination is disabled whose recipient unsubscribed. */
export const unsubscribed = "The recipient unsubscribed.";

/** The error when another destination has the name. */
export function destinationNameTaken(name: string): Refusal {
  return new Refusal(`name is taken: there is a destination called ${name} already.`);
}

/** @param names of the destinations that are there. Members' own digests do not count: owners do not manage
 * them
 * @throws Refusal when the organization has the most destinations that it may have */
export function refuseTooManyDestinations(names: readonly string[]): void {
  const { perOrganization } = destinationLimits;
  if (names.filter((name) => !isOwnDigestName(name)).length < perOrganization) return;
  throw new Refusal(`There are ${perOrganization} destinations already: delete one before you add another.`);
}

/** Mails that ask members about their own digests count for each member alone: a viewer must not use up those
 * of the owners.
 * @param name of the destination whose recipient is to be asked
 * @param asked the names of destinations whose recipients the organization asked to agree within a day
 * @throws ApiError when there are too many: anyone's address may be one of them */
export function refuseTooManyAsked(name: string, asked: readonly string[]): void {
  const isOwn = isOwnDigestName(name);
  const most = isOwn ? destinationLimits.ownAskedPerDay : destinationLimits.askedPerDay;
  const counted = asked.filter((one) => (isOwn ? one === name : !isOwnDigestName(one)));
  if (counted.length < most) return;
  const about = isOwn ? " about your digest" : "";
  throw new ApiError(
    "rate_limit_exceeded",
    `Too many requests: ${most} e-mails that ask for agreement${about} were sent within 24 hours. Please send the next one tomorrow.`,
  );
}

/** A viewer changes the own digest, and must not push other entries out of the audit log.
 * @param changes of the period of a member's own digest within a day
 * @throws ApiError when there are too many */
export function refuseTooManyOwnChanges(changes: number): void {
  const { ownChangesPerDay } = destinationLimits;
  if (changes < ownChangesPerDay) return;
  throw new ApiError(
    "rate_limit_exceeded",
    `Too many requests: your digest was changed ${ownChangesPerDay} times within 24 hours. Please change it again tomorrow.`,
  );
}

/** The error when an e-mail destination is used before its recipient agreed. */
export function notAgreed(): ApiError {
  return new ApiError(
    "conflict",
    "The recipient has not agreed yet. Messages start when the recipient opens the link in the e-mail and agrees.",
  );
}

/** The error when a destination without signatures gets a secret. */
export function notSigned(): ApiError {
  return new ApiError("conflict", "Only webhooks are signed: this destination has no secret.");
}
