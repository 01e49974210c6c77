import { limits } from "../../../contract/limits.ts";
import { emailKey } from "./email-key.ts";
import { propertiesWithoutPayer } from "./payer-in-properties.ts";

/** An id is a user's or a visitor's. */
export const personKinds = ["user", "visitor"] as const;

/** An id of a person, as it was sent: as a `userId`, or as a visitor's (`anonymousId`). */
export interface PersonId {
  readonly kind: (typeof personKinds)[number];
  readonly id: string;
}

export interface PersonKey extends PersonId {
  readonly organization: number;
}

/** A user's id, in an organization. */
export function userKey(organization: number, id: string): PersonKey {
  return { organization, kind: "user", id };
}

/** A visitor's id, in an organization. */
export function visitorKey(organization: number, id: string): PersonKey {
  return { organization, kind: "visitor", id };
}

/**
 * The id for the future user of an e-mail address, upper and lower case alike. Ids are linked to it, and
 * nothing is held under it. Undefined for an address that is too long for an id.
 */
export function addressId(email: string): string | undefined {
  const id = `mailto:${emailKey(email)}`;
  return id.length <= limits.identifierCharacters ? id : undefined;
}

/** Whether an id stands for an e-mail address. */
export function isAddressId(id: string): boolean {
  return id.startsWith("mailto:");
}

/** The address of an `addressId`, in small letters. */
export function addressIn(id: string): string {
  return id.slice("mailto:".length);
}

export interface HeldEvent {
  readonly receivedAtMs: number;
  readonly atMs: number;
  /** The item's account, so that a ledger can load it with the item. */
  readonly accountId: string | null;
  /** JSON text of the item. Intake writes and reads it. */
  readonly body: string;
}

/** The body of an item that names an account, without the account. The properties of a billing event may name
 * it, too. */
export function bodyWithoutAccount(body: string): string {
  const { account: _account, ...others } = JSON.parse(body) as Record<string, unknown>;
  const { event, properties } = others;
  return JSON.stringify({ ...others, properties: propertiesWithoutPayer(event, properties) });
}

/** A link of an id to a user, who may not be identified yet, and its time. */
export interface PersonLink {
  readonly userId: string;
  readonly atMs: number;
}

/** A transaction's changes of held items and links. They are written in this order. */
export interface HeldEventWrites {
  /** All earlier items of these ids are deleted. */
  readonly taken: readonly PersonKey[];
  /** At most `limits.heldEvents` and `limits.heldEventBytes` are held for one person. The oldest are dropped
   * and counted. */
  readonly held: readonly (PersonKey & HeldEvent)[];
  /** Items that were taken and could not be attached to their user. They are counted, with the reason. */
  readonly refused: readonly { readonly organization: number; readonly message: string }[];
  /**
   * New links. Null deletes the link. In two cases a link to another user than before is not stored:
   * - The user has `limits.linksOfUser` links that were written in the last `limits.heldEventDays`. An older
   *   link of the user would be replaced, the oldest first.
   * - The user is not identified, and the organization has `limits.linksOfOrganization` links to such users.
   *   The ingestion warning `links_full` counts these links. The first of the list are stored. The id's
   *   earlier link is deleted in any case. A link to an e-mail address counts as a link to an unidentified
   *   user, until a user with the address is written.
   */
  readonly links: readonly (PersonKey & { readonly link: PersonLink | null })[];
  /** Names of events as they were sent. An organization keeps at most `limits.eventLabels`. */
  readonly labels: readonly EventLabel[];
}

/** An event that was sent with white space in its name. */
export interface EventLabel {
  readonly organization: number;
  readonly event: string;
  /** The name as it was first sent. */
  readonly label: string;
}

/** The held items of an organization now, and all items dropped so far. */
export interface HeldEventCounts {
  readonly people: number;
  readonly items: number;
  readonly bytes: number;
  /** The arrival of the oldest item. Null if there is none. */
  readonly oldestAtMs: number | null;
  /** Items dropped because a person, or the organization, had too many. */
  readonly droppedFull: number;
  /** Items dropped because their id was not identified in 30 days. */
  readonly droppedExpired: number;
  /** Ids that are linked to users who are not identified yet. Such a link is deleted after 30 days without a
   * message. */
  readonly links: number;
}

/** The counts of an organization that never had held items. */
export const noHeldEvents: HeldEventCounts = {
  people: 0,
  items: 0,
  bytes: 0,
  oldestAtMs: null,
  droppedFull: 0,
  droppedExpired: 0,
  links: 0,
};

/** The list ends after this many. */
export const maxPeopleWithHeldEvents = 1_000;
