/** Stores saved views. */
import {
  refuseTooManyViews,
  type View,
  type ViewStore,
  viewChangedNote,
  viewDeletedNote,
  viewNameTaken,
  viewSavedNote,
} from "../ports/views.ts";
import { noAccount } from "../rules/member-notes.ts";
import type { Engine } from "./engine/engine.ts";
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
} from "./engine/sql.ts";
import { lockKnownOrganization, lockOrganization } from "./organization-rows.ts";

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

/** The store of saved views. */
export function viewStore(engine: Engine): ViewStore {
  return {
    list: (organization) =>
      engine.alone(
        select(view)`${withCreator} WHERE organization = ${organization} ORDER BY page, views.name`,
      ),

    add: (organization, { page, name, query }, by, nowMs) =>
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

    change: (organization, id, change, by, nowMs) =>
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

    remove: (organization, id, by, nowMs) =>
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

function* find(organization: number, id: number): Work<View | undefined> {
  const [row] = yield* select(view)`${withCreator} WHERE organization = ${organization} AND views.id = ${id}`;
  return row;
}

function* refuseName(organization: number, page: string, name: string): Work<void> {
  const isTaken = yield* exists`
    FROM views WHERE organization = ${organization} AND page = ${page} AND name = ${name}`;
  if (isTaken) throw viewNameTaken(name);
}
