/** Exclusion rules as they are stored. Every change gives its organization a new revision in the same commit,
 * by which the warehouse knows that it has to apply them again. */
import type { Database } from "bun:sqlite";
import type { Actor } from "../../ports/audit.ts";
import {
  checkedRule,
  type ExclusionKind,
  type ExclusionRule,
  type ExclusionRules,
  type ExclusionStore,
  exclusionAddedNote,
  exclusionRemovedNote,
  maxExclusionRules,
  noRule,
  type StoredExclusionRule,
  tooManyRules,
} from "../../ports/exclusions.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import type { SqliteAudit } from "./audit.ts";
import type { SqliteOrganizations } from "./organizations.ts";

function prepare(db: Database) {
  const columns = "id, kind, key, value, created_at_ms AS createdAtMs";
  return {
    list: db.prepare<StoredExclusionRule, [number]>(
      `SELECT ${columns} FROM exclusion_rules WHERE organization = ? ORDER BY id`,
    ),
    find: db.prepare<StoredExclusionRule, [number, string, string, string]>(
      `SELECT ${columns} FROM exclusion_rules WHERE organization = ? AND kind = ? AND key = ? AND value = ?`,
    ),
    insert: db.prepare<StoredExclusionRule, [number, string, string, string, number]>(
      `INSERT INTO exclusion_rules (organization, kind, key, value, created_at_ms) VALUES (?, ?, ?, ?, ?)
       RETURNING ${columns}`,
    ),
    remove: db.prepare<StoredExclusionRule, [number, number]>(
      `DELETE FROM exclusion_rules WHERE organization = ? AND id = ? RETURNING ${columns}`,
    ),
    removeNamed: db.prepare<{ id: number }, [number, ExclusionKind, string]>(
      "DELETE FROM exclusion_rules WHERE organization = ? AND kind = ? AND value = ? RETURNING id",
    ),
    changed: db.prepare(
      `INSERT INTO exclusion_revisions (organization, revision) VALUES (?, 1)
       ON CONFLICT DO UPDATE SET revision = revision + 1`,
    ),
    revision: db.prepare<{ revision: number }, [number]>(
      "SELECT revision FROM exclusion_revisions WHERE organization = ?",
    ),
    revisions: db.prepare<{ organization: number; revision: number }, []>(
      "SELECT organization, revision FROM exclusion_revisions ORDER BY organization",
    ),
    accounts: db.prepare<{ number: number }, [number]>(
      `SELECT number FROM accounts
       WHERE organization = ?1 AND account_id IN (
         SELECT value FROM exclusion_rules WHERE organization = ?1 AND kind = 'account')
       ORDER BY number`,
    ),
  };
}

export class SqliteExclusions implements ExclusionStore {
  readonly #db: Database;
  readonly #organizations: SqliteOrganizations;
  readonly #audit: SqliteAudit;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, organizations: SqliteOrganizations, audit: SqliteAudit) {
    this.#db = db;
    this.#organizations = organizations;
    this.#audit = audit;
    this.#statements = prepare(db);
  }

  async list(organization: number): Promise<readonly StoredExclusionRule[]> {
    return this.#statements.list.all(organization);
  }

  async add(
    organization: number,
    rule: ExclusionRule,
    by: Actor,
    nowMs: number,
  ): Promise<StoredExclusionRule> {
    const { kind, key, value } = checkedRule(rule);
    return inTransaction(this.#db, () => {
      this.#organizations.refuseUnknown(organization);
      const known = this.#statements.find.get(organization, kind, key, value);
      if (known !== null) return known;
      if (this.#statements.list.all(organization).length >= maxExclusionRules) {
        throw tooManyRules();
      }
      const added = this.#statements.insert.get(organization, kind, key, value, nowMs);
      if (added === null) throw new Error("SQLite returned no row for a new exclusion rule.");
      this.#statements.changed.run(organization);
      this.#audit.note(organization, exclusionAddedNote(added), by, nowMs);
      return added;
    });
  }

  async remove(organization: number, id: number, by: Actor, nowMs: number): Promise<void> {
    inTransaction(this.#db, () => {
      const removed = this.#statements.remove.get(organization, id);
      if (removed === null) throw noRule(id);
      this.#statements.changed.run(organization);
      this.#audit.note(organization, exclusionRemovedNote(removed), by, nowMs);
    });
  }

  /** Removes the rule that names this user or account, if there is one, inside the caller's transaction. */
  forget(organization: number, kind: "user" | "account", id: string): void {
    if (this.#statements.removeNamed.get(organization, kind, id) !== null) {
      this.#statements.changed.run(organization);
    }
  }

  async rules(organization: number): Promise<ExclusionRules> {
    return {
      revision: this.#statements.revision.get(organization)?.revision ?? 0,
      rules: this.#statements.list.all(organization).map(({ kind, key, value }) => ({ kind, key, value })),
      accounts: this.#statements.accounts.all(organization).map(({ number }) => number),
    };
  }

  async revisions(): Promise<readonly { readonly organization: number; readonly revision: number }[]> {
    return this.#statements.revisions.all();
  }
}
