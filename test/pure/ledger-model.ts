/** A ledger in memory, as plain as can be: what `decide` is told of and what it writes. */
import type { Account, User } from "../../server/ledger/ledger.ts";
import type { Message, Needs, Stored, Writes } from "../../server/ledger/transaction.ts";

const keyOf = (organization: number, id: string) => JSON.stringify([organization, id]);

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
    const needed = (asked: readonly object[], one: object) => {
      if (!asked.some((each) => Bun.deepMatch(one, each)))
        throw new Error(`not needed: ${JSON.stringify(one)}`);
    };
    const numbers = (of: Iterable<User | Account>, organization: number) =>
      [...of].filter((one) => one.organization === organization).map(({ number }) => number);
    return {
      known: (organization, userId) => {
        needed(needs.known, { organization, userId });
        return this.user(organization, userId);
      },
      user: (organization, userId) => {
        needed(needs.users, { organization, userId });
        return this.user(organization, userId);
      },
      erasedAtMs: (organization, userId) => {
        needed(needs.users, { organization, userId });
        return this.#erasedAtMs.get(keyOf(organization, userId));
      },
      account: (organization, accountId) => {
        needed(needs.accounts, { organization, accountId });
        return this.accounts.get(keyOf(organization, accountId));
      },
      message: (organization, messageId) => {
        needed(needs.messageIds, { organization, messageId });
        const key = keyOf(organization, messageId);
        return new LookedUpMessage(key, this.messageIds.has(key));
      },
      lastUserNumber: (organization) => Math.max(0, ...numbers(this.users.values(), organization)),
      lastAccountNumber: (organization) => Math.max(0, ...numbers(this.accounts.values(), organization)),
      transaction: this.#transactions,
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
    for (const { table, rows, body } of writes.inbox) {
      const lines: unknown[][] = body
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
      if (lines.length !== rows) throw new Error(`${table} says ${rows} rows and has ${lines.length}`);
      this.rows.set(table, [...(this.rows.get(table) ?? []), ...lines]);
    }
  }
}
