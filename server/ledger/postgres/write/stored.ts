/**
 * What a transaction is told of what is stored. A decision asks while it is made, and PostgreSQL answers only between two:
 * so what was not loaded yet is answered as if there were nothing and noted, and when the decision has come to its end all
 * that was noted is loaded and it is made again (see transact.ts).
 */
import type { Account, User } from "../../ports/entities.ts";
import type { ParkedItem, PersonId, PersonKey, PersonLink } from "../../ports/parking.ts";
import type { KnownUser, Message, MessageKey, Stored } from "../../ports/transact.ts";
import { type MessageIdHasher, uuidOf } from "../../rules/message-id-hash.ts";
import { accountText, personText } from "../../rules/person-text.ts";

/** An id of an organization: of a user, an account or an event, an e-mail address, or the text of a person's id. */
export interface Key {
  readonly organization: number;
  readonly id: string;
}

/** A message id, claimed in the transaction that looked it up. */
export class ClaimedMessage implements Message {
  readonly id: string;
  readonly remembered: boolean;

  constructor(id: string, remembered: boolean) {
    this.id = id;
    this.remembered = remembered;
  }
}

/** Answers to one kind of question, and the questions to which there is none yet. */
class Answers<Value> {
  readonly #known = new Map<string, Value | null>();
  #missing = new Map<string, Key>();

  /** What is stored; undefined when nothing is, or it is not known yet. */
  get(organization: number, id: string): Value | undefined {
    const key = keyOf(organization, id);
    const known = this.#known.get(key);
    if (known === undefined) this.#missing.set(key, { organization, id });
    return known ?? undefined;
  }

  /** Says that nothing is stored of these, until something is found. */
  nothing(keys: readonly Key[]): void {
    for (const { organization, id } of keys) {
      const key = keyOf(organization, id);
      if (!this.#known.has(key)) this.#known.set(key, null);
    }
  }

  found(organization: number, id: string, value: Value): void {
    this.#known.set(keyOf(organization, id), value);
  }

  /** It is not known after all. */
  unknown({ organization, id }: Key): void {
    this.#known.delete(keyOf(organization, id));
  }

  /** The questions without an answer, in the order in which they were asked; they are forgotten. */
  takeMissing(): readonly Key[] {
    const missing = [...this.#missing.values()];
    this.#missing = new Map();
    return missing;
  }
}

/** What is known of an organization. */
export interface OrganizationFacts {
  readonly hasParked: boolean;
  /** Of tombstones; null where nobody was erased. */
  readonly erasureKey: Uint8Array | null;
}

export interface LastNumbers {
  readonly organization: number;
  readonly lastUser: number;
  readonly lastAccount: number;
}

/** What a transaction knows from its beginning. */
export interface Begun {
  readonly transaction: number;
  /** Which segment of the inbox takes rows. */
  readonly segment: number;
  /** Message ids that nobody had within 24 hours. */
  readonly claimed: ReadonlySet<string>;
  /** Of the organizations that are needed those that there are. */
  readonly organizations: ReadonlySet<number>;
  /** Of the organizations that are locked. */
  readonly numbers: readonly LastNumbers[];
}

/** What is to be loaded. */
export interface Wanted {
  readonly known: readonly Key[];
  readonly users: readonly Key[];
  readonly accounts: readonly Key[];
  readonly emails: readonly Key[];
  readonly erased: readonly Key[];
  readonly links: readonly Key[];
  readonly linksTo: readonly Key[];
  readonly parked: readonly Key[];
  readonly labels: readonly Key[];
  readonly organizations: readonly number[];
}

/** Everything that is known by now. */
export class Known {
  readonly known = new Answers<KnownUser>();
  readonly users = new Answers<User>();
  readonly accounts = new Answers<Account>();
  readonly emails = new Answers<readonly string[]>();
  readonly erased = new Answers<number>();
  readonly links = new Answers<PersonLink>();
  readonly linksTo = new Answers<readonly PersonId[]>();
  readonly parked = new Answers<readonly ParkedItem[]>();
  readonly labels = new Answers<string>();
  readonly #organizations = new Map<number, OrganizationFacts>();
  #missingOrganizations = new Set<number>();

  organization(organization: number): OrganizationFacts | undefined {
    const facts = this.#organizations.get(organization);
    if (facts === undefined) this.#missingOrganizations.add(organization);
    return facts;
  }

  foundOrganization(organization: number, facts: OrganizationFacts): void {
    this.#organizations.set(organization, facts);
  }

  /** What was asked for and is not loaded; undefined when nothing was, and every answer was right. */
  takeMissing(): Wanted | undefined {
    const missing: Wanted = {
      known: this.known.takeMissing(),
      users: this.users.takeMissing(),
      accounts: this.accounts.takeMissing(),
      emails: this.emails.takeMissing(),
      erased: this.erased.takeMissing(),
      links: this.links.takeMissing(),
      linksTo: this.linksTo.takeMissing(),
      parked: this.parked.takeMissing(),
      labels: this.labels.takeMissing(),
      organizations: [...this.#missingOrganizations],
    };
    this.#missingOrganizations = new Set();
    return Object.values(missing).every((keys) => keys.length === 0) ? undefined : missing;
  }
}

/** Lives as long as its transaction. */
export class Loaded implements Stored {
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

  /** Whether nobody else changes users, accounts and what is parked of the organization until the end. */
  isLocked(organization: number): boolean {
    return this.#numbers.has(organization);
  }

  exists(organization: number): boolean {
    return this.begun.organizations.has(organization);
  }

  known(organization: number, userId: string): KnownUser | undefined {
    return this.answers.known.get(organization, userId);
  }

  user(organization: number, userId: string): User | undefined {
    return this.answers.users.get(organization, userId);
  }

  withEmail(organization: number, email: string): readonly string[] {
    return this.answers.emails.get(organization, email) ?? [];
  }

  erasedAtMs(person: PersonKey): number | undefined {
    const { organization } = person;
    if (!this.hasErased(organization)) return undefined;
    return this.answers.erased.get(organization, personText(person));
  }

  accountErasedAtMs(organization: number, accountId: string): number | undefined {
    if (!this.hasErased(organization)) return undefined;
    return this.answers.erased.get(organization, accountText(accountId));
  }

  account(organization: number, accountId: string): Account | undefined {
    return this.answers.accounts.get(organization, accountId);
  }

  message(key: MessageKey): ClaimedMessage {
    const id = uuidOf(this.#hasher.hash(key));
    return new ClaimedMessage(id, !this.begun.claimed.has(id));
  }

  hasParked(organization: number): boolean {
    return this.answers.organization(organization)?.hasParked ?? false;
  }

  /** Whether anybody of the organization was erased, or an account. */
  hasErased(organization: number): boolean {
    return (this.answers.organization(organization)?.erasureKey ?? null) !== null;
  }

  link(person: PersonKey): PersonLink | undefined {
    return this.answers.links.get(person.organization, personText(person));
  }

  linksTo(organization: number, userId: string): readonly PersonId[] {
    return this.answers.linksTo.get(organization, userId) ?? [];
  }

  parked(person: PersonKey): readonly ParkedItem[] {
    return this.answers.parked.get(person.organization, personText(person)) ?? [];
  }

  label(organization: number, event: string): string | undefined {
    return this.answers.labels.get(organization, event);
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

function keyOf(organization: number, id: string): string {
  return `${organization} ${id}`;
}
