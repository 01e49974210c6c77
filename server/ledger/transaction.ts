/** One transaction of the ledger: what has to be known, what is stored, and what is written. */
import type { VersionRows } from "./dead-letters.ts";
import type { ImportProgress } from "./imports.ts";
import type { Account, DayCount, InboxRows, User } from "./ledger.ts";

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
}

export interface MessageKey {
  readonly organization: number;
  readonly messageId: string;
}

/** A message id as the ledger knows it. Whoever stores its message hands it back in `Writes`. */
export interface Message {
  /** Whether it was acknowledged within the last 24 hours. */
  readonly remembered: boolean;
}

/** What is stored: look-ups answer `undefined` for what is not. Only what was among the needs may be asked. */
export interface Stored {
  known(organization: number, userId: string): KnownUser | undefined;
  user(organization: number, userId: string): User | undefined;
  /** When an identified user was erased last: what was said before that stays out. */
  erasedAtMs(organization: number, userId: string): number | undefined;
  account(organization: number, accountId: string): Account | undefined;
  message(organization: number, messageId: string): Message;
  /** The highest number given so far in the organization, to erased users too; 0 before the first. */
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
  /** Moves an import on by the rows that are written here. */
  readonly importProgress?: ImportProgress;
  readonly nowMs: number;
}
