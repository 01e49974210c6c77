/** The users and accounts of a group of requests: each as it is stored, and as the earlier requests have left
 * it. */

import type { JsonObject } from "../../../contract/json.ts";
import { churnReasonTrait, ownerTrait } from "../../../contract/notes-and-tasks.ts";
import type { Account, User } from "../../ledger/entities.ts";
import { emailKey } from "../../ledger/rules/email-key.ts";
import { userKey } from "../../ledger/rules/held-events.ts";
import type { KnownUser, Stored, Writes } from "../../ledger/transact.ts";
import { type Invalid, isInvalid } from "../admission/json.ts";
import type { AdmittedIdentify, SentAccount } from "../identify.ts";
import type { DecidedRows } from "./decided-rows.ts";
import { hasDefaultValue, hasNoPastTimestamp, type RequestTimes } from "./field-times.ts";
import { merge, mergeAccount, type News } from "./merge.ts";
import { isOfVisit, isSaidByPage, type PageRequest } from "./page-marks.ts";

/** The fields of a user in a request. */
interface UserFields extends Omit<AdmittedIdentify, "kind" | "messageId" | "zone"> {
  /** Used only for keys without a stored value. */
  readonly traitsOnce?: JsonObject | undefined;
  /** As in `PageRequest`. */
  readonly visitor?: string | undefined;
  readonly mayJoin?: boolean | undefined;
}

/** The time of a request that names an account, and the page that sent it. */
type AccountRequest = RequestTimes & PageRequest;

/** A field of an existing user that a request with a browser token does not change. */
export type GuardedField = "email" | "isAccountOwner" | "account" | "account.properties" | "properties";

/** An account as it is after a request, and its new attributes. */
interface ChangedAccount {
  readonly account: Account;
  readonly news: readonly News[];
}

export class DecidedPeople {
  readonly #stored: Stored;
  readonly #rows: DecidedRows;
  readonly #users = new Map<string, User>();
  /** The ids in `#users` by e-mail address, present or former. Made at the first look-up, which is rare. */
  #withEmail: Map<string, Set<string>> | undefined;
  readonly #accounts = new Map<string, Account>();
  readonly #lastUserNumber = new Map<number, number>();
  readonly #lastAccountNumber = new Map<number, number>();
  /** Of the present request: the users that it made, and the fields that it was not allowed to change. */
  readonly #made = new Set<string>();
  readonly #madeAccounts = new Set<string>();
  readonly #ignored = new Set<GuardedField>();

  constructor(stored: Stored, rows: DecidedRows) {
    this.#stored = stored;
    this.#rows = rows;
  }

  /** Begins the next request of the group. */
  beginRequest(): void {
    this.#made.clear();
    this.#madeAccounts.clear();
    this.#ignored.clear();
  }

  /** The fields that the request was not allowed to change and did not change. Undefined for most
   * requests. */
  get ignored(): readonly GuardedField[] | undefined {
    return this.#ignored.size === 0 ? undefined : [...this.#ignored];
  }

  known(organization: number, userId: string): KnownUser | undefined {
    const identified = this.#users.size === 0 ? undefined : this.#users.get(keyOf(organization, userId));
    return identified ?? this.#stored.known(organization, userId);
  }

  /** A user as a whole, of an identify or an item of a source: of a track only `known` is looked up. */
  user(organization: number, userId: string): User | undefined {
    return this.#users.get(keyOf(organization, userId)) ?? this.#stored.user(organization, userId);
  }

  isAccount(organization: number, accountId: string): boolean {
    return this.#account(organization, accountId) !== undefined;
  }

  /** Users who have this e-mail address now, upper and lower case alike. If there are more than three, some
   * of them. */
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
   * Registers a user or changes an existing one.
   * @param isIdentified false for a held item: its day is not the day on which the user was identified
   */
  identify(sent: UserFields, isIdentified = true): "stored" | "duplicate" | Invalid {
    if (this.#wasErased(sent)) return "duplicate";
    const key = keyOf(sent.organization, sent.userId);
    const before = this.user(sent.organization, sent.userId);
    if (before === undefined) this.#made.add(key);
    const isGuarded = sent.isBrowser && before !== undefined && !this.#made.has(key);
    const allowed = sent.isBrowser ? this.#withoutTraitsOfTeams(sent) : sent;
    const entry = isGuarded ? this.#withoutGuarded(allowed, before) : allowed;
    const traits = { ...missing(before?.traits, entry.traitsOnce), ...entry.traits };
    const isOfErased = entry.account && this.#wasAccountErased(entry.organization, entry.account, entry);
    const joined =
      entry.account && !isOfErased ? this.#merged(entry.organization, entry.account, entry) : undefined;
    if (isInvalid(joined)) return joined;
    const left = entry.account === null ? 0 : undefined;
    const merged = merge(before, { ...entry, traits }, joined?.account.number ?? left);
    if (isInvalid(merged)) return merged;
    // Not earlier: a rejected identify must not create or rename the account.
    if (joined !== undefined) this.#keepAccount(joined);
    const { changed, retimed, news, ...fields } = merged;
    if (!changed && !retimed) return "stored";
    const identifiedAtMs = isIdentified ? entry.timestampMs : entry.receivedAtMs;
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
    // Unchanged fields also get the newer timestamp, so that a late older message cannot overwrite them.
    if (changed) this.#rows.user(after);
    for (const version of news) this.#rows.version(after, version);
    return "stored";
  }

  /** Merges an account that was sent into the stored one, and writes it if it changed.
   * @returns its number. 0 if it was erased after the time of the request. Invalid if it would exceed the
   * limits */
  account(organization: number, sent: SentAccount, request: AccountRequest): number | Invalid {
    if (this.#wasAccountErased(organization, sent, request)) return 0;
    const changed = this.#merged(organization, sent, request);
    if (isInvalid(changed)) return changed;
    this.#keepAccount(changed);
    return changed.account.number;
  }

  writes(): Pick<Writes, "users" | "accounts"> {
    return { users: [...this.#users.values()], accounts: [...this.#accounts.values()] };
  }

  /** Whether the request is older than the erasure of its user. It was delivered late and is not stored. */
  #wasErased(entry: UserFields): boolean {
    if (hasNoPastTimestamp(entry)) return false;
    const { organization, userId, timestampMs } = entry;
    const erasedAtMs = this.#stored.erasedAtMs(userKey(organization, userId));
    return erasedAtMs !== undefined && timestampMs < erasedAtMs;
  }

  /** The same for an account. The request is treated as if it did not name the account. */
  #wasAccountErased(organization: number, { accountId }: SentAccount, request: RequestTimes): boolean {
    if (hasNoPastTimestamp(request)) return false;
    const erasedAtMs = this.#stored.accountErasedAtMs(organization, accountId);
    return erasedAtMs !== undefined && request.timestampMs < erasedAtMs;
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

  /** An account as it is after the request. A new account has the next number. Nothing is written. A browser
   * token changes no existing account, because other users belong to it. It may set the name of an account
   * that never had one, and within a day what no server has said of an account that the same visit made. It
   * never says reserved attributes.
   * @returns Invalid if the account would exceed the limits */
  #merged(organization: number, said: SentAccount, request: AccountRequest): ChangedAccount | Invalid {
    const sent = request.isBrowser === true ? this.#withoutReserved(said) : said;
    const { accountId } = sent;
    const before = this.#account(organization, accountId);
    const whole = mergeAccount(before, sent, request);
    const isMade = this.#madeAccounts.has(keyOf(organization, accountId));
    const isGuarded = before !== undefined && request.isBrowser === true && !isMade;
    const allowed = isGuarded ? withoutGuardedFields(sent, before, isOfVisit(before, request)) : sent;
    const merged = isGuarded ? mergeAccount(before, allowed, request) : whole;
    if (isInvalid(merged)) return merged;
    if (isInvalid(whole) || whole.news.length > merged.news.length) this.#ignored.add("account.properties");
    if (!isInvalid(whole) && (merged.name !== whole.name || merged.avatar !== whole.avatar)) {
      this.#ignored.add("account");
    }
    const { changed, retimed, news, ...fields } = merged;
    if (before !== undefined && !changed && !retimed) return { account: before, news };
    const account: Account = {
      organization,
      accountId,
      number: before?.number ?? this.#lastAccountNumberOf(organization) + 1,
      ...fields,
      createdAtMs: before?.createdAtMs ?? request.receivedAtMs,
      updatedAtMs: changed ? request.receivedAtMs : (before?.updatedAtMs ?? request.receivedAtMs),
      version: (before?.version ?? 0) + (changed ? 1 : 0),
    };
    return { account, news };
  }

  #keepAccount({ account, news }: ChangedAccount): void {
    const { organization, accountId, number, version } = account;
    const before = this.#account(organization, accountId);
    if (account === before) return;
    if (before === undefined) {
      this.#lastAccountNumber.set(organization, number);
      this.#madeAccounts.add(keyOf(organization, accountId));
    }
    this.#accounts.set(keyOf(organization, accountId), account);
    // If only a time changed, only the ledger stores it. The warehouse has no column for it.
    if (version !== before?.version) this.#rows.account(account);
    for (const values of news) this.#rows.accountVersion(account, values);
  }

  /** The fields that a page may change of an existing user. A field equal to the stored one causes no
   * warning. */
  #withoutGuarded(sent: UserFields, before: User): UserFields {
    const { organization, email, isAccountOwner, account } = sent;
    // Some clients make the user known, and say the address in a message after it. The visit could have said
    // both at once.
    const isFirstEmail = email && before.email === null && isOfVisit(before, sent);
    if (email !== undefined && email !== before.email && !isFirstEmail) this.#ignored.add("email");
    if (isAccountOwner !== undefined && isAccountOwner !== before.isAccountOwner) {
      this.#ignored.add("isAccountOwner");
    }
    const mayJoin = account !== undefined && account !== null && this.#mayJoin(sent, before, account);
    if (account !== undefined && !mayJoin && !this.#isAccountOf(before, organization, account)) {
      this.#ignored.add("account");
    }
    return {
      ...sent,
      email: isFirstEmail ? email : undefined,
      isAccountOwner: undefined,
      account: mayJoin ? account : undefined,
    };
  }

  /** Whether a page may give a user who exists an account: the same visit made the user known within a day,
   * no server has said an account, and the account is new or of the same visit, or an owner lets pages join
   * accounts that exist. */
  #mayJoin(sent: UserFields, before: User, { accountId }: SentAccount): boolean {
    const isSaid = before.account !== 0 || Object.hasOwn(before.fieldTimestampsMs, "account");
    if (!isOfVisit(before, sent) || (isSaid && !isSaidByPage(before, "account"))) return false;
    const account = this.#account(sent.organization, accountId);
    const isFree = account === undefined || account.number === before.account || isOfVisit(account, sent);
    return isFree || sent.mayJoin === true;
  }

  /** Reserved attributes are for teams: who looks after an account, and what it pays. */
  #withoutReserved(sent: SentAccount): SentAccount {
    const properties = this.#without(attributesOfTeams, sent.properties ?? {}, "account.properties");
    return properties === sent.properties ? sent : { ...sent, properties };
  }

  #withoutTraitsOfTeams(sent: UserFields): UserFields {
    const { traits, traitsOnce } = sent;
    const [kept, keptOnce] = [traits, traitsOnce].map(
      (all) => all && this.#without(traitsOfTeams, all, "properties"),
    );
    return { ...sent, traits: kept ?? traits, traitsOnce: keptOnce };
  }

  #without(names: ReadonlySet<string>, sent: JsonObject, field: GuardedField): JsonObject {
    if (!Object.keys(sent).some((key) => names.has(key))) return sent;
    this.#ignored.add(field);
    return Object.fromEntries(Object.entries(sent).filter(([key]) => !names.has(key)));
  }

  /** Whether an account, with its name and avatar, is the user's as it is stored. */
  #isAccountOf(user: User, organization: number, sent: SentAccount | null): boolean {
    if (sent === null) return user.account === 0;
    const stored = this.#account(organization, sent.accountId);
    return (
      stored?.number === user.account &&
      (sent.name ?? stored.name) === stored.name &&
      (sent.avatar === undefined || sent.avatar === stored.avatar) &&
      (sent.properties === undefined || hasAll(stored.traits, sent.properties))
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

/** What a team says of users, and a browser token never. */
const traitsOfTeams: ReadonlySet<string> = new Set([ownerTrait, churnReasonTrait]);
const attributesOfTeams = traitsOfTeams.union(new Set(["renewsAt", "contractValue", "seats"]));

/** The fields of an existing account that a browser token may change. @param isOwn whether the same visit
 * made the account */
function withoutGuardedFields(
  { accountId, name, avatar, properties }: SentAccount,
  before: Account,
  isOwn: boolean,
): SentAccount {
  const isFree = (field: string, isEmpty: boolean) => isOwn && (isEmpty || isSaidByPage(before, field));
  const mayName = hasDefaultValue(before, "name") || isFree("name", false);
  const own = Object.entries(properties ?? {}).filter(([key]) =>
    isFree(`properties.${key}`, !Object.hasOwn(before.traits, key)),
  );
  return {
    accountId,
    name: mayName ? name : undefined,
    avatar: isFree("avatar", before.avatar === null) ? avatar : undefined,
    ...(own.length > 0 && { properties: Object.fromEntries(own) }),
  };
}

/** Whether every value that was sent is the stored one. */
function hasAll(stored: JsonObject, sent: JsonObject): boolean {
  return Object.entries(sent).every(
    ([key, value]) => Object.hasOwn(stored, key) && JSON.stringify(stored[key]) === JSON.stringify(value),
  );
}

/** The traits of `once` that have no stored value. */
function missing(stored: JsonObject = {}, once: JsonObject = {}): JsonObject {
  return Object.fromEntries(
    Object.entries(once).filter(([key]) => !Object.hasOwn(stored, key) || stored[key] === null),
  );
}

/** An organization and an id of its own as one text. */
export function keyOf(organization: number, id: string): string {
  return `${organization} ${id}`;
}
