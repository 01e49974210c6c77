/** Views of lists that the members of an organization share. */

import { viewLimits, type viewPages } from "../../../contract/api/saved-views.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { Actor, AuditNote } from "../../ledger/audit.ts";
import type { Engine } from "../../ledger/engine.ts";
import { noAccount } from "../../ledger/rules/member-notes.ts";
import {
  count,
  exists,
  integer,
  nullable,
  part,
  RowOf,
  returningOne,
  run,
  select,
  text,
  type Work,
  word,
} from "../../ledger/sql.ts";
import { lockKnownOrganization, lockOrganization } from "../../ledger/stores/organization-rows.ts";

export interface View {
  readonly id: number;
  readonly page: (typeof viewPages)[number];
  readonly name: string;
  /** The part of the page's address after the question mark. */
  readonly query: string;
  /** The name of its author. Null if the person does not exist any more. */
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type NewView = Pick<View, "page" | "name" | "query">;

/** The entry of a view that was saved. */
function viewSavedNote({ id, page, name }: View): AuditNote {
  return {
    action: "view.created",
    summary: `Saved the view ${name} of ${page}`,
    detail: { id, page, name },
  };
}

/** The entry of a view whose name or query was changed. The entry leaves out the query, because an erasure
 * does not reach the log. */
function viewChangedNote(before: View, after: View): AuditNote {
  const { id, page } = before;
  return {
    action: "view.changed",
    summary:
      after.name === before.name
        ? `Changed the view ${after.name} of ${page}`
        : `The view ${before.name} of ${page} is called ${after.name} now`,
    detail: { id, page, from: before.name, to: after.name, query: after.query !== before.query },
  };
}

/** The entry of a view that was deleted. */
function viewDeletedNote({ id, page, name }: View): AuditNote {
  return {
    action: "view.deleted",
    summary: `Deleted the view ${name} of ${page}`,
    detail: { id, page, name },
  };
}

/** The error when another view of the page has the name. */
function viewNameTaken(name: string): Refusal {
  return new Refusal(`name is taken: there is a view called ${name} already.`);
}

/** @param views the number of the organization's views
 * @throws Refusal when the limit is reached */
function refuseTooManyViews(views: number): void {
  const { viewsPerOrganization: most } = viewLimits;
  if (views < most) return;
  throw new Refusal(`There are ${most} views already: delete one before you save another.`);
}

const view = new RowOf<View>({
  id: integer("views.id"),
  page: word(),
  name: text("views.name"),
  query: text(),
  createdBy: nullable(text("people.name")),
  createdAtMs: integer("views.created_at_ms"),
  updatedAtMs: integer(),
});
const withCreator = part`FROM views LEFT JOIN people ON people.id = created_by`;
const viewId = new RowOf<Pick<View, "id">>({ id: integer() });

/** The store of saved views. Every change and its entry in the audit log are one commit. */
export function viewStore(engine: Engine) {
  return {
    /** Sorted by page and name. */
    list: (organization: number) =>
      engine.alone(
        select(view)`${withCreator} WHERE organization = ${organization} ORDER BY page, views.name`,
      ),

    /** @throws Refusal when another view of the page has the name, there are too many, or the organization or
     * the person does not exist. */
    add: (organization: number, { page, name, query }: NewView, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        refuseTooManyViews(yield* count`FROM views WHERE organization = ${organization}`);
        yield* refuseName(organization, page, name);
        const person = by.person?.id ?? null;
        if (person !== null && !(yield* exists`FROM people WHERE id = ${person}`)) throw noAccount();
        const { id } = yield* returningOne(viewId)`
          INSERT INTO views (organization, page, name, query, created_by, created_at_ms, updated_at_ms)
          VALUES (${organization}, ${page}, ${name}, ${query}, ${person}, ${nowMs}, ${nowMs})`;
        const added = yield* find(organization, id);
        if (added === undefined) throw new Error("A view that was just added is not there.");
        yield* audit.note(organization, viewSavedNote(added), by, nowMs);
        return added;
      }),

    /** Changes the given fields. @returns undefined when the organization has no such view.
     * @throws Refusal when another view of the page has the name. */
    change: (
      organization: number,
      id: number,
      change: Partial<Pick<View, "name" | "query">>,
      by: Actor,
      nowMs: number,
    ) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* find(organization, id);
        if (before === undefined) return undefined;
        const after = { ...before, ...change, updatedAtMs: nowMs };
        if (after.name === before.name && after.query === before.query) return before;
        if (after.name !== before.name) yield* refuseName(organization, before.page, after.name);
        yield* run`
          UPDATE views SET name = ${after.name}, query = ${after.query}, updated_at_ms = ${nowMs} WHERE id = ${id}`;
        yield* audit.note(organization, viewChangedNote(before, after), by, nowMs);
        return after;
      }),

    /** @returns false when the organization has no such view. */
    remove: (organization: number, id: number, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* find(organization, id);
        if (before === undefined) return false;
        yield* run`DELETE FROM views WHERE id = ${id}`;
        yield* audit.note(organization, viewDeletedNote(before), by, nowMs);
        return true;
      }),
  };
}

export type ViewStore = ReturnType<typeof viewStore>;

function* find(organization: number, id: number): Work<View | undefined> {
  const [row] = yield* select(view)`${withCreator} WHERE organization = ${organization} AND views.id = ${id}`;
  return row;
}

function* refuseName(organization: number, page: string, name: string): Work<void> {
  const isTaken = yield* exists`
    FROM views WHERE organization = ${organization} AND page = ${page} AND name = ${name}`;
  if (isTaken) throw viewNameTaken(name);
}
