/** Stores users: one row each, found by the company's own id, numbered densely. */
import type { Database } from "bun:sqlite";
import { isJsonObject, type JsonObject } from "../../../../contract/json.ts";
import type { User } from "../../entities.ts";
import { emailKey } from "../../rules/email-key.ts";
import { maxUsersWithEmail } from "../../stores/identities.ts";
import type { KnownUser } from "../../transact.ts";
import { nextTurn } from "../small-steps.ts";

/** To read these takes about 2 ms. */
const stepUsers = 1_000;

interface UserRow {
  readonly number: number;
  readonly account: number;
  /** Empty if none is known. */
  readonly email: string;
  readonly is_account_owner: number | null;
  readonly first_identified_at_ms: number;
  readonly updated_at_ms: number;
  readonly version: number;
  readonly traits: string;
  readonly timestamp_ms: number;
  readonly field_timestamps_ms: string;
}

function prepare(db: Database) {
  return {
    known: db.prepare<KnownUser, [number, string]>(
      "SELECT number, account FROM users WHERE organization = ? AND user_id = ?",
    ),
    find: db.prepare<UserRow, [number, string]>(
      `SELECT number, account, email, is_account_owner, first_identified_at_ms, updated_at_ms, version, traits,
              timestamp_ms, field_timestamps_ms
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
      `INSERT INTO users (account, email, email_key, is_account_owner, updated_at_ms, version, traits, timestamp_ms,
                          field_timestamps_ms, first_identified_at_ms, organization, number, user_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    next: db.prepare<{ userId: string; number: number; account: number }, [number, number]>(
      `SELECT user_id AS userId, number, account FROM users
       WHERE organization = ? AND number > ? ORDER BY number LIMIT ${stepUsers}`,
    ),
    update: db.prepare(
      `UPDATE users SET account = ?, email = ?, email_key = ?, is_account_owner = ?, updated_at_ms = ?, version = ?,
                        traits = ?, timestamp_ms = ?, field_timestamps_ms = ?, first_identified_at_ms = ?
       WHERE organization = ? AND number = ?`,
    ),
  };
}

interface MemberWatch {
  readonly organization: number;
  readonly account: number;
  readonly userIds: Set<string>;
}

export class Users {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #watches = new Set<MemberWatch>();

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
      timestampMs: row.timestamp_ms,
      fieldTimestampsMs: parseObject(row.field_timestamps_ms) as Readonly<Record<string, number>>,
      updatedAtMs: row.updated_at_ms,
      version: row.version,
    };
  }

  /** Users with this e-mail address, upper and lower case alike: at most `maxUsersWithEmail`. */
  withEmail(organization: number, email: string): readonly string[] {
    return this.#statements.withEmail.all(organization, emailKey(email)).map(({ userId }) => userId);
  }

  /** The highest number so far, including erased users. 0 before the first. */
  lastNumber(organization: number): number {
    return this.#statements.lastNumber.get(organization)?.last ?? 0;
  }

  /**
   * Searches for the users of an account, in small steps. An index would cost every identify a page. The set
   * also gets users who join meanwhile, until the watch ends. No user can join a deleted account.
   * @returns their ids, and a function that ends the watch
   */
  async watchMembers(
    organization: number,
    account: number,
  ): Promise<{ readonly userIds: ReadonlySet<string>; readonly end: () => void }> {
    const watch = { organization, account, userIds: new Set<string>() };
    this.#watches.add(watch);
    let after = 0;
    while (account > 0) {
      const users = this.#statements.next.all(organization, after);
      for (const user of users) if (user.account === account) watch.userIds.add(user.userId);
      after = users.at(-1)?.number ?? after;
      if (users.length < stepUsers) break;
      await nextTurn();
    }
    return { userIds: watch.userIds, end: () => void this.#watches.delete(watch) };
  }

  /** Writes a new user (`previous` undefined), or the next version of a stored one. */
  write(user: User, previous: User | undefined): void {
    for (const { organization, account, userIds } of this.#watches) {
      if (user.organization === organization && user.account === account) userIds.add(user.userId);
    }
    const columns = [
      user.account,
      user.email ?? "",
      emailKey(user.email ?? ""),
      user.isAccountOwner === null ? null : Number(user.isAccountOwner),
      user.updatedAtMs,
      user.version,
      JSON.stringify(user.traits),
      user.timestampMs,
      JSON.stringify(user.fieldTimestampsMs),
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
