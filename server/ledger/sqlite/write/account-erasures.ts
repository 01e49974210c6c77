/** The ledger's part of an erasure of an account, inside the caller's transaction: see erasures.ts. */
import type { Database } from "bun:sqlite";
import type { Account } from "../../ports/entities.ts";
import type { WarehouseTable } from "../../ports/inbox.ts";
import { type BuriedLetter, bytesOfRow, rowWithoutAccount } from "../../rules/dead-letter-facts.ts";
import { forgetExclusion } from "../../stores/exclusions.ts";
import type { Parts } from "./transact.ts";

type NamingLetter = Pick<BuriedLetter, "id" | "schema" | "row"> & { readonly table: WarehouseTable };

function prepare(db: Database) {
  return {
    deleteLetters: db.prepare(
      "DELETE FROM dead_letters WHERE organization = ? AND warehouse_table = 'accounts' AND number = ?",
    ),
    deleteDropped: db.prepare(
      "DELETE FROM dropped_versions WHERE organization = ? AND warehouse_table = 'accounts' AND number = ?",
    ),
    /** Rejected rows of users. They contain the account's number in JSON's form. */
    naming: db.prepare<NamingLetter, [number, string]>(
      `SELECT id, warehouse_table AS "table", schema, row FROM dead_letters
       WHERE organization IN (0, ?1) AND warehouse_table <> 'accounts' AND instr(row, ?2) > 0`,
    ),
    unname: db.prepare("UPDATE dead_letters SET row = ?, bytes = ? WHERE id = ?"),
  };
}

/** The result of a deletion. */
interface Deleted {
  /** Undefined if there was no such account. */
  readonly account: Account | undefined;
  readonly members: readonly string[];
  /** The number of held items that named the account. */
  readonly parked: number;
}

/** Users of an account, and some who have just left it. */
export interface Members {
  readonly account: number;
  readonly userIds: ReadonlySet<string>;
}

export class AccountErasures {
  readonly #parts: Parts;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, parts: Parts) {
    this.#parts = parts;
    this.#statements = prepare(db);
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
    const { users, accounts, counts, engine, tombstones, parking } = this.#parts;
    const account = accounts.find(organization, accountId);
    const parked = parking.items.leaveAccount(organization, accountId);
    if (account !== undefined || parked > 0) tombstones.eraseAccount(organization, accountId, atMs);
    if (account === undefined) return { account, members: [], parked };
    const members = users.leave(organization, account.number, found.userIds);
    accounts.delete(organization, account.number);
    counts.addPopulations(organization, {
      ...{ users: 0, userVersions: 0, accounts: -1, accountVersions: -account.version },
    });
    engine.now(forgetExclusion(organization, "account", accountId));
    return { account, members, parked };
  }

  /** Called after the commit. */
  forget(organization: number, members: readonly string[]): void {
    this.#parts.tombstones.remember(organization);
    for (const userId of members) this.#parts.knownUsers.forget(organization, userId);
  }

  /** Deletes the account's rejected events, and removes it from those of users. @returns the number of the latter */
  takeLetters(organization: number, account: number): number {
    const { deleteLetters, deleteDropped, naming, unname } = this.#statements;
    let taken = deleteLetters.run(organization, account).changes;
    deleteDropped.run(organization, account);
    for (const letter of naming.all(organization, String(account))) {
      const row = rowWithoutAccount(letter, account);
      if (row === undefined || !row.startsWith(`[${organization},`)) continue;
      unname.run(row, bytesOfRow(row), letter.id);
      taken += 1;
    }
    return taken;
  }
}
