/**
 * The reads of a transaction. A decision is synchronous, and PostgreSQL answers only between two decisions. A
 * look-up without a known result is recorded and returns no stored value. When the decision ends, the
 * recorded look-ups run in one round trip, and the decision runs again (see transact.ts).
 */
import type { Account, User } from "../../entities.ts";
import type { HeldEvent, PersonId, PersonKey, PersonLink } from "../../rules/held-events.ts";
import { type LastingId, lastingIdOf, type MessageIdHasher, uuidOf } from "../../rules/message-id-hash.ts";
import { accountText, personText } from "../../rules/person-text.ts";
import type { KnownUser, Message, MessageKey, Stored } from "../../transact.ts";
import type { Tx } from "../connect.ts";
import { findAccounts, findEmails, findErased, findFacts, findKnown, findUsers } from "./finders.ts";
import { findHeldEvents, findLabels, findLinks, findLinksTo } from "./held-event-reads.ts";
import type { Key } from "./keys.ts";
import { Lookup } from "./lookup.ts";
import { textOfLasting } from "./message-ids.ts";
import type { LastNumbers } from "./organization-locks.ts";

/** A message id, claimed in the transaction that looked it up. */
export class ClaimedMessage implements Message {
  readonly id: string;
  readonly remembered: boolean;
  /** The id, if this transaction claimed it for good. */
  readonly newForGood: LastingId | undefined;

  constructor(id: string, remembered: boolean, newForGood: LastingId | undefined) {
    this.id = id;
    this.remembered = remembered;
    this.newForGood = newForGood;
  }

  get isNewForGood(): boolean {
    return this.newForGood !== undefined;
  }
}

/** The kinds of look-ups. */
function allLookups() {
  const known = new Lookup(findKnown);
  const facts = new Lookup(findFacts);
  return {
    facts,
    known,
    users: new Lookup(findUsers),
    accounts: new Lookup(findAccounts),
    emails: new Lookup(findEmails),
    erased: new Lookup((tx, keys) => findErased(tx, keys, facts)),
    links: new Lookup((tx, keys) => findLinks(tx, keys, known)),
    linksTo: new Lookup(findLinksTo),
    held: new Lookup(findHeldEvents),
    labels: new Lookup(findLabels),
  };
}

type Kind = keyof ReturnType<typeof allLookups>;

/** Keys of look-ups by their kind. */
export type Wanted = { readonly [kind in Kind]?: readonly Key[] };

/** All known results. */
export class Known {
  readonly of = allLookups();

  /** Reads results: all of one kind by one statement, all kinds in one round trip. */
  async load(tx: Tx, wanted: Wanted): Promise<void> {
    const kinds = Object.keys(wanted) as Kind[];
    await Promise.all(kinds.map((kind) => this.of[kind].load(tx, wanted[kind] ?? [])));
  }

  /** The recorded look-ups without a result. Undefined if every result was right. */
  takeMissing(): Wanted | undefined {
    const missing = Object.entries(this.of).map(([kind, answers]) => [kind, answers.takeMissing()] as const);
    return missing.every(([, keys]) => keys.length === 0) ? undefined : Object.fromEntries(missing);
  }
}

/** The first reads of a transaction. */
export interface Begun {
  readonly transaction: number;
  /** The segment of the inbox for new rows. */
  readonly segment: number;
  /** Message ids that were not acknowledged in the last 24 hours. */
  readonly claimed: ReadonlySet<string>;
  /** Message ids that are to be remembered for good and were not yet, by their text. */
  readonly lasting: ReadonlyMap<string, LastingId>;
  /** The needed organizations that exist. */
  readonly organizations: ReadonlySet<number>;
  /** The last numbers of the locked organizations. */
  readonly numbers: readonly LastNumbers[];
}

/** It exists as long as its transaction. */
export class Reads implements Stored {
  readonly begun: Begun;
  readonly answers: Known;
  readonly #hasher: MessageIdHasher;
  readonly #numbers: ReadonlyMap<number, LastNumbers>;

  constructor(begun: Begun, answers: Known, hasher: MessageIdHasher) {
    this.#hasher = hasher;
    this.begun = begun;
    this.answers = answers;
    this.#numbers = new Map(begun.numbers.map((row) => [row.organization, row]));
  }

  get transaction(): number {
    return this.begun.transaction;
  }

  /** Whether this transaction alone changes users, accounts and held events of the organization. */
  isLocked(organization: number): boolean {
    return this.#numbers.has(organization);
  }

  exists(organization: number): boolean {
    return this.begun.organizations.has(organization);
  }

  known(organization: number, userId: string): KnownUser | undefined {
    return this.answers.of.known.get(organization, userId);
  }

  user(organization: number, userId: string): User | undefined {
    return this.answers.of.users.get(organization, userId);
  }

  withEmail(organization: number, email: string): readonly string[] {
    return this.answers.of.emails.get(organization, email) ?? [];
  }

  erasedAtMs(person: PersonKey): number | undefined {
    const { organization } = person;
    if (!this.hasErased(organization)) return undefined;
    return this.answers.of.erased.get(organization, personText(person));
  }

  accountErasedAtMs(organization: number, accountId: string): number | undefined {
    if (!this.hasErased(organization)) return undefined;
    return this.answers.of.erased.get(organization, accountText(accountId));
  }

  account(organization: number, accountId: string): Account | undefined {
    return this.answers.of.accounts.get(organization, accountId);
  }

  message(key: MessageKey): ClaimedMessage {
    const hash = this.#hasher.hash(key);
    const id = uuidOf(hash);
    const lasting = lastingIdOf(key, hash);
    const isKnown = lasting !== undefined && !this.begun.lasting.has(textOfLasting(lasting));
    return new ClaimedMessage(id, isKnown || !this.begun.claimed.has(id), isKnown ? undefined : lasting);
  }

  hasHeldEvents(organization: number): boolean {
    return this.answers.of.facts.get(organization, "")?.hasHeldEvents ?? false;
  }

  /** Whether a user or an account of the organization was erased. */
  hasErased(organization: number): boolean {
    return (this.answers.of.facts.get(organization, "")?.erasureKey ?? null) !== null;
  }

  link(person: PersonKey): PersonLink | undefined {
    return this.answers.of.links.get(person.organization, personText(person));
  }

  linksTo(organization: number, userId: string): readonly PersonId[] {
    return this.answers.of.linksTo.get(organization, userId) ?? [];
  }

  heldEvents(person: PersonKey): readonly HeldEvent[] {
    return this.answers.of.held.get(person.organization, personText(person)) ?? [];
  }

  label(organization: number, event: string): string | undefined {
    return this.answers.of.labels.get(organization, event);
  }

  lastUserNumber(organization: number): number {
    return this.#numbersOf(organization).lastUser;
  }

  lastAccountNumber(organization: number): number {
    return this.#numbersOf(organization).lastAccount;
  }

  #numbersOf(organization: number): LastNumbers {
    const numbers = this.#numbers.get(organization);
    if (numbers === undefined)
      throw new Error("The last numbers of an organization were asked for that needs none.");
    return numbers;
  }
}
