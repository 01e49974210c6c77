/**
 * What connected sources said of people who are not identified yet. It is parked by the id that was said, until an
 * identify or an alias names the person; then it becomes the user's, and the id is linked to the user, so that what
 * comes later is the user's at once.
 *
 * A user's id and a visitor's are two, also where they are the same text: a user's id can be guessed, and who says it as
 * a visitor's must not get what waits under it. A user who was identified is linked to nobody; whom an id is linked to is
 * a user, identified or not, and linked to nobody; what is parked is parked under an id that is neither.
 */
import { limits } from "../../../contract/limits.ts";
import { msPerDay } from "../../calendar/calendar.ts";
import { emailKey } from "../rules/email-key.ts";
import type { IngestionWarning } from "./warnings.ts";

/** An id is a user's or a visitor's. */
export const personKinds = ["user", "visitor"] as const;

/** An id of a person, as it was said: as a `userId`, or as a visitor's (`anonymousId`). */
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
 * The id that stands for whichever user will have an e-mail address, upper and lower case alike. Ids are linked to it, and
 * nothing is parked under it. Undefined for an address that is too long for an id.
 */
export function addressId(email: string): string | undefined {
  const id = `mailto:${emailKey(email)}`;
  return id.length <= limits.identifierCharacters ? id : undefined;
}

/** Whether an id stands for an e-mail address. */
export function isAddressId(id: string): boolean {
  return id.startsWith("mailto:");
}

/** The address for which an id stands that is an `addressId`, in small letters. */
export function addressIn(id: string): string {
  return id.slice("mailto:".length);
}

export interface ParkedItem {
  readonly receivedAtMs: number;
  readonly atMs: number;
  /** The account that it names, so that a ledger may load it with the item. */
  readonly accountId: string | null;
  /** JSON text of what was said: intake writes and reads it. */
  readonly body: string;
}

/** The body of an item that names an account, without the account. */
export function bodyWithoutAccount(body: string): string {
  const { account: _account, ...said } = JSON.parse(body) as Record<string, unknown>;
  return JSON.stringify(said);
}

/** That an id is a user's, who may not be identified yet, and when that was said. */
export interface PersonLink {
  readonly userId: string;
  readonly atMs: number;
}

/** What a transaction changes of what is parked. It is written in this order. */
export interface ParkingWrites {
  /** Of these nothing stays of what was parked before. */
  readonly taken: readonly PersonKey[];
  /** Of one person at most `limits.parkedItems` and `limits.parkedBytes` are kept: the oldest are dropped, and
   * counted. */
  readonly parked: readonly (PersonKey & ParkedItem)[];
  /** Items that were taken and could not become their user's: to be counted, with the reason. */
  readonly refused: readonly { readonly organization: number; readonly message: string }[];
  /**
   * Null: the link is gone. Not kept, but counted in the ingestion warning `links_full`, is a link to another user than
   * before when that user has `limits.linksOfUser` that were written within `limits.parkedDays` (of others the one that was
   * written longest ago gives way), or when the user is not identified and the organization has
   * `limits.linksOfOrganization` to such users; the first of the list are kept, and what was linked before is not any more.
   * A link to an e-mail address is one to somebody who is not identified until a user with the address is written.
   */
  readonly links: readonly (PersonKey & { readonly link: PersonLink | null })[];
  /** Names of events as they were sent. More than `limits.eventLabels` of an organization are not kept. */
  readonly labels: readonly EventLabel[];
}

/** An event that was sent with white space in its name. */
export interface EventLabel {
  readonly organization: number;
  readonly event: string;
  /** As it was sent first. */
  readonly label: string;
}

/** What is parked of an organization now, and what was dropped since its beginning. */
export interface ParkedCounts {
  readonly people: number;
  readonly items: number;
  readonly bytes: number;
  /** When the oldest of them came; null without any. */
  readonly oldestAtMs: number | null;
  /** Because a person, or the organization, had too many. */
  readonly droppedFull: number;
  /** Because nobody was named in 30 days. */
  readonly droppedExpired: number;
  /** Ids that are linked to somebody who is not identified yet. Without a word for 30 days such a link is forgotten. */
  readonly links: number;
}

/** Of an organization of which nothing was ever parked. */
export const nothingParked: ParkedCounts = {
  ...{ people: 0, items: 0, bytes: 0, oldestAtMs: null, droppedFull: 0, droppedExpired: 0, links: 0 },
};

/** The ingestion warnings in which it is counted what was dropped, could not become its user's, or was not linked. */
export type ParkedWarningKind = "parked_full" | "parked_expired" | "parked_refused" | "links_full";

/** The warning of items that were dropped, or could not become their user's, or of links that were not kept.
 * @param message why not */
export function parkedWarning(
  organization: number,
  kind: ParkedWarningKind,
  count: number,
  nowMs: number,
  message: string | null = null,
): IngestionWarning {
  return {
    ...{ organization, count, utcDay: Math.floor(nowMs / msPerDay), firstSeenMs: nowMs, lastSeenMs: nowMs },
    ...{ kind, endpoint: "sources", detail: message, message, userId: null },
  };
}

/** More are not listed. */
export const maxParkedPeople = 1_000;

export interface ParkedPerson extends PersonId {
  readonly items: number;
  readonly oldestAtMs: number;
  readonly newestAtMs: number;
}

export interface ParkingStore {
  counts(organization: number): Promise<ParkedCounts>;
  /** Those with most items first. @param limit at most 1,000 */
  people(organization: number, limit: number): Promise<readonly ParkedPerson[]>;
  /** Those of these events that were sent under another name, with that name. */
  labels(organization: number, events: readonly string[]): Promise<Readonly<Record<string, string>>>;
}
