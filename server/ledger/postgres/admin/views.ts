/** Saved views as they are stored. */
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
import type { Queries, Sql, Tx } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import type { PostgresAudit } from "./audit.ts";
import { lockKnownOrganization, lockOrganization } from "./organizations.ts";
import { findPerson } from "./people-rows.ts";

/** The table of views. */
export const viewsTable = `
  CREATE TABLE views (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    page text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    query text NOT NULL,
    created_by bigint REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    UNIQUE (organization, page, name)
  );
  CREATE INDEX views_of_person ON views (created_by);
`;

export class PostgresViews implements ViewStore {
  readonly #sql: Sql;
  readonly #audit: PostgresAudit;

  constructor(sql: Sql, audit: PostgresAudit) {
    this.#sql = sql;
    this.#audit = audit;
  }

  async list(organization: number): Promise<readonly View[]> {
    const rows = await this.#sql<View[]>`
      ${select(this.#sql)} WHERE organization = ${organization} ORDER BY page, views.name`;
    return rows.map(viewOf);
  }

  async add(organization: number, { page, name, query }: NewView, by: Actor, nowMs: number): Promise<View> {
    return inTransaction(this.#sql, async (tx) => {
      await lockKnownOrganization(tx, organization);
      const [counted] = await tx<{ views: number }[]>`
        SELECT count(*) AS views FROM views WHERE organization = ${organization}`;
      refuseTooManyViews(counted?.views ?? 0);
      await refuseName(tx, organization, page, name);
      const person = by.person?.id ?? null;
      if (person !== null && (await findPerson(tx, person)) === undefined) throw noAccount();
      const [added] = await tx<{ id: number }[]>`
        INSERT INTO views (organization, page, name, query, created_by, created_at_ms, updated_at_ms)
        VALUES (${organization}, ${page}, ${storable(name)}, ${storable(query)}, ${person}, ${nowMs}, ${nowMs})
        RETURNING id`;
      const view = await find(tx, organization, added?.id ?? 0);
      if (view === undefined) throw new Error("PostgreSQL returned no row for a new view.");
      await this.#audit.note(tx, organization, viewSavedNote(view), by, nowMs);
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
    return inTransaction(this.#sql, async (tx) => {
      await lockOrganization(tx, organization);
      const before = await find(tx, organization, id);
      if (before === undefined) return undefined;
      const after = { ...before, ...change, updatedAtMs: nowMs };
      if (after.name === before.name && after.query === before.query) return before;
      if (after.name !== before.name) await refuseName(tx, organization, before.page, after.name);
      await tx`
        UPDATE views SET name = ${storable(after.name)}, query = ${storable(after.query)}, updated_at_ms = ${nowMs}
        WHERE id = ${id}`;
      await this.#audit.note(tx, organization, viewChangedNote(before, after), by, nowMs);
      return after;
    });
  }

  async remove(organization: number, id: number, by: Actor, nowMs: number): Promise<boolean> {
    return inTransaction(this.#sql, async (tx) => {
      await lockOrganization(tx, organization);
      const view = await find(tx, organization, id);
      if (view === undefined) return false;
      await tx`DELETE FROM views WHERE id = ${id}`;
      await this.#audit.note(tx, organization, viewDeletedNote(view), by, nowMs);
      return true;
    });
  }
}

async function find(tx: Tx, organization: number, id: number): Promise<View | undefined> {
  const [row] = await tx<View[]>`
    ${select(tx)} WHERE organization = ${organization} AND views.id = ${id}`;
  return row && viewOf(row);
}

async function refuseName(tx: Tx, organization: number, page: string, name: string): Promise<void> {
  const [named] = await tx`
    SELECT id FROM views WHERE organization = ${organization} AND page = ${page} AND name = ${storable(name)}`;
  if (named !== undefined) throw viewNameTaken(name);
}

function select(queries: Queries) {
  return queries`
    SELECT views.id, page, views.name, query, people.name AS "createdBy", views.created_at_ms AS "createdAtMs",
      updated_at_ms AS "updatedAtMs"
    FROM views LEFT JOIN people ON people.id = created_by`;
}

function viewOf(row: View): View {
  const { name, query, createdBy } = row;
  return {
    ...row,
    name: restored(name),
    query: restored(query),
    createdBy: createdBy === null ? null : restored(createdBy),
  };
}
