/** Project tokens: only their hashes are kept, and a revoked one is not found any more. */
import type { Database } from "bun:sqlite";
import { type Organization, type ProjectToken, Refusal, type Tokens } from "../ledger.ts";
import type { SqliteOrganizations } from "./organizations.ts";
import { inTransaction } from "./transaction.ts";

interface TokenRow {
  readonly id: number;
  readonly organization: number;
  readonly name: string;
  readonly last_four: string;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number | null;
  readonly revoked_at_ms: number | null;
}

const columns = "id, organization, name, last_four, created_at_ms, last_used_at_ms, revoked_at_ms";

function prepare(db: Database) {
  return {
    insert: db.prepare<TokenRow, [number, string, string, string, number]>(
      `INSERT INTO tokens (organization, name, sha256, last_four, created_at_ms) VALUES (?, ?, ?, ?, ?)
       RETURNING ${columns}`,
    ),
    list: db.prepare<TokenRow, [number]>(`SELECT ${columns} FROM tokens WHERE organization = ? ORDER BY id`),
    find: db.prepare<TokenRow, [string]>(
      `SELECT ${columns} FROM tokens WHERE sha256 = ? AND revoked_at_ms IS NULL`,
    ),
    revoke: db.prepare<TokenRow, [number, number]>(
      `UPDATE tokens SET revoked_at_ms = coalesce(revoked_at_ms, ?) WHERE id = ? RETURNING ${columns}`,
    ),
    touch: db.prepare(
      "UPDATE tokens SET last_used_at_ms = max(coalesce(last_used_at_ms, 0), ?) WHERE id = ?",
    ),
  };
}

export class SqliteTokens implements Tokens {
  readonly #db: Database;
  readonly #organizations: SqliteOrganizations;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, organizations: SqliteOrganizations) {
    this.#db = db;
    this.#organizations = organizations;
    this.#statements = prepare(db);
  }

  async create(token: {
    organization: number;
    name: string;
    sha256: string;
    lastFour: string;
    nowMs: number;
  }): Promise<ProjectToken> {
    const { organization, name, sha256, lastFour, nowMs } = token;
    if (this.#organizations.find(organization) === undefined) {
      throw new Refusal(`There is no organization with the id ${organization}.`);
    }
    const row = this.#statements.insert.get(organization, name, sha256, lastFour, nowMs);
    if (row === null) throw new Error("SQLite returned no row for a new token.");
    return projectToken(row);
  }

  async list(organization: number): Promise<readonly ProjectToken[]> {
    return this.#statements.list.all(organization).map(projectToken);
  }

  async find(sha256: string): Promise<{ token: ProjectToken; organization: Organization } | undefined> {
    const row = this.#statements.find.get(sha256);
    if (row === null) return undefined;
    const organization = this.#organizations.find(row.organization);
    return organization === undefined ? undefined : { token: projectToken(row), organization };
  }

  async revoke(id: number, nowMs: number): Promise<ProjectToken> {
    const row = this.#statements.revoke.get(nowMs, id);
    if (row === null) throw new Refusal(`There is no token with the id ${id}.`);
    return projectToken(row);
  }

  async touch(used: readonly { readonly id: number; readonly atMs: number }[]): Promise<void> {
    if (used.length === 0) return;
    inTransaction(this.#db, () => {
      for (const { id, atMs } of used) this.#statements.touch.run(atMs, id);
    });
  }
}

function projectToken(row: TokenRow): ProjectToken {
  return {
    id: row.id,
    organization: row.organization,
    name: row.name,
    lastFour: row.last_four,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
    revokedAtMs: row.revoked_at_ms,
  };
}
