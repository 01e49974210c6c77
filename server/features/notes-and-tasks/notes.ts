/** Stores notes. */

import { workLimits } from "../../../contract/notes-and-tasks.ts";
import { type Actor, type AuditNote, authorOf } from "../../ledger/audit.ts";
import type { Engine } from "../../ledger/engine.ts";
import type { ExportedRow, ExportedRows, ExportedUser, SharedFeatureStores } from "../../ledger/feature.ts";
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
} from "../../ledger/sql.ts";
import {
  type EntityNumbers,
  type EntityOfRow,
  type EntityRef,
  entityColumns,
  entityOf,
  exportedAuthor,
  exportedEntity,
  exportedEntityColumns,
  isOfEntity,
  lockEntity,
  type NamedEntity,
  type NamedPerson,
  namedEntity,
  namedPerson,
  numberOf,
  tooManyOfThem,
} from "../../ledger/stores/entity-rows.ts";
import { lockKnownOrganization, lockOrganization } from "../../ledger/stores/organization-rows.ts";

export interface Note {
  readonly id: number;
  readonly entity: NamedEntity;
  readonly text: string;
  readonly createdBy: NamedPerson | null;
  /** Who wrote it, if no team member did: an imported author, `assistant (key 3)`. */
  readonly author: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

type NoteAction = "note.created" | "note.changed" | "note.deleted";

const verbs = { "note.created": "Added", "note.changed": "Changed", "note.deleted": "Deleted" } as const;

/** The entry of a change of a note. It has no text and names nobody: an erasure could not delete them in the
 * log. */
function noteNote(action: NoteAction, id: number, entity: EntityNumbers): AuditNote {
  return {
    action,
    summary: `${verbs[action]} a note on ${entity.user > 0 ? "a user" : "an account"}`,
    detail: { note: id, ...numberOf(entity) },
  };
}

/** @throws Refusal when there are as many notes as there may be */
function refuseTooManyNotes(ofEntity: number, ofOrganization: number): void {
  const { notesPerEntity, notesPerOrganization } = workLimits;
  if (ofEntity >= notesPerEntity) throw tooManyOfThem(`${notesPerEntity} notes here`);
  if (ofOrganization >= notesPerOrganization) throw tooManyOfThem(`${notesPerOrganization} notes`);
}

interface NoteRow extends EntityOfRow, Pick<Note, "id" | "text" | "author" | "createdAtMs" | "updatedAtMs"> {
  readonly creatorId: number | null;
  readonly creator: string | null;
}

const noteRow = new RowOf<NoteRow>({
  ...entityColumns,
  id: integer("notes.id"),
  text: text("notes.text"),
  author: nullable(text("notes.author")),
  createdAtMs: integer("notes.created_at_ms"),
  updatedAtMs: integer("notes.updated_at_ms"),
  creatorId: nullable(integer("people.id")),
  creator: nullable(text("people.name")),
});
const idRow = new RowOf<Pick<Note, "id">>({ id: integer() });
const timeRow = new RowOf<Pick<Note, "createdAtMs">>({ createdAtMs: integer() });
const joined = part`FROM notes ${entityOf("notes")} LEFT JOIN people ON people.id = notes.created_by`;

/** The store of notes. Every change and its entry in the audit log are one commit. */
export function noteStore(engine: Engine) {
  return {
    /** Of one user or account, the newest first. @param before only older ones than this note */
    ofEntity: (
      organization: number,
      entity: EntityRef,
      { limit, before }: { readonly limit: number; readonly before?: number | undefined },
    ) =>
      engine.snapshot(
        (function* () {
          const older = before === undefined ? part`` : yield* isOlder(organization, before);
          return yield* findNotes(part`
            WHERE ${isOfEntity(organization, "notes", entity)} ${older}
            ORDER BY notes.created_at_ms DESC, notes.id DESC LIMIT ${limit}`);
        })(),
      ),

    /** All of the organization, in the order of their ids. @param after only ids above it */
    all: (organization: number, after: number, limit: number) =>
      engine.alone(
        findNotes(part`
          WHERE notes.organization = ${organization} AND notes.id > ${after} ORDER BY notes.id LIMIT ${limit}`),
      ),

    /** @returns undefined when there is no such user or account. @throws Refusal when there are too many */
    add: (organization: number, entity: EntityRef, textOfNote: string, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const numbers = yield* lockEntity(organization, entity);
        if (numbers === undefined) return undefined;
        yield* refuseMore(organization, numbers);
        const { id } = yield* returningOne(idRow)`
          INSERT INTO notes (organization, user_number, account_number, created_by, author, created_at_ms,
            updated_at_ms, text)
          VALUES (${organization}, ${numbers.user}, ${numbers.account}, ${by.person?.id ?? null}, ${authorOf(by)},
            ${nowMs}, ${nowMs}, ${textOfNote})`;
        yield* audit.note(organization, noteNote("note.created", id, numbers), by, nowMs);
        return (yield* findRow(organization, id))?.note;
      }),

    /** @returns undefined when the organization has no such note */
    change: (organization: number, id: number, textOfNote: string, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* findRow(organization, id);
        if (before === undefined || before.note.text === textOfNote) return before?.note;
        yield* run`UPDATE notes SET text = ${textOfNote}, updated_at_ms = ${nowMs} WHERE id = ${id}`;
        yield* audit.note(organization, noteNote("note.changed", id, before.numbers), by, nowMs);
        return { ...before.note, text: textOfNote, updatedAtMs: nowMs };
      }),

    /** @returns false when the organization has no such note */
    remove: (organization: number, id: number, by: Actor, nowMs: number) =>
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

export type NoteStore = ReturnType<typeof noteStore>;

/** The condition on notes that are older than one. An imported note has the time at which it was written, so
 * ids are not in the order of time. If the note was deleted meanwhile, only ids can tell. */
function* isOlder(organization: number, id: number): Work<Fragment> {
  const [last] = yield* select(timeRow)`FROM notes WHERE organization = ${organization} AND id = ${id}`;
  if (last === undefined) return part`AND notes.id < ${id}`;
  return part`AND (notes.created_at_ms < ${last.createdAtMs}
    OR notes.created_at_ms = ${last.createdAtMs} AND notes.id < ${id})`;
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
  const { id, author, createdAtMs, updatedAtMs } = row;
  return {
    id,
    entity: namedEntity(row),
    text: row.text,
    createdBy: namedPerson(row.creatorId, row.creator),
    author,
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

const notesAtOnce = 200;

/** Notes as rows of exports. */
export const exportedNotes: ExportedRows = {
  name: "notes",
  columns: [...exportedEntityColumns, "text", "createdBy", "createdAt", "updatedAt"],
  page: async ({ notes }, organization, after, limit) =>
    (await notes.all(organization, after, limit)).map(exportedNote),
};

/** The notes about a user. */
export async function* notesAbout({ notes }: SharedFeatureStores, { organization, userId }: ExportedUser) {
  for (let before: number | undefined; ; ) {
    const page = await notes.ofEntity(
      organization,
      { kind: "user", id: userId },
      { limit: notesAtOnce, before },
    );
    yield page.map((note) => exportedNote(note).line);
    before = page.at(-1)?.id;
    if (page.length < notesAtOnce) return;
  }
}

function exportedNote(note: Note): ExportedRow {
  const { id, text } = note;
  return { id, line: { ...exportedEntity(note), text, ...exportedAuthor(note) } };
}
