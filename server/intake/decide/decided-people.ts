/** The users and accounts of a group of requests: each as it is stored, and as the requests before have left it. */

import type { JsonObject } from "../../../contract/json.ts";
import type { Account, KnownUser, Stored, User, Writes } from "../../ledger/ledger.ts";
import { emailKey, userKey } from "../../ledger/ledger.ts";
import { type Invalid, isInvalid } from "../admission/json.ts";
import type { AdmittedIdentify, SentAccount } from "../identify.ts";
import type { DecidedRows } from "./decided-rows.ts";
import { isMadeUp, isSaidNow, type Said } from "./field-times.ts";
import { merge, mergeAccount } from "./merge.ts";

/** The fields of a user in a request. */
interface UserSaid extends Omit<AdmittedIdentify, "kind" | "messageId" | "zone"> {
  /** Said only where nothing is stored. */
  readonly traitsOnce?: JsonObject | undefined;
}

/** When and by which kind of token an account was sent. */
interface AccountSaid extends Said {
  readonly isBrowser?: boolean | undefined;
}

/** A field of an existing user that a request with a browser token does not change. */
export type GuardedField = "email" | "isAccountOwner" | "account";

export class DecidedPeople {
  readonly #stored: Stored;
  readonly #rows: DecidedRows;
  readonly #users = new Map<string, User>();
  /** The ids in `#users` by e-mail address, present or former. Made at the first look-up, which is rare. */
  #withEmail: Map<string, Set<string>> | undefined;
  readonly #accounts = new Map<string, Account>();
  readonly #lastUserNumber = new Map<number, number>();
  readonly #lastAccountNumber = new Map<number, number>();
  /** Of the request that is decided now: the users that it made, and what it was not allowed to change. */
  readonly #made = new Set<string>();
  readonly #ignored = new Set<GuardedField>();

  constructor(stored: Stored, rows: DecidedRows) {
    this.#stored = stored;
    this.#rows = rows;
  }

  /** Begins the next request of the group. */
  beginRequest(): void {
    this.#made.clear();
    this.#ignored.clear();
  }

  /** What the request was not allowed to change, and therefore did not; undefined for most. */
  get ignored(): readonly GuardedField[] | undefined {
    return this.#ignored.size === 0 ? undefined : [...this.#ignored];
  }

  known(organization: number, userId: string): KnownUser | undefined {
    const identified = this.#users.size === 0 ? undefined : this.#users.get(keyOf(organization, userId));
    return identified ?? this.#stored.known(organization, userId);
  }

  /** Users who have this e-mail address now, upper and lower case alike; of more than three some. */
  withEmail(organization: number, email: string): readonly string[] {
    const sought = emailKey(email);
    const has = (user: User) => user.email !== null && emailKey(user.email) === sought;
    const kept = this.#stored.withEmail(organization, email).filter((userId) => {
      const changed = this.#users.get(keyOf(organization, userId));
      return changed === undefined || has(changed);
    });
    if (this.#withEmail === undefined) {
      this.#withEmail = new Map();
      for (const user of this.#users.values()) this.#noteEmail(user);
    }
    const noted = [...(this.#withEmail.get(keyOf(organization, sought)) ?? [])];
    const changed = noted.filter((userId) => {
      const user = this.#users.get(keyOf(organization, userId));
      return user !== undefined && has(user);
    });
    return [...new Set([...kept, ...changed])];
  }

  /**
   * Registers a user or changes the one who exists.
   * @param isIdentified false for a held item: its day is not the day on which the user was identified
   */
  identify(sent: UserSaid, isIdentified = true): "stored" | "duplicate" | Invalid {
    if (this.#wasErased(sent)) return "duplicate";
    const key = keyOf(sent.organization, sent.userId);
    const before = this.#users.get(key) ?? this.#stored.user(sent.organization, sent.userId);
    if (before === undefined) this.#made.add(key);
    const isGuarded = sent.isBrowser && before !== undefined && !this.#made.has(key);
    const entry = isGuarded ? this.#withoutGuarded(sent, before) : sent;
    const traits = { ...missing(before?.traits, entry.traitsOnce), ...entry.traits };
    const isOfErased = entry.account && this.#wasAccountErased(entry.organization, entry.account, entry);
    const joined =
      entry.account && !isOfErased ? this.#merged(entry.organization, entry.account, entry) : undefined;
    const left = entry.account === null ? 0 : undefined;
    const merged = merge(before, { ...entry, traits }, joined?.number ?? left);
    if (isInvalid(merged)) return merged;
    // Only now: a refused identify must not create or rename the account.
    if (joined !== undefined) this.#keepAccount(joined);
    const { changed, retimed, news, ...fields } = merged;
    if (!changed && !retimed) return "stored";
    const identifiedAtMs = isIdentified ? entry.saidAtMs : entry.receivedAtMs;
    const after: User = {
      organization: entry.organization,
      userId: entry.userId,
      number: before?.number ?? this.#nextUserNumber(entry.organization),
      ...fields,
      firstIdentifiedAtMs: Math.min(before?.firstIdentifiedAtMs ?? identifiedAtMs, identifiedAtMs),
      updatedAtMs: entry.receivedAtMs,
      version: (before?.version ?? 0) + (changed ? 1 : 0),
    };
    this.#users.set(key, after);
    this.#noteEmail(after);
    // Unchanged fields still get the newer timestamp, so that a late older message cannot overwrite them.
    if (changed) this.#rows.user(after);
    for (const said of news) this.#rows.version(after, said);
    return "stored";
  }

  /** Merges an account that was sent into what is stored, and writes it if that changes it.
   * @returns its number; 0 when it was erased after that was said */
  account(organization: number, sent: SentAccount, said: AccountSaid): number {
    if (this.#wasAccountErased(organization, sent, said)) return 0;
    const account = this.#merged(organization, sent, said);
    this.#keepAccount(account);
    return account.number;
  }

  writes(): Pick<Writes, "users" | "accounts"> {
    return { users: [...this.#users.values()], accounts: [...this.#accounts.values()] };
  }

  /** Whether this was said before the user was erased, and delivered late: then it is not stored. */
  #wasErased(entry: UserSaid): boolean {
    if (isSaidNow(entry)) return false;
    const { organization, userId, saidAtMs } = entry;
    const erasedAtMs = this.#stored.erasedAtMs(userKey(organization, userId));
    return erasedAtMs !== undefined && saidAtMs < erasedAtMs;
  }

  /** The same of an account: it is as if the request did not name it. */
  #wasAccountErased(organization: number, { accountId }: SentAccount, said: Said): boolean {
    if (isSaidNow(said)) return false;
    const erasedAtMs = this.#stored.accountErasedAtMs(organization, accountId);
    return erasedAtMs !== undefined && said.saidAtMs < erasedAtMs;
  }

  #noteEmail({ organization, userId, email }: User): void {
    if (this.#withEmail === undefined || email === null) return;
    const key = keyOf(organization, emailKey(email));
    this.#withEmail.set(key, (this.#withEmail.get(key) ?? new Set()).add(userId));
  }

  #account(organization: number, accountId: string): Account | undefined {
    return (
      this.#accounts.get(keyOf(organization, accountId)) ?? this.#stored.account(organization, accountId)
    );
  }

  /** An account as it is after the request; a new one has the next number. Nothing is written.
   * A browser token changes no existing account, because the account is that of other users. It may only say a name of an
   * account of which none was ever said. */
  #merged(organization: number, sent: SentAccount, said: AccountSaid): Account {
    const { accountId } = sent;
    const before = this.#account(organization, accountId);
    const whole = mergeAccount(before, sent, said);
    const isGuarded = before !== undefined && said.isBrowser === true;
    const merged = isGuarded ? mergeAccount(before, withoutGuardedFields(sent, before), said) : whole;
    if (merged.name !== whole.name || merged.avatar !== whole.avatar) this.#ignored.add("account");
    const { changed, retimed, ...fields } = merged;
    if (before !== undefined && !changed && !retimed) return before;
    return {
      organization,
      accountId,
      number: before?.number ?? this.#lastAccountNumberOf(organization) + 1,
      ...fields,
      createdAtMs: before?.createdAtMs ?? said.receivedAtMs,
      updatedAtMs: changed ? said.receivedAtMs : (before?.updatedAtMs ?? said.receivedAtMs),
      version: (before?.version ?? 0) + (changed ? 1 : 0),
    };
  }

  #keepAccount(account: Account): void {
    const { organization, accountId, number, version } = account;
    const before = this.#account(organization, accountId);
    if (account === before) return;
    if (before === undefined) this.#lastAccountNumber.set(organization, number);
    this.#accounts.set(keyOf(organization, accountId), account);
    // A time alone is kept by the ledger: the warehouse has no column for it.
    if (version !== before?.version) this.#rows.account(account);
  }

  /** The fields that a page may change of an existing user. A field equal to the stored one causes no warning. */
  #withoutGuarded(sent: UserSaid, before: User): UserSaid {
    const { organization, email, isAccountOwner, account } = sent;
    if (email !== undefined && email !== before.email) this.#ignored.add("email");
    if (isAccountOwner !== undefined && isAccountOwner !== before.isAccountOwner) {
      this.#ignored.add("isAccountOwner");
    }
    if (account !== undefined && !this.#isAccountOf(before, organization, account)) {
      this.#ignored.add("account");
    }
    return { ...sent, email: undefined, isAccountOwner: undefined, account: undefined };
  }

  /** Whether an account, with its name and avatar, is the user's as it is stored. */
  #isAccountOf(user: User, organization: number, sent: SentAccount | null): boolean {
    if (sent === null) return user.account === 0;
    const stored = this.#account(organization, sent.accountId);
    return (
      stored?.number === user.account &&
      (sent.name ?? stored.name) === stored.name &&
      (sent.avatar === undefined || sent.avatar === stored.avatar)
    );
  }

  #nextUserNumber(organization: number): number {
    const last = this.#lastUserNumber.get(organization) ?? this.#stored.lastUserNumber(organization);
    this.#lastUserNumber.set(organization, last + 1);
    return last + 1;
  }

  #lastAccountNumberOf(organization: number): number {
    return this.#lastAccountNumber.get(organization) ?? this.#stored.lastAccountNumber(organization);
  }
}

/** What a browser token may say of an account that exists. */
function withoutGuardedFields({ accountId, name }: SentAccount, before: Account): SentAccount {
  return { accountId, name: isMadeUp(before, "name") ? name : undefined, avatar: undefined };
}

/** The traits of which nothing is stored. */
function missing(stored: JsonObject = {}, once: JsonObject = {}): JsonObject {
  return Object.fromEntries(
    Object.entries(once).filter(([key]) => !Object.hasOwn(stored, key) || stored[key] === null),
  );
}

/** An organization and an id of its own as one text. */
export function keyOf(organization: number, id: string): string {
  return `${organization} ${id}`;
}
