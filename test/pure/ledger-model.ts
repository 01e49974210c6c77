/** A ledger in memory, as plain as can be: what `decide` is told of and what it writes. */
import { limits } from "../../contract/limits.ts";
import type { Account, User } from "../../server/ledger/ledger.ts";
import type { ParkedItem, ParkingWrites, PersonLink } from "../../server/ledger/parking.ts";
import type { Message, Needs, Stored, Writes } from "../../server/ledger/transaction.ts";

const keyOf = (organization: number, id: string) => JSON.stringify([organization, id]);
const organizationOf = (key: string): number => JSON.parse(key)[0];
const idOf = (key: string): string => JSON.parse(key)[1];

class LookedUpMessage implements Message {
  readonly key: string;
  readonly remembered: boolean;

  constructor(key: string, remembered: boolean) {
    this.key = key;
    this.remembered = remembered;
  }
}

export class LedgerModel {
  readonly users = new Map<string, User>();
  readonly accounts = new Map<string, Account>();
  readonly messageIds = new Set<string>();
  readonly parked = new Map<string, readonly ParkedItem[]>();
  readonly links = new Map<string, PersonLink>();
  readonly labels = new Map<string, string>();
  /** Items that were dropped because a person had too many. */
  dropped: ParkedItem[] = [];
  readonly #erasedAtMs = new Map<string, number>();
  /** Every row of the inbox, by table. */
  readonly rows = new Map<string, unknown[][]>();
  #transactions = 0;

  user(organization: number, userId: string): User | undefined {
    return this.users.get(keyOf(organization, userId));
  }

  erase(organization: number, userId: string, atMs: number): void {
    this.users.delete(keyOf(organization, userId));
    this.#erasedAtMs.set(keyOf(organization, userId), atMs);
  }

  /** What a transaction that begins now is told. It throws when it is asked for more than it needed. */
  stored(needs: Needs): Stored {
    this.#transactions += 1;
    const isNeeded = (asked: readonly object[], one: object) =>
      asked.some((each) => Bun.deepMatch(one, each));
    const needed = (asked: readonly object[], one: object) => {
      if (!isNeeded(asked, one)) throw new Error(`not needed: ${JSON.stringify(one)}`);
    };
    const named = new Set<string>();
    // What is needed of an id is needed of the user to whom it is linked, too, and of the others that are linked there.
    const neededOf = (
      organization: number,
      id: string,
      asked: readonly object[] = needs.people,
      key = "id",
    ) => {
      if (isNeeded(asked, { organization, [key]: id }) || named.has(keyOf(organization, id))) return;
      const linked = [...this.links].filter(([of]) => organizationOf(of) === organization);
      const leads = (one: string) =>
        isNeeded(needs.people, { organization, id: one }) ||
        linked.some(
          ([of, { userId }]) => userId === one && isNeeded(needs.people, { organization, id: idOf(of) }),
        );
      if (
        linked.some(
          ([of, { userId }]) => (leads(idOf(of)) && userId === id) || (leads(userId) && idOf(of) === id),
        )
      )
        return;
      throw new Error(`not needed: ${JSON.stringify([organization, id])}`);
    };
    const parkedAccounts = (organization: number) =>
      [...this.parked].flatMap(([key, items]) =>
        organizationOf(key) === organization
          ? items.map(({ accountId }) => ({ organization, accountId }))
          : [],
      );
    const numbers = (of: Iterable<User | Account>, organization: number) =>
      [...of].filter((one) => one.organization === organization).map(({ number }) => number);
    return {
      known: (organization, userId) => {
        neededOf(organization, userId, needs.known, "userId");
        return this.user(organization, userId);
      },
      user: (organization, userId) => {
        neededOf(organization, userId, needs.users, "userId");
        return this.user(organization, userId);
      },
      withEmail: (organization, email) => {
        const found = this.#withEmail(organization, email);
        for (const userId of found) named.add(keyOf(organization, userId));
        return found;
      },
      erasedAtMs: (organization, userId) => {
        neededOf(organization, userId, needs.users, "userId");
        return this.#erasedAtMs.get(keyOf(organization, userId));
      },
      account: (organization, accountId) => {
        needed([...needs.accounts, ...parkedAccounts(organization)], { organization, accountId });
        return this.accounts.get(keyOf(organization, accountId));
      },
      message: (organization, messageId) => {
        needed(needs.messageIds, { organization, messageId });
        const key = keyOf(organization, messageId);
        return new LookedUpMessage(key, this.messageIds.has(key));
      },
      ...this.#parking(neededOf),
      lastUserNumber: (organization) => Math.max(0, ...numbers(this.users.values(), organization)),
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

  #parking(
    neededOf: (organization: number, id: string) => void,
  ): Pick<Stored, "hasParked" | "link" | "linksTo" | "parked" | "label"> {
    return {
      hasParked: (organization) =>
        [...this.parked, ...this.links].some(([key]) => organizationOf(key) === organization),
      link: (organization, id) => {
        neededOf(organization, id);
        return this.links.get(keyOf(organization, id));
      },
      linksTo: (organization, id) => {
        neededOf(organization, id);
        return [...this.links]
          .filter(([key, { userId }]) => organizationOf(key) === organization && userId === id)
          .map(([key]) => idOf(key));
      },
      parked: (organization, id) => {
        neededOf(organization, id);
        return this.parked.get(keyOf(organization, id)) ?? [];
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
    if (writes.parking !== undefined) this.#park(writes.parking);
    for (const { table, rows, body } of writes.inbox) {
      const lines: unknown[][] = body
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
      if (lines.length !== rows) throw new Error(`${table} says ${rows} rows and has ${lines.length}`);
      this.rows.set(table, [...(this.rows.get(table) ?? []), ...lines]);
    }
  }

  #park({ taken, parked, links, labels }: ParkingWrites): void {
    for (const { organization, id } of taken) this.parked.delete(keyOf(organization, id));
    for (const { organization, id, ...item } of parked) {
      const key = keyOf(organization, id);
      const items = [...(this.parked.get(key) ?? []), item].sort((a, b) => a.receivedAtMs - b.receivedAtMs);
      this.parked.set(key, items);
    }
    for (const [key, items] of this.parked) {
      const kept = items.slice(-limits.parkedItems);
      this.dropped.push(...items.slice(0, items.length - kept.length));
      this.parked.set(key, kept);
    }
    for (const { organization, id, link } of links) {
      if (link === null) this.links.delete(keyOf(organization, id));
      else this.links.set(keyOf(organization, id), link);
    }
    for (const { organization, event, label } of labels) this.labels.set(keyOf(organization, event), label);
  }
}
