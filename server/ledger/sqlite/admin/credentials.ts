/** Project tokens and read keys, a table each: only their hashes are kept, and a revoked one is not found. */
import type { Database } from "bun:sqlite";
import { Refusal } from "../../../../contract/refusal.ts";
import type { Actor } from "../../ports/audit.ts";
import {
  type Credential,
  type Credentials,
  type CredentialTable,
  credentialCreatedNote,
  credentialRevokedNote,
  type Right,
} from "../../ports/credentials.ts";
import type { Organization } from "../../ports/organizations.ts";
import { noMemberForSecret } from "../../rules/people-notes.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import type { SqliteAudit } from "./audit.ts";
import type { SqliteOrganizations } from "./organizations.ts";

interface CredentialRow {
  readonly id: number;
  readonly organization: number;
  readonly name: string;
  /** Words with a space between: `read erase`. */
  readonly rights: string;
  readonly last_four: string;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number | null;
  readonly revoked_at_ms: number | null;
  readonly made_by: number | null;
  readonly made_by_name: string | null;
}

const nouns: Record<CredentialTable, string> = { tokens: "token", read_keys: "read key" };

const columns = `id, organization, name, rights, last_four, created_at_ms, last_used_at_ms, revoked_at_ms,
  made_by, (SELECT people.name FROM people WHERE people.id = made_by) AS made_by_name`;

function prepare(db: Database, table: CredentialTable) {
  return {
    insert: db.prepare<CredentialRow, [number, string, string, string, string, number, number | null]>(
      `INSERT INTO ${table} (organization, name, rights, sha256, last_four, created_at_ms, made_by)
       VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING ${columns}`,
    ),
    list: db.prepare<CredentialRow, [number]>(
      `SELECT ${columns} FROM ${table} WHERE organization = ? ORDER BY id`,
    ),
    find: db.prepare<CredentialRow, [string]>(
      `SELECT ${columns} FROM ${table} WHERE sha256 = ? AND revoked_at_ms IS NULL`,
    ),
    numbered: db.prepare<CredentialRow, [number]>(`SELECT ${columns} FROM ${table} WHERE id = ?`),
    revoke: db.prepare(`UPDATE ${table} SET revoked_at_ms = ? WHERE id = ?`),
    isMember: db.prepare<object, [number, number]>(
      "SELECT 1 FROM memberships WHERE organization = ? AND person = ?",
    ),
    touch: db.prepare(
      `UPDATE ${table} SET last_used_at_ms = max(coalesce(last_used_at_ms, 0), ?) WHERE id = ?`,
    ),
  };
}

export class SqliteCredentials implements Credentials {
  readonly #db: Database;
  readonly #organizations: SqliteOrganizations;
  readonly #table: CredentialTable;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #audit: SqliteAudit;

  constructor(db: Database, organizations: SqliteOrganizations, audit: SqliteAudit, table: CredentialTable) {
    this.#db = db;
    this.#audit = audit;
    this.#organizations = organizations;
    this.#table = table;
    this.#statements = prepare(db, table);
  }

  async create(wanted: Parameters<Credentials["create"]>[0], by: Actor): Promise<Credential> {
    const { organization, name, rights, sha256, lastFour, nowMs } = wanted;
    const madeBy = by.person?.id ?? null;
    return inTransaction(this.#db, () => {
      this.#organizations.refuseUnknown(organization);
      if (madeBy !== null && this.#statements.isMember.get(organization, madeBy) === null) {
        throw noMemberForSecret();
      }
      const row = this.#statements.insert.get(
        ...([organization, name, rights.join(" "), sha256, lastFour, nowMs, madeBy] as const),
      );
      if (row === null) throw new Error(`SQLite returned no row for a new ${nouns[this.#table]}.`);
      const created = credential(row);
      this.#audit.note(organization, credentialCreatedNote(this.#table, created), by, nowMs);
      return created;
    });
  }

  async list(organization: number): Promise<readonly Credential[]> {
    return this.#statements.list.all(organization).map(credential);
  }

  async find(sha256: string): Promise<{ credential: Credential; organization: Organization } | undefined> {
    const row = this.#statements.find.get(sha256);
    if (row === null) return undefined;
    const organization = this.#organizations.findNow(row.organization);
    return organization === undefined ? undefined : { credential: credential(row), organization };
  }

  async revoke(id: number, by: Actor, nowMs: number): Promise<Credential> {
    return inTransaction(this.#db, () => {
      const row = this.#statements.numbered.get(id);
      if (row === null) throw new Refusal(`There is no ${nouns[this.#table]} with the id ${id}.`);
      const before = credential(row);
      if (before.revokedAtMs !== null) return before;
      this.#statements.revoke.run(nowMs, id);
      this.#audit.note(before.organization, credentialRevokedNote(this.#table, before), by, nowMs);
      return { ...before, revokedAtMs: nowMs };
    });
  }

  async touch(used: readonly { readonly id: number; readonly atMs: number }[]): Promise<void> {
    if (used.length === 0) return;
    inTransaction(this.#db, () => {
      for (const { id, atMs } of used) this.#statements.touch.run(atMs, id);
    });
  }
}

const knownRights: readonly Right[] = ["write", "browser", "read", "erase", "manage"];

function credential(row: CredentialRow): Credential {
  const words = row.rights.split(" ");
  return {
    id: row.id,
    organization: row.organization,
    name: row.name,
    rights: knownRights.filter((right) => words.includes(right)),
    lastFour: row.last_four,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
    revokedAtMs: row.revoked_at_ms,
    madeBy: row.made_by === null ? null : { id: row.made_by, name: row.made_by_name ?? "" },
  };
}
