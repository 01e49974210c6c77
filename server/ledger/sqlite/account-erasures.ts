/** What an erasure of an account does in the ledger, inside the caller's transaction: see erasures.ts. */
import type { Database } from "bun:sqlite";
import { type BuriedLetter, bytesOfRow, rowWithoutAccount } from "../dead-letter-facts.ts";
import type { Account, WarehouseTable } from "../ledger.ts";
import type { SqliteExclusions } from "./exclusions.ts";
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
    /** Of users: the number stands in their rows as JSON writes it. */
    naming: db.prepare<NamingLetter, [number, string]>(
      `SELECT id, warehouse_table AS "table", schema, row FROM dead_letters
       WHERE organization IN (0, ?1) AND warehouse_table <> 'accounts' AND instr(row, ?2) > 0`,
    ),
    unname: db.prepare("UPDATE dead_letters SET row = ?, bytes = ? WHERE id = ?"),
  };
}

/** What was deleted. */
interface Deleted {
  /** Undefined when there was no such account. */
  readonly account: Account | undefined;
  readonly members: readonly string[];
  /** Items that named the account. */
  readonly parked: number;
}

export class AccountErasures {
  readonly #parts: Parts & { readonly exclusions: SqliteExclusions };
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, parts: Parts & { readonly exclusions: SqliteExclusions }) {
    this.#parts = parts;
    this.#statements = prepare(db);
  }

  /** The account of a user, when the user is its only member. */
  ofOnlyMember(organization: number, userId: string): Account | undefined {
    const { users, accounts } = this.#parts;
    const account = users.find(organization, userId)?.account ?? 0;
    return users.members(organization, account).length === 1
      ? accounts.numbered(organization, account)
      : undefined;
  }

  /** Deletes an account and takes it out of what is parked; leaves a tombstone where there was anything. */
  delete(organization: number, accountId: string, atMs: number): Deleted {
    const { users, accounts, counts, exclusions, tombstones, parking } = this.#parts;
    const account = accounts.find(organization, accountId);
    const parked = parking.items.leaveAccount(organization, accountId);
    if (account !== undefined || parked > 0) tombstones.eraseAccount(organization, accountId, atMs);
    if (account === undefined) return { account, members: [], parked };
    const members = users.members(organization, account.number);
    users.leave(organization, account.number);
    accounts.delete(organization, account.number);
    counts.addPopulations(organization, {
      ...{ users: 0, userVersions: 0, accounts: -1, accountVersions: -account.version },
    });
    exclusions.forget(organization, "account", accountId);
    return { account, members, parked };
  }

  /** To be called after the commit. */
  forget(organization: number, members: readonly string[]): void {
    this.#parts.tombstones.remember(organization);
    for (const userId of members) this.#parts.knownUsers.forget(organization, userId);
  }

  /** Deletes the account's dead letters, and takes it out of those of users. @returns how many letters these are */
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
