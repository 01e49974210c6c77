/** The look-ups of a transaction. Each runs when it is called, because a look-up in SQLite costs no round
 * trip. */
import type { Account, User } from "../../entities.ts";
import type { HeldEvent, PersonId, PersonKey, PersonLink } from "../../rules/held-events.ts";
import { type LastingId, lastingIdOf, type MessageIdHash } from "../../rules/message-id-hash.ts";
import type { KnownUser, Message, MessageKey, Stored } from "../../transact.ts";
import { ByOrganization } from "../by-organization.ts";
import type { LastingIds } from "../lasting-ids.ts";
import type { MessageIds } from "../message-ids.ts";
import type { Accounts } from "./accounts.ts";
import type { SqliteHeldEvents } from "./held-events.ts";
import type { KnownOrganizations } from "./known-organizations.ts";
import type { KnownUsers } from "./known-users.ts";
import type { Tombstones } from "./tombstones.ts";
import type { Users } from "./users.ts";

export interface Sources {
  readonly organizations: KnownOrganizations;
  readonly users: Users;
  readonly accounts: Accounts;
  readonly knownUsers: KnownUsers;
  readonly messageIds: MessageIds;
  readonly lastingIds: LastingIds;
  readonly tombstones: Tombstones;
  readonly heldEvents: SqliteHeldEvents;
}

interface FoundUser {
  readonly organization: number;
  readonly userId: string;
  readonly known: KnownUser;
}

/** A message id that was looked up, with its stored hash. */
export class HashedMessage implements Message {
  readonly hash: MessageIdHash;
  readonly remembered: boolean;
  /** The id, if it is to be remembered for good and is not yet. */
  readonly newForGood: LastingId | undefined;

  constructor(hash: MessageIdHash, remembered: boolean, newForGood: LastingId | undefined) {
    this.hash = hash;
    this.remembered = remembered;
    this.newForGood = newForGood;
  }

  get isNewForGood(): boolean {
    return this.newForGood !== undefined;
  }
}

/** It exists as long as its transaction. */
export class LookedUp implements Stored {
  readonly transaction: number;
  readonly #sources: Sources;
  readonly #nowMs: number;
  /** A cache: the write of a user reads the earlier row again. */
  readonly #users = new ByOrganization<User | null>();
  readonly #accounts = new ByOrganization<Account | null>();

  /** Known users that were not in the cache. They are added to it after the commit. */
  readonly found: FoundUser[] = [];

  constructor(sources: Sources, transaction: number, nowMs: number) {
    this.transaction = transaction;
    this.#sources = sources;
    this.#nowMs = nowMs;
  }

  exists(organization: number): boolean {
    return this.#sources.organizations.has(organization);
  }

  known(organization: number, userId: string): KnownUser | undefined {
    const cached = this.#sources.knownUsers.get(organization, userId);
    if (cached !== undefined) return cached;
    const known = this.#sources.users.known(organization, userId);
    if (known !== undefined) this.found.push({ organization, userId, known });
    return known;
  }

  user(organization: number, userId: string): User | undefined {
    return once(this.#users, organization, userId, () => this.#sources.users.find(organization, userId));
  }

  withEmail(organization: number, email: string): readonly string[] {
    return this.#sources.users.withEmail(organization, email);
  }

  erasedAtMs(person: PersonKey): number | undefined {
    return this.#sources.tombstones.erasedAtMs(person);
  }

  accountErasedAtMs(organization: number, accountId: string): number | undefined {
    return this.#sources.tombstones.accountErasedAtMs(organization, accountId);
  }

  account(organization: number, accountId: string): Account | undefined {
    return once(this.#accounts, organization, accountId, () =>
      this.#sources.accounts.find(organization, accountId),
    );
  }

  message(key: MessageKey): HashedMessage {
    const { hash, remembered } = this.#sources.messageIds.find(key, this.#nowMs);
    const lasting = lastingIdOf(key, hash);
    const isKnown = lasting !== undefined && this.#sources.lastingIds.has(lasting);
    return new HashedMessage(hash, remembered || isKnown, isKnown ? undefined : lasting);
  }

  hasHeldEvents(organization: number): boolean {
    return this.#sources.heldEvents.has(organization);
  }

  link(person: PersonKey): PersonLink | undefined {
    return this.#sources.heldEvents.links.find(person);
  }

  linksTo(organization: number, userId: string): readonly PersonId[] {
    return this.#sources.heldEvents.links.to(organization, userId);
  }

  heldEvents(person: PersonKey): readonly HeldEvent[] {
    return this.#sources.heldEvents.items.of(person);
  }

  label(organization: number, event: string): string | undefined {
    return this.#sources.heldEvents.eventLabels.find(organization, event);
  }

  lastUserNumber(organization: number): number {
    return this.#sources.users.lastNumber(organization);
  }

  lastAccountNumber(organization: number): number {
    return this.#sources.accounts.lastNumber(organization);
  }
}

function once<Value>(
  kept: ByOrganization<Value | null>,
  organization: number,
  key: string,
  find: () => Value | undefined,
): Value | undefined {
  const known = kept.get(organization, key);
  if (known !== undefined) return known ?? undefined;
  const found = find();
  kept.set(organization, key, found ?? null);
  return found;
}
