/** Stores notes. */
import {
  type EntityNumbers,
  type Note,
  type NoteStore,
  noteNote,
  refuseTooManyNotes,
} from "../../ports/actions/work.ts";
import type { Engine } from "../engine/engine.ts";
import {
  count,
  type Fragment,
  integer,
  nullable,
  part,
  RowOf,
  returningOne,
  run,
  select,
  text,
  type Work,
} from "../engine/sql.ts";
import { lockKnownOrganization, lockOrganization } from "../organization-rows.ts";
import {
  type EntityOfRow,
  entityColumns,
  entityOf,
  isOfEntity,
  lockEntity,
  namedEntity,
  namedPerson,
} from "./work-rows.ts";

interface NoteRow extends EntityOfRow, Pick<Note, "id" | "text" | "createdAtMs" | "updatedAtMs"> {
  readonly creatorId: number | null;
  readonly creator: string | null;
}

const noteRow = new RowOf<NoteRow>({
  ...entityColumns,
  id: integer("notes.id"),
  text: text("notes.text"),
  createdAtMs: integer("notes.created_at_ms"),
  updatedAtMs: integer("notes.updated_at_ms"),
  creatorId: nullable(integer("people.id")),
  creator: nullable(text("people.name")),
});
const idRow = new RowOf<Pick<Note, "id">>({ id: integer() });
const joined = part`FROM notes ${entityOf("notes")} LEFT JOIN people ON people.id = notes.created_by`;

/** The store of notes. */
export function noteStore(engine: Engine): NoteStore {
  return {
    ofEntity: (organization, entity, { limit, before }) =>
      engine.alone(
        findNotes(part`
          WHERE ${isOfEntity(organization, "notes", entity)}
            ${before === undefined ? part`` : part`AND notes.id < ${before}`}
          ORDER BY notes.id DESC LIMIT ${limit}`),
      ),

    all: (organization, after, limit) =>
      engine.alone(
        findNotes(part`
          WHERE notes.organization = ${organization} AND notes.id > ${after} ORDER BY notes.id LIMIT ${limit}`),
      ),

    add: (organization, entity, textOfNote, by, nowMs) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const numbers = yield* lockEntity(organization, entity);
        if (numbers === undefined) return undefined;
        yield* refuseMore(organization, numbers);
        const { id } = yield* returningOne(idRow)`
          INSERT INTO notes (organization, user_number, account_number, created_by, created_at_ms, updated_at_ms, text)
          VALUES (${organization}, ${numbers.user}, ${numbers.account}, ${by.person?.id ?? null}, ${nowMs}, ${nowMs},
            ${textOfNote})`;
        yield* audit.note(organization, noteNote("note.created", id, numbers), by, nowMs);
        return (yield* findRow(organization, id))?.note;
      }),

    change: (organization, id, textOfNote, by, nowMs) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* findRow(organization, id);
        if (before === undefined || before.note.text === textOfNote) return before?.note;
        yield* run`UPDATE notes SET text = ${textOfNote}, updated_at_ms = ${nowMs} WHERE id = ${id}`;
        yield* audit.note(organization, noteNote("note.changed", id, before.numbers), by, nowMs);
        return { ...before.note, text: textOfNote, updatedAtMs: nowMs };
      }),

    remove: (organization, id, by, nowMs) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* findRow(organization, id);
        if (before === undefined) return false;
        yield* run`DELETE FROM notes WHERE id = ${id}`;
        yield* audit.note(organization, noteNote("note.deleted", id, before.numbers), by, nowMs);
        return true;
      }),
  };
}

/** Notes. @param which the end of the statement, from WHERE on */
export function* findNotes(which: Fragment): Work<readonly Note[]> {
  const rows = yield* select(noteRow)`${joined} ${which}`;
  return rows.map(noteOf);
}

function* findRow(
  organization: number,
  id: number,
): Work<{ readonly note: Note; readonly numbers: EntityNumbers } | undefined> {
  const [row] = yield* select(noteRow)`
    ${joined} WHERE notes.organization = ${organization} AND notes.id = ${id}`;
  if (row === undefined) return undefined;
  return { note: noteOf(row), numbers: { user: row.userNumber, account: row.accountNumber } };
}

function noteOf(row: NoteRow): Note {
  const { id, createdAtMs, updatedAtMs } = row;
  return {
    id,
    entity: namedEntity(row),
    text: row.text,
    createdBy: namedPerson(row.creatorId, row.creator),
    createdAtMs,
    updatedAtMs,
  };
}

function* refuseMore(organization: number, { user, account }: EntityNumbers): Work<void> {
  const ofOrganization = part`FROM notes WHERE organization = ${organization}`;
  refuseTooManyNotes(
    yield* count`${ofOrganization} AND user_number = ${user} AND account_number = ${account}`,
    yield* count`${ofOrganization}`,
  );
}
