/** One transaction of the ledger: what has to be known, what is stored, and what is written. */

import { Refusal } from "../../../contract/refusal.ts";
import type { VersionRows } from "./dead-letters.ts";
import type { Account, User } from "./entities.ts";
import type { ImportProgress } from "./imports.ts";
import type { DayCount, InboxRows } from "./inbox.ts";
import type { EventLabel, ParkedItem, ParkingWrites, PersonId, PersonKey, PersonLink } from "./parking.ts";

/** What a track request has to know of its user. */
export type KnownUser = Pick<User, "number" | "account">;

/** What has to be known before a group of admitted requests can be decided; duplicates are harmless. A ledger
 * may load it beforehand, in one statement, or answer each look-up when it comes. */
export interface Needs {
  /** Users that are tracked: their numbers are enough. */
  readonly known: readonly { readonly organization: number; readonly userId: string }[];
  /** Users that are identified: they are needed whole. */
  readonly users: readonly { readonly organization: number; readonly userId: string }[];
  readonly accounts: readonly { readonly organization: number; readonly accountId: string }[];
  readonly messageIds: readonly MessageKey[];
  /** Ids of which it matters whose they are, what is parked under them, and when they were erased. Whatever these lead to
   * may be asked for, too: the users to whom they are linked, and the visitors with the same ids; who else is linked to
   * these users; who has the address to which they are linked; and the accounts of what is parked. Of all that only the
   * erasures have to be loaded for an organization that has nothing parked and no links. */
  readonly people: readonly PersonKey[];
  readonly labels: readonly Omit<EventLabel, "label">[];
}

/** A message id is one of its kind: the same text is another id for an identify than for a track. */
export interface MessageKey {
  readonly organization: number;
  readonly kind: MessageKind;
  readonly messageId: string;
}

/** Of what connected sources send all but tracks are identifies: they say whose an id is, or what an account is called. */
export type MessageKind = "identify" | "track";

/** A message id as the ledger knows it. Whoever stores its message hands it back in `Writes`. */
export interface Message {
  /** Whether it was acknowledged within the last 24 hours. */
  readonly remembered: boolean;
}

/** What is stored: look-ups answer `undefined` for what is not. Only what was among the needs may be asked, and what that
 * leads to. */
export interface Stored {
  /** Whether there is such an organization, which is asked first: nothing is written for one that is deleted. */
  exists(organization: number): boolean;
  known(organization: number, userId: string): KnownUser | undefined;
  user(organization: number, userId: string): User | undefined;
  /** Users with this e-mail address, upper and lower case alike: three at most. May be asked of any address, and the
   * users whom it names of anything. */
  withEmail(organization: number, email: string): readonly string[];
  /** When the user was erased last, or a user to whom the id was linked then: what was said before that stays out. */
  erasedAtMs(person: PersonKey): number | undefined;
  account(organization: number, accountId: string): Account | undefined;
  /** When the account was erased last: what was said before that names it no more. */
  accountErasedAtMs(organization: number, accountId: string): number | undefined;
  message(key: MessageKey): Message;
  /** Whether anything is parked in the organization, or any id linked: asked for every identify, so it is known
   * without a look-up. True may be wrong, false never is. */
  hasParked(organization: number): boolean;
  /** To which user the id is linked. */
  link(person: PersonKey): PersonLink | undefined;
  /** The ids that are linked to this user. */
  linksTo(organization: number, userId: string): readonly PersonId[];
  /** What is parked under the id, in the order in which it was received. */
  parked(person: PersonKey): readonly ParkedItem[];
  /** Under which other name the event was sent first. */
  label(organization: number, event: string): string | undefined;
  /** The highest number given so far in the organization, to erased users too; 0 before the first. Only of an
   * organization of which a user or an account is among the needs. */
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
  readonly messages: readonly Message[];
  readonly dayCounts: readonly DayCount[];
  /** Undefined where nothing is parked, linked or named. */
  readonly parking?: ParkingWrites;
  /** Moves an import on by the rows that are written here. */
  readonly importProgress?: ImportProgress;
  readonly nowMs: number;
}

/** Thrown by a decision about an organization that was deleted. Nothing of the request is written. */
export class OrganizationGone extends Refusal {
  constructor() {
    super("There is no such organization, or not any more.");
  }
}

/** Thrown by a transaction that did not get the locks of some organizations in time. Nothing of it was written. */
export class OrganizationsHeld extends Error {
  override readonly name = "OrganizationsHeld";
  /** Those that something else holds, at least one. */
  readonly organizations: readonly number[];

  constructor(organizations: readonly number[]) {
    super(`Other transactions held the locks of organizations for too long: ${organizations.join(", ")}.`);
    this.organizations = organizations;
  }
}
