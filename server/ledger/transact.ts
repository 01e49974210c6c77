/** One transaction of the ledger: its look-ups, the stored rows, and its writes. */

import { Refusal } from "../../contract/refusal.ts";
import type { AuditEntry } from "./audit.ts";
import type { Account, User } from "./entities.ts";
import type { DayCount, InboxRows } from "./inbox.ts";
import type {
  EventLabel,
  HeldEvent,
  HeldEventWrites,
  PersonId,
  PersonKey,
  PersonLink,
} from "./rules/held-events.ts";
import type { VersionRows } from "./rules/rejected-event-facts.ts";
import type { ImportProgress } from "./stores/imports.ts";

/** The fields of a user that a track request needs. */
export type KnownUser = Pick<User, "number" | "account">;

/** The look-ups that the decision about a group of admitted requests needs. Duplicates are harmless. A ledger
 * may load all before the decision, in one statement, or run each look-up when it is called. */
export interface Needs {
  /** Users of tracks: only their numbers are needed. */
  readonly known: readonly { readonly organization: number; readonly userId: string }[];
  /** Users of identifies: all of their fields are needed. */
  readonly users: readonly { readonly organization: number; readonly userId: string }[];
  readonly accounts: readonly { readonly organization: number; readonly accountId: string }[];
  readonly messageIds: readonly MessageKey[];
  /** Ids whose user, held items and erasure are needed. The decision may look up everything to which they
   * lead:
   * - the users to whom they are linked, and the visitors with the same ids
   * - other ids that are linked to these users
   * - users with the address to which they are linked
   * - the accounts of held items For an organization without held items and links, only the erasures have to
   *   be loaded. */
  readonly people: readonly PersonKey[];
  readonly labels: readonly Omit<EventLabel, "label">[];
}

/** A message id belongs to its kind: the same text for an identify and for a track is two ids. */
export interface MessageKey {
  readonly organization: number;
  readonly kind: MessageKind;
  readonly messageId: string;
  /** The day, counted in UTC from 1970-01-01, under which the id is remembered for good. Undefined: it is
   * remembered for 24 hours. The same id under another day is another id. */
  readonly lastingDay?: number | undefined;
}

/** The kind of a message. All items of connected sources except tracks count as identifies, including aliases
 * and items about an account. */
export type MessageKind = "identify" | "track";

/** A message id in the ledger's form. A decision that stores its message returns it in `Writes`. */
export interface Message {
  /** Whether it was acknowledged in the last 24 hours, or ever if it is to be remembered for good. */
  readonly remembered: boolean;
  /** Whether it is to be remembered for good, and is not yet. */
  readonly isNewForGood: boolean;
}

/** Look-ups of stored rows. They return `undefined` for missing ones. Only the needs may be looked up, and
 * everything to which they lead. */
export interface Stored {
  /** Whether there is such an organization. It is called first: nothing is written for a deleted
   * organization. */
  exists(organization: number): boolean;
  known(organization: number, userId: string): KnownUser | undefined;
  user(organization: number, userId: string): User | undefined;
  /** Users with this e-mail address, upper and lower case alike, three at most. It may be called for any
   * address, and every look-up for the users that it returns. */
  withEmail(organization: number, email: string): readonly string[];
  /** The last erasure of the user, or of a user to whom the id was linked at that time. Older items are left
   * out. */
  erasedAtMs(person: PersonKey): number | undefined;
  account(organization: number, accountId: string): Account | undefined;
  /** The last erasure of the account. Older items are stored without the account. */
  accountErasedAtMs(organization: number, accountId: string): number | undefined;
  message(key: MessageKey): Message;
  /** Whether the organization has held items or links. It is called for every identify, so it is known
   * without a look-up. True may be wrong, false never is. */
  hasHeldEvents(organization: number): boolean;
  /** The link of the id. */
  link(person: PersonKey): PersonLink | undefined;
  /** The ids that are linked to this user. */
  linksTo(organization: number, userId: string): readonly PersonId[];
  /** The items held under the id, in the order of their arrival. */
  heldEvents(person: PersonKey): readonly HeldEvent[];
  /** The other name under which the event was first sent. */
  label(organization: number, event: string): string | undefined;
  /** The highest number so far in the organization, including erased users. 0 before the first. Only for an
   * organization with a user or an account among the needs. */
  lastUserNumber(organization: number): number;
  lastAccountNumber(organization: number): number;
  /** A number that grows with every transaction that writes rows: one half of the event ids made here. */
  readonly transaction: number;
}

export interface Writes {
  readonly users: readonly User[];
  readonly accounts: readonly Account[];
  readonly inbox: readonly InboxRows[];
  /** The rows of `user_versions` among them, by organization. */
  readonly versionRows: readonly (VersionRows & { readonly organization: number })[];
  /** The rows of `account_versions` among them, by organization. Undefined if no attribute changes. */
  readonly accountVersionRows?: Writes["versionRows"];
  readonly messages: readonly Message[];
  readonly dayCounts: readonly DayCount[];
  /** Undefined if no held item, link or label changes. */
  readonly heldEvents?: HeldEventWrites;
  /** Moves an import's position by the rows that are written here. */
  readonly importProgress?: ImportProgress;
  /** Entries of the audit log about what is written here. Senders' requests have none. */
  readonly audit?: readonly AuditEntry[];
  readonly nowMs: number;
}

/** Thrown by a decision about an organization that was deleted. Nothing of the request is written. */
export class OrganizationGone extends Refusal {
  constructor() {
    super("There is no such organization, or not any more.");
  }
}

/** Thrown by a transaction that did not get the locks of some organizations in time. Nothing of it was
 * written. */
export class OrganizationsHeld extends Error {
  override readonly name = "OrganizationsHeld";
  /** The locked organizations, at least one. */
  readonly organizations: readonly number[];

  constructor(organizations: readonly number[]) {
    super(`Other transactions held the locks of organizations for too long: ${organizations.join(", ")}.`);
    this.organizations = organizations;
  }
}
