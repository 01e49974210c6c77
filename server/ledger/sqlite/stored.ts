/**
 * What a group of requests needs, loaded from the ledger before they are decided. A lookup of something that
 * was not among the needs throws: SQLite could answer it, PostgreSQL could not, and to take it for "not
 * stored" would make a second user of the first.
 */
import type { Account, KnownUser, MessageKey, Needs, Stored, User } from "../ledger.ts";
import type { Accounts } from "./accounts.ts";
import { ByOrganization } from "./by-organization.ts";
import type { KnownUsers } from "./known-users.ts";
import type { MessageIdHash } from "./message-id-table.ts";
import type { MessageIds } from "./message-ids.ts";
import type { Tombstones } from "./tombstones.ts";
import type { Users } from "./users.ts";

export interface Sources {
  readonly users: Users;
  readonly accounts: Accounts;
  readonly knownUsers: KnownUsers;
  readonly messageIds: MessageIds;
  readonly tombstones: Tombstones;
}

interface FoundUser {
  readonly organization: number;
  readonly userId: string;
  readonly known: KnownUser;
}

export class LoadedNeeds implements Stored {
  readonly transaction: number;
  readonly #sources: Sources;
  readonly #known = new ByOrganization<KnownUser | null>();
  readonly #users = new ByOrganization<User | null>();
  readonly #erasedAtMs = new ByOrganization<number>();
  readonly #accounts = new ByOrganization<Account | null>();
  readonly #messageIds = new ByOrganization<{ hash: MessageIdHash; remembered: boolean }>();
  // Functions, not methods: who decides passes them on to count the next number.
  readonly lastUserNumber = (organization: number): number => this.#sources.users.lastNumber(organization);
  readonly lastAccountNumber = (organization: number): number =>
    this.#sources.accounts.lastNumber(organization);

  /** Known users that were not in the cache, to be remembered after the commit. */
  readonly found: FoundUser[] = [];

  constructor(needs: Needs, sources: Sources, transaction: number, nowMs: number) {
    this.transaction = transaction;
    this.#sources = sources;
    for (const { organization, userId } of needs.known) {
      this.#known.set(organization, userId, this.#findKnown(organization, userId));
    }
    for (const { organization, userId } of needs.users) {
      this.#users.set(organization, userId, sources.users.find(organization, userId) ?? null);
      const erasedAtMs = sources.tombstones.erasedAtMs(organization, userId);
      if (erasedAtMs !== undefined) this.#erasedAtMs.set(organization, userId, erasedAtMs);
    }
    for (const { organization, accountId } of needs.accounts) {
      this.#accounts.set(organization, accountId, sources.accounts.find(organization, accountId) ?? null);
    }
    for (const key of needs.messageIds) {
      const hash = sources.messageIds.hash(key);
      const remembered = sources.messageIds.remembers(hash, nowMs);
      this.#messageIds.set(key.organization, key.messageId, { hash, remembered });
    }
  }

  known(organization: number, userId: string): KnownUser | undefined {
    return needed(this.#known.get(organization, userId), "user (known)") ?? undefined;
  }

  user(organization: number, userId: string): User | undefined {
    return needed(this.#users.get(organization, userId), "user") ?? undefined;
  }

  erasedAtMs(organization: number, userId: string): number | undefined {
    needed(this.#users.get(organization, userId), "user");
    return this.#erasedAtMs.get(organization, userId);
  }

  account(organization: number, accountId: string): Account | undefined {
    return needed(this.#accounts.get(organization, accountId), "account") ?? undefined;
  }

  remembers(key: MessageKey): boolean {
    return needed(this.#messageIds.get(key.organization, key.messageId), "message id").remembered;
  }

  /** The hash of a message id that was needed. */
  hashOf(key: MessageKey): MessageIdHash {
    return needed(this.#messageIds.get(key.organization, key.messageId), "message id").hash;
  }

  #findKnown(organization: number, userId: string): KnownUser | null {
    const cached = this.#sources.knownUsers.get(organization, userId);
    if (cached !== undefined) return cached;
    const known = this.#sources.users.known(organization, userId);
    if (known === undefined) return null;
    this.found.push({ organization, userId, known });
    return known;
  }
}

function needed<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`A ${what} was asked for that was not among the needs.`);
  return value;
}
