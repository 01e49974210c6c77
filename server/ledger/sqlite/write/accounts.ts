/** Stores accounts: one row each, found by the company's own id, numbered densely. */
import type { Database } from "bun:sqlite";
import type { Account } from "../../entities.ts";

interface AccountRow {
  readonly account_id: string;
  readonly number: number;
  readonly name: string;
  readonly avatar: string | null;
  readonly traits: string;
  readonly timestamp_ms: number;
  readonly field_timestamps_ms: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly version: number;
}

const columns =
  "account_id, number, name, avatar, traits, timestamp_ms, field_timestamps_ms, created_at_ms, updated_at_ms, version";

function prepare(db: Database) {
  return {
    find: db.prepare<AccountRow, [number, string]>(
      `SELECT ${columns} FROM accounts WHERE organization = ? AND account_id = ?`,
    ),
    numbered: db.prepare<AccountRow, [number, number]>(
      `SELECT ${columns} FROM accounts WHERE organization = ? AND number = ?`,
    ),
    lastNumber: db.prepare<{ last: number }, [number]>(
      `SELECT max(coalesce((SELECT max(number) FROM accounts WHERE organization = ?1), 0),
                  coalesce((SELECT max(account) FROM erasures WHERE organization = ?1), 0)) AS last`,
    ),
    insert: db.prepare(
      `INSERT INTO accounts (name, avatar, traits, timestamp_ms, field_timestamps_ms, updated_at_ms, version, organization,
                             number, account_id, created_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    update: db.prepare(
      `UPDATE accounts SET name = ?, avatar = ?, traits = ?, timestamp_ms = ?, field_timestamps_ms = ?,
         updated_at_ms = ?, version = ?
       WHERE organization = ? AND number = ?`,
    ),
  };
}

export class Accounts {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  find(organization: number, accountId: string): Account | undefined {
    const row = this.#statements.find.get(organization, accountId);
    return row === null ? undefined : account(organization, row);
  }

  /** The account with this number. */
  numbered(organization: number, number: number): Account | undefined {
    const row = this.#statements.numbered.get(organization, number);
    return row === null ? undefined : account(organization, row);
  }

  /** The highest number so far, including erased accounts. 0 before the first. */
  lastNumber(organization: number): number {
    return this.#statements.lastNumber.get(organization)?.last ?? 0;
  }

  /** Writes a new account (`previous` undefined), or the next version of a stored one. */
  write(account: Account, previous: Account | undefined): void {
    const { name, avatar, timestampMs, updatedAtMs, version, organization, number, accountId } = account;
    const times = JSON.stringify(account.fieldTimestampsMs);
    const traits = JSON.stringify(account.traits);
    const values = [name, avatar, traits, timestampMs, times, updatedAtMs, version, organization, number];
    if (previous === undefined) {
      this.#statements.insert.run(...values, accountId, account.createdAtMs);
      return;
    }
    if (previous.number !== number) {
      throw new Error(`Account ${number} had number ${previous.number} before.`);
    }
    this.#statements.update.run(...values);
  }
}

function account(organization: number, row: AccountRow): Account {
  return {
    organization,
    accountId: row.account_id,
    number: row.number,
    name: row.name,
    avatar: row.avatar,
    traits: JSON.parse(row.traits),
    timestampMs: row.timestamp_ms,
    fieldTimestampsMs: JSON.parse(row.field_timestamps_ms),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    version: row.version,
  };
}
