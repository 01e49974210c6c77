/** Saved views as they are stored. */
import type { Database } from "bun:sqlite";
import type { Actor } from "../../ports/audit.ts";
import {
  type NewView,
  refuseTooManyViews,
  type View,
  type ViewStore,
  viewChangedNote,
  viewDeletedNote,
  viewNameTaken,
  viewSavedNote,
} from "../../ports/views.ts";
import { noAccount } from "../../rules/people-notes.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import type { SqliteAudit } from "./audit.ts";
import type { SqliteOrganizations } from "./organizations.ts";

/** What is added to the ledger by the migration that brings views. */
export const viewsTable = `
  CREATE TABLE views (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    page TEXT NOT NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    created_by INTEGER REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    UNIQUE (organization, page, name)
  ) STRICT;
  CREATE INDEX views_of_person ON views (created_by);
`;

function prepare(db: Database) {
  const select = `
    SELECT views.id, page, views.name, query, people.name AS createdBy, views.created_at_ms AS createdAtMs,
      updated_at_ms AS updatedAtMs
    FROM views LEFT JOIN people ON people.id = created_by WHERE organization = ?`;
  return {
    list: db.prepare<View, [number]>(`${select} ORDER BY page, views.name`),
    find: db.prepare<View, [number, number]>(`${select} AND views.id = ?`),
    named: db.prepare<{ id: number }, [number, string, string]>(
      "SELECT id FROM views WHERE organization = ? AND page = ? AND name = ?",
    ),
    count: db.prepare<{ views: number }, [number]>(
      "SELECT count(*) AS views FROM views WHERE organization = ?",
    ),
    insert: db.prepare<{ id: number }, [number, string, string, string, number | null, number, number]>(
      `INSERT INTO views (organization, page, name, query, created_by, created_at_ms, updated_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    ),
    person: db.prepare<{ id: number }, [number]>("SELECT id FROM people WHERE id = ?"),
    update: db.prepare("UPDATE views SET name = ?, query = ?, updated_at_ms = ? WHERE id = ?"),
    remove: db.prepare("DELETE FROM views WHERE id = ?"),
  };
}

export class SqliteViews implements ViewStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #organizations: SqliteOrganizations;
  readonly #audit: SqliteAudit;

  constructor(db: Database, organizations: SqliteOrganizations, audit: SqliteAudit) {
    this.#db = db;
    this.#organizations = organizations;
    this.#statements = prepare(db);
    this.#audit = audit;
  }

  async list(organization: number): Promise<readonly View[]> {
    return this.#statements.list.all(organization);
  }

  async add(organization: number, { page, name, query }: NewView, by: Actor, nowMs: number): Promise<View> {
    return inTransaction(this.#db, () => {
      this.#organizations.refuseUnknown(organization);
      refuseTooManyViews(this.#statements.count.get(organization)?.views ?? 0);
      this.#refuseName(organization, page, name);
      const person = by.person?.id ?? null;
      if (person !== null && this.#statements.person.get(person) === null) throw noAccount();
      const added = this.#statements.insert.get(organization, page, name, query, person, nowMs, nowMs);
      const view = this.#statements.find.get(organization, added?.id ?? 0);
      if (view === null) throw new Error("SQLite returned no row for a new view.");
      this.#audit.note(organization, viewSavedNote(view), by, nowMs);
      return view;
    });
  }

  async change(
    organization: number,
    id: number,
    change: Partial<Pick<View, "name" | "query">>,
    by: Actor,
    nowMs: number,
  ): Promise<View | undefined> {
    return inTransaction(this.#db, () => {
      const before = this.#statements.find.get(organization, id);
      if (before === null) return undefined;
      const after = { ...before, ...change, updatedAtMs: nowMs };
      if (after.name === before.name && after.query === before.query) return before;
      if (after.name !== before.name) this.#refuseName(organization, before.page, after.name);
      this.#statements.update.run(after.name, after.query, nowMs, id);
      this.#audit.note(organization, viewChangedNote(before, after), by, nowMs);
      return after;
    });
  }

  async remove(organization: number, id: number, by: Actor, nowMs: number): Promise<boolean> {
    return inTransaction(this.#db, () => {
      const view = this.#statements.find.get(organization, id);
      if (view === null) return false;
      this.#statements.remove.run(id);
      this.#audit.note(organization, viewDeletedNote(view), by, nowMs);
      return true;
    });
  }

  #refuseName(organization: number, page: string, name: string): void {
    if (this.#statements.named.get(organization, page, name) === null) return;
    throw viewNameTaken(name);
  }
}
