/** The users and accounts of a group of requests: each as it is stored, and as the requests before have left it. */
import type { Account, JsonObject, User } from "../ledger/ledger.ts";
import { userKey } from "../ledger/parking.ts";
import type { KnownUser, Stored, Writes } from "../ledger/transaction.ts";
import type { DecidedRows } from "./decided-rows.ts";
import type { AdmittedIdentify, SentAccount } from "./identify.ts";
import { type Invalid, isInvalid } from "./json.ts";
import { merge } from "./merge.ts";

/** What is said of a user, whoever says it. */
interface UserSaid extends Omit<AdmittedIdentify, "kind" | "messageId" | "zone"> {
  /** Said only where nothing is stored. */
  readonly traitsOnce?: JsonObject | undefined;
}

export class DecidedPeople {
  readonly #stored: Stored;
  readonly #rows: DecidedRows;
  readonly #users = new Map<string, User>();
  /** Who of `#users` has, or had, an address; made when the first is looked for, which is rare. */
  #withEmail: Map<string, Set<string>> | undefined;
  readonly #accounts = new Map<string, Account>();
  readonly #lastUserNumber = new Map<number, number>();
  readonly #lastAccountNumber = new Map<number, number>();

  constructor(stored: Stored, rows: DecidedRows) {
    this.#stored = stored;
    this.#rows = rows;
  }

  known(organization: number, userId: string): KnownUser | undefined {
    const identified = this.#users.size === 0 ? undefined : this.#users.get(keyOf(organization, userId));
    return identified ?? this.#stored.known(organization, userId);
  }

  /** Users who have this e-mail address now, upper and lower case alike; of more than three some. */
  withEmail(organization: number, email: string): readonly string[] {
    const has = (user: User) => user.email?.toLowerCase() === email.toLowerCase();
    const kept = this.#stored.withEmail(organization, email).filter((userId) => {
      const changed = this.#users.get(keyOf(organization, userId));
      return changed === undefined || has(changed);
    });
    if (this.#withEmail === undefined) {
      this.#withEmail = new Map();
      for (const user of this.#users.values()) this.#noteEmail(user);
    }
    const noted = [...(this.#withEmail.get(keyOf(organization, email.toLowerCase())) ?? [])];
    const changed = noted.filter((userId) => {
      const user = this.#users.get(keyOf(organization, userId));
      return user !== undefined && has(user);
    });
    return [...new Set([...kept, ...changed])];
  }

  /**
   * Registers a user or changes the one who exists.
   * @param isIdentified false for what was said of somebody before it was known who that is: it is no day on which the
   * user was identified
   */
  identify(entry: UserSaid, isIdentified = true): "stored" | "duplicate" | Invalid {
    if (this.#wasErased(entry)) return "duplicate";
    const key = keyOf(entry.organization, entry.userId);
    const before = this.#users.get(key) ?? this.#stored.user(entry.organization, entry.userId);
    const traits = { ...missing(before?.traits, entry.traitsOnce), ...entry.traits };
    const merged = merge(before, { ...entry, traits }, this.#accountNumber(entry));
    if (isInvalid(merged)) return merged;
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
    // What was only said again is kept by the ledger, so that what is delivered late cannot win over it.
    if (changed) this.#rows.user(after);
    for (const said of news) this.#rows.version(after, said);
    return "stored";
  }

  /** The number of an account that was sent; a new or changed account is written. */
  account(organization: number, sent: SentAccount, atMs: number): number {
    const key = keyOf(organization, sent.accountId);
    const before = this.#accounts.get(key) ?? this.#stored.account(organization, sent.accountId);
    const name = sent.name ?? before?.name ?? sent.accountId;
    const avatar = sent.avatar === undefined ? (before?.avatar ?? null) : sent.avatar;
    if (before !== undefined && before.name === name && before.avatar === avatar) return before.number;
    const after: Account = {
      organization,
      accountId: sent.accountId,
      number: before?.number ?? this.#nextAccountNumber(organization),
      name,
      avatar,
      createdAtMs: before?.createdAtMs ?? atMs,
      updatedAtMs: atMs,
      version: (before?.version ?? 0) + 1,
    };
    this.#accounts.set(key, after);
    this.#rows.account(after);
    return after.number;
  }

  writes(): Pick<Writes, "users" | "accounts"> {
    return { users: [...this.#users.values()], accounts: [...this.#accounts.values()] };
  }

  /** Whether this was said before the user was erased, and only delivered late: it stays out. What says no time
   * of its own is said now. */
  #wasErased({ organization, userId, saidAtMs, receivedAtMs }: UserSaid): boolean {
    if (saidAtMs >= receivedAtMs) return false;
    const erasedAtMs = this.#stored.erasedAtMs(userKey(organization, userId));
    return erasedAtMs !== undefined && saidAtMs < erasedAtMs;
  }

  #noteEmail({ organization, userId, email }: User): void {
    if (this.#withEmail === undefined || email === null) return;
    const key = keyOf(organization, email.toLowerCase());
    this.#withEmail.set(key, (this.#withEmail.get(key) ?? new Set()).add(userId));
  }

  #accountNumber({ organization, account, receivedAtMs }: UserSaid): number | undefined {
    if (!account) return account === null ? 0 : undefined;
    return this.account(organization, account, receivedAtMs);
  }

  #nextUserNumber(organization: number): number {
    const last = this.#lastUserNumber.get(organization) ?? this.#stored.lastUserNumber(organization);
    this.#lastUserNumber.set(organization, last + 1);
    return last + 1;
  }

  #nextAccountNumber(organization: number): number {
    const last = this.#lastAccountNumber.get(organization) ?? this.#stored.lastAccountNumber(organization);
    this.#lastAccountNumber.set(organization, last + 1);
    return last + 1;
  }
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
