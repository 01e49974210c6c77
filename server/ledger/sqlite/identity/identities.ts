/** Look-ups of users by other things than their ids. */
import type { Database } from "bun:sqlite";
import type { IdentityStore } from "../../ports/source-settings.ts";
import { personText } from "../../rules/person-text.ts";
import type { Users } from "../write/users.ts";

/** What is added to the ledger by the migration that brings sources' settings. */
export const usersByEmail =
  "CREATE INDEX users_by_email ON users (organization, lower(email)) WHERE email <> '';";

export class SqliteIdentities implements IdentityStore {
  readonly #db: Database;
  readonly #users: Users;

  constructor(db: Database, users: Users) {
    this.#db = db;
    this.#users = users;
  }

  async linkedTo(organization: number, anonymousId: string): Promise<string | undefined> {
    const linked = this.#db.query<{ userId: string }, [number, string]>(
      "SELECT user_id AS userId FROM person_links WHERE organization = ? AND id = ?",
    );
    return linked.get(organization, personText({ kind: "visitor", id: anonymousId }))?.userId;
  }

  async withEmail(organization: number, email: string): Promise<readonly string[]> {
    return this.#users.withEmail(organization, email);
  }
}
