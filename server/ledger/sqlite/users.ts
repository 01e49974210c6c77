/** Users as the ledger stores them: one row each, found by the company's own id, numbered densely. */
import type { Database } from "bun:sqlite";
import { emailKey } from "../email-key.ts";
import { isJsonObject, type JsonObject, type User } from "../ledger.ts";
import { maxUsersWithEmail } from "../source-settings.ts";
import type { KnownUser } from "../transaction.ts";

interface UserRow {
  readonly number: number;
  readonly account: number;
  /** Empty while none is known. */
  readonly email: string;
  readonly is_account_owner: number | null;
  readonly first_identified_at_ms: number;
  readonly updated_at_ms: number;
  readonly version: number;
  readonly traits: string;
  readonly said_at_ms: number;
  readonly fields_said_at_ms: string;
}

function prepare(db: Database) {
  return {
    known: db.prepare<KnownUser, [number, string]>(
      "SELECT number, account FROM users WHERE organization = ? AND user_id = ?",
    ),
    find: db.prepare<UserRow, [number, string]>(
      `SELECT number, account, email, is_account_owner, first_identified_at_ms, updated_at_ms, version, traits,
              said_at_ms, fields_said_at_ms
       FROM users WHERE organization = ? AND user_id = ?`,
    ),
    withEmail: db.prepare<{ userId: string }, [number, string]>(
      `SELECT user_id AS userId FROM users
       WHERE organization = ? AND email_key = ? AND email_key <> '' LIMIT ${maxUsersWithEmail}`,
    ),
    lastNumber: db.prepare<{ last: number }, [number]>(
      `SELECT max(coalesce((SELECT max(number) FROM users WHERE organization = ?1), 0),
                  coalesce((SELECT max(user) FROM erasures WHERE organization = ?1), 0)) AS last`,
    ),
    insert: db.prepare(
      `INSERT INTO users (account, email, email_key, is_account_owner, updated_at_ms, version, traits, said_at_ms,
                          fields_said_at_ms, first_identified_at_ms, organization, number, user_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    members: db.prepare<{ userId: string }, [number, number]>(
      "SELECT user_id AS userId FROM users WHERE organization = ? AND account = ? AND account > 0",
    ),
    leave: db.prepare("UPDATE users SET account = 0 WHERE organization = ? AND account = ? AND account > 0"),
    delete: db.prepare("DELETE FROM users WHERE organization = ? AND number = ?"),
    update: db.prepare(
      `UPDATE users SET account = ?, email = ?, email_key = ?, is_account_owner = ?, updated_at_ms = ?, version = ?,
                        traits = ?, said_at_ms = ?, fields_said_at_ms = ?, first_identified_at_ms = ?
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
      email: row.email || null,
      traits: parseObject(row.traits),
      isAccountOwner: row.is_account_owner === null ? null : row.is_account_owner === 1,
      account: row.account,
      firstIdentifiedAtMs: row.first_identified_at_ms,
      saidAtMs: row.said_at_ms,
      fieldsSaidAtMs: parseObject(row.fields_said_at_ms) as Readonly<Record<string, number>>,
      updatedAtMs: row.updated_at_ms,
      version: row.version,
    };
  }

  /** Users with this e-mail address, upper and lower case alike: at most `maxUsersWithEmail`. */
  withEmail(organization: number, email: string): readonly string[] {
    return this.#statements.withEmail.all(organization, emailKey(email)).map(({ userId }) => userId);
  }

  /** The highest number given so far, those of erased users among them; 0 before the first. */
  lastNumber(organization: number): number {
    return this.#statements.lastNumber.get(organization)?.last ?? 0;
  }

  /** The users of an account, by their ids. */
  members(organization: number, account: number): readonly string[] {
    return this.#statements.members.all(organization, account).map(({ userId }) => userId);
  }

  /** Takes all users out of an account, inside the caller's transaction. No version changes. */
  leave(organization: number, account: number): void {
    this.#statements.leave.run(organization, account);
  }

  /** Deletes a user's row, inside the caller's transaction. */
  delete(organization: number, number: number): void {
    this.#statements.delete.run(organization, number);
  }

  /** Writes a user that was not stored before (`previous` undefined), or the next version of one that was. */
  write(user: User, previous: User | undefined): void {
    const columns = [
      user.account,
      user.email ?? "",
      emailKey(user.email ?? ""),
      user.isAccountOwner === null ? null : Number(user.isAccountOwner),
      user.updatedAtMs,
      user.version,
      JSON.stringify(user.traits),
      user.saidAtMs,
      JSON.stringify(user.fieldsSaidAtMs),
      user.firstIdentifiedAtMs,
      user.organization,
      user.number,
    ];
    if (previous === undefined) {
      this.#statements.insert.run(...columns, user.userId);
      return;
    }
    if (previous.number !== user.number) {
      throw new Error(`User ${user.number} had number ${previous.number} before.`);
    }
    this.#statements.update.run(...columns);
  }
}

function parseObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new Error("The ledger holds traits that are not a JSON object.");
  return value;
}
