/** Users as the ledger stores them: one row each, found by the company's own id, numbered densely. */
import type { Database } from "bun:sqlite";
import { isJsonObject, type JsonObject, type KnownUser, type User } from "../ledger.ts";

interface UserRow {
  readonly number: number;
  readonly account: number;
  readonly email: string;
  readonly is_account_owner: number | null;
  readonly first_identified_at_ms: number;
  readonly updated_at_ms: number;
  readonly version: number;
  readonly traits: string;
}

function prepare(db: Database) {
  return {
    known: db.prepare<KnownUser, [number, string]>(
      "SELECT number, account FROM users WHERE organization = ? AND user_id = ?",
    ),
    find: db.prepare<UserRow, [number, string]>(
      `SELECT number, account, email, is_account_owner, first_identified_at_ms, updated_at_ms, version, traits
       FROM users WHERE organization = ? AND user_id = ?`,
    ),
    lastNumber: db.prepare<{ last: number | null }, [number]>(
      "SELECT max(number) AS last FROM users WHERE organization = ?",
    ),
    insert: db.prepare(
      `INSERT INTO users (account, email, is_account_owner, updated_at_ms, version, traits,
                          organization, number, user_id, first_identified_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    update: db.prepare(
      `UPDATE users SET account = ?, email = ?, is_account_owner = ?, updated_at_ms = ?, version = ?, traits = ?
       WHERE organization = ? AND number = ?`,
    ),
  };
}

export class Users {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  known(organization: number, userId: string): KnownUser | undefined {
    return this.#statements.known.get(organization, userId) ?? undefined;
  }

  find(organization: number, userId: string): User | undefined {
    const row = this.#statements.find.get(organization, userId);
    if (row === null) return undefined;
    return {
      organization,
      userId,
      number: row.number,
      email: row.email,
      traits: parseTraits(row.traits),
      isAccountOwner: row.is_account_owner === null ? null : row.is_account_owner === 1,
      account: row.account,
      firstIdentifiedAtMs: row.first_identified_at_ms,
      updatedAtMs: row.updated_at_ms,
      version: row.version,
    };
  }

  /** The highest number given so far; 0 before the first. */
  lastNumber(organization: number): number {
    return this.#statements.lastNumber.get(organization)?.last ?? 0;
  }

  /** Writes a user that was not stored before (`previous` undefined), or the next version of one that was. */
  write(user: User, previous: User | undefined): void {
    const owner = user.isAccountOwner === null ? null : Number(user.isAccountOwner);
    const traits = JSON.stringify(user.traits);
    const { account, email, updatedAtMs, version, organization, number, userId } = user;
    if (previous === undefined) {
      const first = user.firstIdentifiedAtMs;
      this.#statements.insert.run(
        ...[account, email, owner, updatedAtMs, version, traits, organization, number, userId, first],
      );
      return;
    }
    if (previous.number !== number) throw new Error(`User ${number} had number ${previous.number} before.`);
    this.#statements.update.run(
      ...[account, email, owner, updatedAtMs, version, traits, organization, number],
    );
  }
}

function parseTraits(text: string): JsonObject {
  const traits: unknown = JSON.parse(text);
  if (!isJsonObject(traits)) throw new Error("The ledger holds traits that are not a JSON object.");
  return traits;
}
