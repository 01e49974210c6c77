/** The ledger's part of an erasure of an account, inside the caller's transaction: see erasures.ts. */
import type { Account } from "../../ports/entities.ts";
import { removeAccount } from "../../stores/events/held-event-rows.ts";
import { forgetExclusion } from "../../stores/exclusions.ts";
import type { Parts } from "./transact.ts";

/** The result of a deletion. */
interface Deleted {
  /** Undefined if there was no such account. */
  readonly account: Account | undefined;
  readonly members: readonly string[];
  /** The number of held items that named the account. */
  readonly held: number;
}

/** Users of an account, and some who have just left it. */
export interface Members {
  readonly account: number;
  readonly userIds: ReadonlySet<string>;
}

export class AccountErasures {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The account of a user who is its only account member. @param members users who may belong to it */
  ofOnlyMember(organization: number, userId: string, members: Members): Account | undefined {
    const { users, accounts } = this.#parts;
    const account = users.find(organization, userId)?.account ?? 0;
    if (account === 0 || account !== members.account) return undefined;
    const others = [...members.userIds].some(
      (id) => id !== userId && users.known(organization, id)?.account === account,
    );
    return others ? undefined : accounts.numbered(organization, account);
  }

  /** Finds the members of an account in small steps, and then calls a function with them. */
  async withMembers<Result>(
    organization: number,
    account: number,
    work: (members: Members) => Result,
  ): Promise<Result> {
    const { userIds, end } = await this.#parts.users.watchMembers(organization, account);
    try {
      return work({ account, userIds });
    } finally {
      end();
    }
  }

  /** Deletes an account and removes it from held items. Leaves a tombstone if there was any data.
   * @param found its members */
  delete(organization: number, accountId: string, found: Members, atMs: number): Deleted {
    const { users, accounts, counts, engine, tombstones } = this.#parts;
    const account = accounts.find(organization, accountId);
    const held = engine.now(removeAccount(organization, accountId));
    if (account !== undefined || held > 0) tombstones.eraseAccount(organization, accountId, atMs);
    if (account === undefined) return { account, members: [], held };
    const members = users.leave(organization, account.number, found.userIds);
    accounts.delete(organization, account.number);
    counts.addPopulations(organization, {
      ...{ users: 0, userVersions: 0, accounts: -1, accountVersions: -account.version },
    });
    engine.now(forgetExclusion(organization, "account", accountId));
    return { account, members, held };
  }

  /** Called after the commit. */
  forget(organization: number, members: readonly string[]): void {
    this.#parts.tombstones.remember(organization);
    for (const userId of members) this.#parts.knownUsers.forget(organization, userId);
  }
}
