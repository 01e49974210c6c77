/**
 * Erasures: everything of a user or an account goes, and what stays is that it was done. Each is recorded, with its audit
 * entry, in the commit that deletes the user or the account, and pending until everything else has gone too, so that a crash
 * at any point only delays it. The id that was erased is kept as a keyed hash: enough to know it again, no way to read it.
 */
import type { Actor, AuditNote } from "./audit.ts";
import type { DayCount } from "./inbox.ts";

export interface Erasure {
  readonly id: number;
  readonly organization: number;
  /** The number that the user had, and nobody will have again; 0 when an account is erased. */
  readonly user: number;
  /** The same of the account; 0 when a user is erased. */
  readonly account: number;
  readonly state: "begun" | "counted" | "done";
  /** No row of the user stands behind this one in the inbox. */
  readonly uptoInboxId: number;
  readonly requestedAtMs: number;
  readonly erasedAtMs: number | null;
  /** Users who were in the account, and are in none now; 0 when a user is erased. */
  readonly members: number;
  /** Events of the user, or those that do not name the account any more. */
  readonly events: number;
  readonly versions: number;
  readonly deadLetters: number;
  readonly inboxRows: number;
  /** Days whose figures were computed again without the user or the account. */
  readonly days: number;
}

/** How an erasure is asked for. */
export interface AskedErasure {
  /** For the audit log; the service itself when it is left out. */
  readonly by?: Actor;
  /** Whether the user's account is erased in the same commit, when the user is its only member. */
  readonly withAccount?: boolean;
}

/** An erasure of a user that was begun. */
export interface BegunErasure extends Erasure {
  /** The ids by which the user was named: the own one, and those that were linked to it. */
  readonly names: readonly string[];
  /** That of the user's account; null when the account stays. */
  readonly ofAccount: { readonly accountId: string; readonly erasure: Erasure } | null;
}

/** What the warehouse holds of a user before it is deleted there. */
export interface FoundInWarehouse {
  /** Events by UTC day, to be taken from the ledger's own counts. */
  readonly dayCounts: readonly DayCount[];
  /** Rows of `user_versions`, and the sum of their versions. */
  readonly versions: number;
  readonly versionSum: number;
  readonly days: number;
}

/** What the warehouse holds that names an account. */
export interface FoundOfAccount {
  readonly events: number;
  readonly days: number;
}

/** The steps of an erasure, in their order. Each may be done again after a crash. */
export interface Erasures {
  /** Deletes the user, with the exclusion rules that name them, and leaves a tombstone, in one commit: from now on the
   * user is not known. The ids that were linked to the user, or to an e-mail address that nobody else has, leave
   * tombstones as well, and their links, what is parked under any of these ids and the ingestion warnings that name one
   * go, from the files at once. Of an id that was never identified the same goes, said as a user's and as a visitor's, and
   * tombstones stay of what there was.
   * @returns undefined when there is no such user. */
  begin(organization: number, userId: string, asked?: AskedErasure): Promise<BegunErasure | undefined>;
  /**
   * Deletes the account, with the exclusion rules that name it, and leaves a tombstone, in one commit: from now on its
   * members are in no account, and rows that are written do not name it. What is parked loses the account. Of an account that
   * was never stored the parked items lose it as well.
   * @returns undefined when there is no such account
   */
  beginAccount(organization: number, accountId: string, asked?: AskedErasure): Promise<Erasure | undefined>;
  /** Those that are not done, oldest first. */
  pending(): Promise<readonly Erasure[]>;
  /** Takes the user's events and versions from the counts and deletes the user's dead letters, once and in one commit,
   * before the warehouse deletes anything. */
  counted(id: number, found: FoundInWarehouse): Promise<void>;
  /** The same for an account: its dead letters are deleted, and those of users lose it. No count changes. */
  accountCounted(id: number, found: FoundOfAccount): Promise<void>;
  /** Nothing of the user or the account is in the warehouse any more: deletes what the inbox still keeps up to the erasure,
   * and gives the bytes back to the disk. @throws Error while rows before it are not loaded. */
  finish(id: number): Promise<void>;
  find(id: number): Promise<Erasure | undefined>;
  /** The organization's erasures, oldest first. */
  list(organization: number): Promise<readonly Erasure[]>;
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
  /** Of the account that was erased with the user; null when none was. */
  readonly account: AccountReceipt | null;
}

/** The receipt for an erasure of a user that is done, with that of the account. */
export function receiptOf(userId: string, erasure: Erasure, account: AccountReceipt | null): ErasureReceipt {
  return { userId, ...figuresOf(erasure), account };
}

/** The receipt for an erasure of an account that is done. */
export function accountReceiptOf(accountId: string, erasure: Erasure): AccountReceipt {
  return { accountId, members: erasure.members, ...figuresOf(erasure) };
}

function figuresOf(erasure: Erasure): ReceiptFigures {
  const { requestedAtMs, erasedAtMs, events, versions, deadLetters, inboxRows, days } = erasure;
  if (erasedAtMs === null) throw new Error("an erasure that is not done has no receipt");
  const seconds = (erasedAtMs - requestedAtMs) / 1_000;
  const erasedAt = new Date(erasedAtMs).toISOString();
  return { erasedAt, events, versions, rejectedEvents: deadLetters, inboxRows, days, seconds };
}

/** The audit entry of an erasure. It does not name the user or the account. */
export function erasureNote({ id, user }: Erasure): AuditNote {
  return user > 0
    ? { action: "user.erased", summary: "Erased a user", detail: { erasure: id } }
    : { action: "account.erased", summary: "Erased an account", detail: { erasure: id } };
}

/**
 * Deletions of organizations. In the first commit the organization loses its name, its credentials and its members: from then
 * on nobody finds it and nothing is written for it. It is pending until warehouse and ledger hold no row of it, so that a
 * crash at any point only delays it. Its id is never given again.
 */
export interface Deletion {
  readonly organization: number;
  /** No row of the organization stands behind this one in the inbox. */
  readonly uptoInboxId: number;
}

/** The steps of a deletion, in their order. Each may be done again after a crash. */
export interface Deletions {
  /** @returns undefined when there is no such organization, or not any more */
  begin(organization: number): Promise<Deletion | undefined>;
  /** Those that are not done, in the order of their ids. */
  pending(): Promise<readonly Deletion[]>;
  /** The warehouse holds nothing of the organization: deletes every row of it here, and gives the bytes back to the disk.
   * @throws Error while rows before the deletion are not loaded */
  finish(organization: number): Promise<void>;
}
