/**
 * Erasures: all data of a user or an account is deleted, and only a record of the erasure stays. The record
 * and its audit entry are in the commit that deletes the user or the account. The erasure is pending until
 * all other data is deleted, too, so that a crash at any point only delays it. The erased id is kept as a
 * keyed hash: it can be recognized, but not read.
 */
import type { Actor, AuditNote } from "./audit.ts";
import type { DayCount } from "./inbox.ts";

export interface Erasure {
  readonly id: number;
  readonly organization: number;
  /** The number that the user had. No other user gets it. 0 if an account is erased. */
  readonly user: number;
  /** The number that the account had. No other account gets it. 0 if a user is erased. */
  readonly account: number;
  readonly state: "begun" | "counted" | "done";
  /** The inbox has no row of the user after this one. */
  readonly uptoInboxId: number;
  readonly requestedAtMs: number;
  readonly erasedAtMs: number | null;
  /** Users who belonged to the account and belong to none now. 0 if a user is erased. */
  readonly members: number;
  /** Events of the user, or events that lost the account. */
  readonly events: number;
  readonly versions: number;
  readonly rejectedEvents: number;
  readonly inboxRows: number;
  /** Days whose figures were computed again without the user or the account. */
  readonly days: number;
}

/** Options of an erasure. */
export interface AskedErasure {
  /** For the audit log. Default: the service itself. */
  readonly by?: Actor;
  /** Whether the same commit erases the user's account, if the user is its only account member. */
  readonly withAccount?: boolean;
}

/** An erasure of a user that was begun. */
export interface BegunErasure extends Erasure {
  /** The ids of the user: its own id, and the ids that were linked to it. */
  readonly names: readonly string[];
  /** The erasure of the user's account. Null if the account stays. */
  readonly ofAccount: { readonly accountId: string; readonly erasure: Erasure } | null;
}

/** Rows of a user in the warehouse, counted before they are deleted there. */
export interface FoundInWarehouse {
  /** Events by UTC day. They are subtracted from the ledger's own counts. */
  readonly dayCounts: readonly DayCount[];
  /** Rows of `user_versions`, and the sum of their versions. */
  readonly versions: number;
  readonly versionSum: number;
  readonly days: number;
  /** The numbers of the accounts that its rows name: their figures change. Left out: none. */
  readonly accounts?: readonly number[];
}

/** The accounts that an erasure changed. */
export interface ErasedAccounts {
  readonly requestedAtMs: number;
  /** The account itself; 0 if a user is erased. */
  readonly account: number;
  /** Those that the rows of the user named, once they are counted. */
  readonly ofAccounts: readonly number[];
}

/** An erasure of a user, and the user's rows in the warehouse. */
export interface CountedErasure extends FoundInWarehouse {
  readonly id: number;
}

/** Rows in the warehouse that name an account. */
export interface FoundOfAccount {
  readonly events: number;
  /** Rows of `account_versions`, and the sum of their versions. */
  readonly versions: number;
  readonly versionSum: number;
  readonly days: number;
}

/** The steps of an erasure, in their order. Each may be done again after a crash. */
export interface Erasures {
  /** Deletes the user, with the exclusion rules that name them, and leaves a tombstone, in one commit. After
   * it the user is unknown. The ids that were linked to the user, or to an e-mail address that no other user
   * has, also leave tombstones. Their links, the items held under these ids and the ingestion warnings that
   * name one are deleted, in the files at once. The same is deleted for an id that was never identified, as a
   * user's id and as a visitor's. Then tombstones stay for ids that had data.
   * @returns undefined when there is no such user. */
  begin(organization: number, userId: string, asked?: AskedErasure): Promise<BegunErasure | undefined>;
  /**
   * Deletes the account, with the exclusion rules that name it, and leaves a tombstone, in one commit. After
   * it, its account members belong to no account, and new rows do not name it. Held items lose the account,
   * also if the account was never stored.
   * @returns undefined when there is no such account
   */
  beginAccount(organization: number, accountId: string, asked?: AskedErasure): Promise<Erasure | undefined>;
  /** Erasures that are not finished, oldest first. */
  pending(): Promise<readonly Erasure[]>;
  /** Subtracts the users' events and versions from the counts and deletes the users' rejected events. Each
   * erasure is counted once and in one commit, before the warehouse deletes anything. A long list takes
   * several commits. */
  counted(found: readonly CountedErasure[]): Promise<void>;
  /** Deletes the rejected events of an account, and takes the account from rejected events of its users. Of
   * the counts, only the rows of `account_versions` change. It is counted once and in one commit. */
  accountCounted(id: number, found: FoundOfAccount): Promise<void>;
  /** Called when the warehouse has no row of the users or accounts any more. Deletes their rows in the inbox
   * up to the newest of these erasures, and frees the disk space. All are done in one commit.
   * @throws Error while rows before one are not loaded, or one is not counted. Then none is done */
  finish(ids: readonly number[]): Promise<void>;
  find(id: number): Promise<Erasure | undefined>;
  /** The organization's erasures, oldest first. */
  list(organization: number): Promise<readonly Erasure[]>;
  /** The accounts that erasures changed which were requested at this time or later, oldest first. */
  accountsSince(organization: number, sinceMs: number): Promise<readonly ErasedAccounts[]>;
}

interface ReceiptFigures {
  /** ISO 8601. */
  readonly erasedAt: string;
  readonly events: number;
  readonly versions: number;
  readonly rejectedEvents: number;
  readonly inboxRows: number;
  readonly days: number;
  readonly seconds: number;
}

/** The answer to a request that erases an account. */
export interface AccountReceipt extends ReceiptFigures {
  readonly accountId: string;
  readonly members: number;
}

/** The answer to a request that erases a user. */
export interface ErasureReceipt extends ReceiptFigures {
  readonly userId: string;
  /** The receipt of the account that was erased with the user. Null if none was. */
  readonly account: AccountReceipt | null;
}

/** The receipt for a finished erasure of a user, with that of the account. */
export function receiptOf(userId: string, erasure: Erasure, account: AccountReceipt | null): ErasureReceipt {
  return { userId, ...figuresOf(erasure), account };
}

/** The receipt for a finished erasure of an account. */
export function accountReceiptOf(accountId: string, erasure: Erasure): AccountReceipt {
  return { accountId, members: erasure.members, ...figuresOf(erasure) };
}

function figuresOf(erasure: Erasure): ReceiptFigures {
  const { requestedAtMs, erasedAtMs, events, versions, rejectedEvents, inboxRows, days } = erasure;
  if (erasedAtMs === null) throw new Error("an erasure that is not done has no receipt");
  const seconds = (erasedAtMs - requestedAtMs) / 1_000;
  const erasedAt = new Date(erasedAtMs).toISOString();
  return { erasedAt, events, versions, rejectedEvents: rejectedEvents, inboxRows, days, seconds };
}

/** The audit entry of an erasure. It does not name the user or the account. */
export function erasureNote({ id, user }: Erasure): AuditNote {
  return user > 0
    ? { action: "user.erased", summary: "Erased a user", detail: { erasure: id } }
    : { action: "account.erased", summary: "Erased an account", detail: { erasure: id } };
}

/** The audit entry of a copy of everything about a person, which names the person by number. 0 for one who
 * was never identified. */
export function personExportedNote(user: number): AuditNote {
  return { action: "person.exported", summary: "Exported everything about a user", detail: { user } };
}

/**
 * Deletions of organizations. The first commit deletes the organization's name, its credentials and its team
 * members. After it, no look-up finds the organization and nothing is written for it. The deletion is pending
 * until warehouse and ledger hold no row of it, so that a crash at any point only delays it. Its id is never
 * used again.
 */
export interface Deletion {
  readonly organization: number;
  /** The inbox has no row of the organization after this one. */
  readonly uptoInboxId: number;
}

/** The steps of a deletion, in their order. Each may be done again after a crash. */
export interface Deletions {
  /** @returns undefined when there is no such organization, or it is already deleted */
  begin(organization: number): Promise<Deletion | undefined>;
  /** Deletions that are not finished, in the order of their ids. */
  pending(): Promise<readonly Deletion[]>;
  /** Called when the warehouse has no row of the organization any more. Deletes its rows here, and frees the
   * disk space.
   * @throws Error while rows before the deletion are not loaded */
  finish(organization: number): Promise<void>;
}
