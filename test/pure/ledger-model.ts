/** A ledger in memory, as simple as possible: the stored data that `decide` reads, and its writes. */
import { limits } from "../../contract/limits.ts";
import type { Account, User } from "../../server/ledger/entities.ts";
import {
  type HeldEvent,
  type HeldEventWrites,
  type PersonId,
  type PersonKey,
  type PersonLink,
  userKey,
  visitorKey,
} from "../../server/ledger/rules/held-events.ts";
import type { Message, Needs, Stored, Writes } from "../../server/ledger/transact.ts";

const keyOf = (organization: number, id: string) => JSON.stringify([organization, id]);
const organizationOf = (key: string): number => JSON.parse(key)[0];
/** A person's id as the key of a map. */
export const personKeyOf = ({ organization, kind, id }: PersonKey) =>
  JSON.stringify([organization, kind, id]);
const personOf = (key: string): PersonKey => {
  const [organization, kind, id] = JSON.parse(key);
  return { organization, kind, id };
};

class LookedUpMessage implements Message {
  readonly key: string;
  readonly remembered: boolean;
  readonly isNewForGood = false;

  constructor(key: string, remembered: boolean) {
    this.key = key;
    this.remembered = remembered;
  }
}

export class LedgerModel {
  readonly users = new Map<string, User>();
  readonly accounts = new Map<string, Account>();
  readonly messageIds = new Set<string>();
  readonly held = new Map<string, readonly HeldEvent[]>();
  readonly links = new Map<string, PersonLink>();
  readonly labels = new Map<string, string>();
  /** Items that were dropped because a person had too many. */
  dropped: HeldEvent[] = [];
  /** Their numbers are not given again. */
  readonly #erased: User[] = [];
  readonly #erasedAtMs = new Map<string, number>();
  /** Every row of the inbox, by table. */
  readonly rows = new Map<string, unknown[][]>();
  #transactions = 0;

  user(organization: number, userId: string): User | undefined {
    return this.users.get(keyOf(organization, userId));
  }

  erase(organization: number, userId: string, atMs: number): void {
    const user = this.user(organization, userId);
    if (user !== undefined) this.#erased.push(user);
    this.users.delete(keyOf(organization, userId));
    const erased = [userKey(organization, userId), ...this.#linksTo(organization, userId)];
    for (const person of erased) {
      this.#erasedAtMs.set(personKeyOf(person), atMs);
      this.links.delete(personKeyOf(person));
      this.held.delete(personKeyOf(person));
    }
  }

  #linksTo(organization: number, userId: string): PersonKey[] {
    return [...this.links]
      .map(([key, link]) => ({ person: personOf(key), link }))
      .filter(({ person, link }) => person.organization === organization && link.userId === userId)
      .map(({ person }) => person);
  }

  /** The data for a transaction that begins now. It throws when a read is not among the transaction's
   * needs. */
  stored(needs: Needs): Stored {
    this.#transactions += 1;
    const isNeeded = (asked: readonly object[], one: object) =>
      asked.some((each) => Bun.deepMatch(one, each));
    const needed = (asked: readonly object[], one: object) => {
      if (!isNeeded(asked, one)) throw new Error(`not needed: ${JSON.stringify(one)}`);
    };
    const reached = new Set<string>();
    const reach = (person: PersonKey) => {
      const { organization, kind, id } = person;
      const to = this.links.get(personKeyOf(person))?.userId;
      const led = to === undefined ? [] : [userKey(organization, to), visitorKey(organization, to)];
      const others = [...(kind === "user" ? [id] : []), ...(to === undefined ? [] : [to])];
      const linked = others.flatMap((userId) => this.#linksTo(organization, userId));
      for (const each of [person, ...led, ...linked]) reached.add(personKeyOf(each));
    };
    for (const person of needs.people) reach(person);
    const neededOfPerson = (person: PersonKey) => {
      if (!reached.has(personKeyOf(person))) throw new Error(`not needed: ${personKeyOf(person)}`);
    };
    const neededOfUser = (asked: readonly object[], organization: number, userId: string) => {
      if (!isNeeded(asked, { organization, userId })) neededOfPerson(userKey(organization, userId));
    };
    const heldAccounts = (organization: number) =>
      [...this.held].flatMap(([key, items]) =>
        organizationOf(key) === organization
          ? items.map(({ accountId }) => ({ organization, accountId }))
          : [],
      );
    const numbers = (of: Iterable<User | Account>, organization: number) =>
      [...of].filter((one) => one.organization === organization).map(({ number }) => number);
    return {
      exists: () => true,
      known: (organization, userId) => {
        neededOfUser(needs.known, organization, userId);
        return this.user(organization, userId);
      },
      user: (organization, userId) => {
        neededOfUser(needs.users, organization, userId);
        return this.user(organization, userId);
      },
      withEmail: (organization, email) => {
        const found = this.#withEmail(organization, email);
        for (const userId of found) reach(userKey(organization, userId));
        return found;
      },
      erasedAtMs: (person) => {
        neededOfPerson(person);
        return this.#erasedAtMs.get(personKeyOf(person));
      },
      account: (organization, accountId) => {
        needed([...needs.accounts, ...heldAccounts(organization)], { organization, accountId });
        return this.accounts.get(keyOf(organization, accountId));
      },
      accountErasedAtMs: (organization, accountId) => {
        needed([...needs.accounts, ...heldAccounts(organization)], { organization, accountId });
        return undefined;
      },
      message: (messageKey) => {
        needed(needs.messageIds, messageKey);
        const key = JSON.stringify(messageKey);
        return new LookedUpMessage(key, this.messageIds.has(key));
      },
      ...this.#heldEvents(neededOfPerson),
      lastUserNumber: (organization) =>
        Math.max(0, ...numbers([...this.users.values(), ...this.#erased], organization)),
      lastAccountNumber: (organization) => Math.max(0, ...numbers(this.accounts.values(), organization)),
      transaction: this.#transactions,
    };
  }

  #withEmail(organization: number, email: string): string[] {
    return [...this.users.values()]
      .filter((user) => user.organization === organization)
      .filter((user) => user.email?.toLowerCase() === email.toLowerCase())
      .map(({ userId }) => userId);
  }

  #heldEvents(
    neededOf: (person: PersonKey) => void,
  ): Pick<Stored, "hasHeldEvents" | "link" | "linksTo" | "heldEvents" | "label"> {
    return {
      hasHeldEvents: (organization) =>
        [...this.held, ...this.links].some(([key]) => organizationOf(key) === organization),
      link: (person) => {
        neededOf(person);
        return this.links.get(personKeyOf(person));
      },
      linksTo: (organization, userId) => {
        neededOf(userKey(organization, userId));
        return this.#linksTo(organization, userId).map(({ kind, id }): PersonId => ({ kind, id }));
      },
      heldEvents: (person) => {
        neededOf(person);
        return this.held.get(personKeyOf(person)) ?? [];
      },
      label: (organization, event) => {
        return this.labels.get(keyOf(organization, event));
      },
    };
  }

  /** Keeps what a transaction wrote. */
  write(writes: Writes): void {
    for (const user of writes.users) this.users.set(keyOf(user.organization, user.userId), user);
    for (const account of writes.accounts)
      this.accounts.set(keyOf(account.organization, account.accountId), account);
    for (const message of writes.messages) {
      if (message instanceof LookedUpMessage) this.messageIds.add(message.key);
    }
    if (writes.heldEvents !== undefined) this.#hold(writes.heldEvents);
    for (const { table, rows, body } of writes.inbox) {
      const lines: unknown[][] = body
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
      if (lines.length !== rows) throw new Error(`${table} says ${rows} rows and has ${lines.length}`);
      this.rows.set(table, [...(this.rows.get(table) ?? []), ...lines]);
    }
  }

  #hold({ taken, held, links, labels }: HeldEventWrites): void {
    for (const person of taken) this.held.delete(personKeyOf(person));
    for (const { organization, kind, id, ...item } of held) {
      const key = personKeyOf({ organization, kind, id });
      const items = [...(this.held.get(key) ?? []), item].sort((a, b) => a.receivedAtMs - b.receivedAtMs);
      this.held.set(key, items);
    }
    for (const [key, items] of this.held) {
      const kept = items.slice(-limits.heldEvents);
      this.dropped.push(...items.slice(0, items.length - kept.length));
      this.held.set(key, kept);
    }
    for (const { link, ...person } of links) {
      if (link === null) this.links.delete(personKeyOf(person));
      else this.links.set(personKeyOf(person), link);
    }
    for (const { organization, event, label } of labels) this.labels.set(keyOf(organization, event), label);
  }
}
