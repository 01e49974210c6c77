/**
 * What connected sources said of people who are not identified yet. It is parked by the id that was said, until an
 * identify or an alias names the person; then it becomes the user's, and the id is linked to the user, so that what
 * comes later is the user's at once.
 *
 * Visitors' ids and users' ids are one kind of id here: tools change between them. An id that was identified is a user
 * of its own and linked to nobody; whom an id is linked to is linked to nobody; what is parked is parked under an id
 * that is neither.
 */
import { limits } from "../../contract/limits.ts";

/** An id of a person, whether a visitor's or a user's. */
export interface PersonKey {
  readonly organization: number;
  readonly id: string;
}

/**
 * The id that stands for whichever user will have an e-mail address, upper and lower case alike. Ids are linked to it, and
 * nothing is parked under it. Undefined for an address that is too long for an id.
 */
export function addressId(email: string): string | undefined {
  const id = `mailto:${email.toLowerCase()}`;
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

/** That an id is a user's, and when that was said. */
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
  /** At most `limits.linksOfUser` are kept of a user, the newest. Null: the link is gone. */
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
}

export interface ParkedPerson {
  readonly id: string;
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
