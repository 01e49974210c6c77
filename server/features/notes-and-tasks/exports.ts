/** Notes and tasks as rows of exports. */
import { formatDay } from "../../calendar/days.ts";
import { instant } from "../../calendar/instant.ts";
import type { ExportedRow, ExportedRows } from "../../ledger/feature.ts";
import { exportedEntity, type NamedPerson, nameOf } from "../../ledger/stores/entity-rows.ts";
import type { Note } from "./notes.ts";
import type { Task } from "./tasks.ts";

const notesAtOnce = 200;
const aboutColumns = ["id", "userId", "accountId"];

export const exportedNotes: ExportedRows = {
  name: "notes",
  columns: [...aboutColumns, "text", "createdBy", "createdAt", "updatedAt"],
  page: async ({ notes }, organization, after, limit) =>
    (await notes.all(organization, after, limit)).map(noteRow),
  async *ofUser({ notes }, organization, user) {
    for (let before: number | undefined; ; ) {
      const page = await notes.ofEntity(organization, user, { limit: notesAtOnce, before });
      yield page.map(noteRow);
      before = page.at(-1)?.id;
      if (page.length < notesAtOnce) return;
    }
  },
};

export const exportedTasks: ExportedRows = {
  name: "tasks",
  columns: [
    ...aboutColumns,
    "title",
    "due",
    "assignee",
    "formerAssignee",
    "createdBy",
    "createdAt",
    "updatedAt",
    "doneAt",
    "doneBy",
  ],
  page: async ({ tasks }, organization, after, limit) =>
    (await tasks.all(organization, after, limit)).map(taskRow),
  async *ofUser({ tasks }, organization, user) {
    yield (await tasks.ofEntity(organization, user)).map(taskRow);
  },
};

function noteRow(note: Note): ExportedRow {
  const { id, text, createdBy, createdAtMs, updatedAtMs } = note;
  return { id, line: { ...exportedEntity(note), text, ...written(createdBy, createdAtMs, updatedAtMs) } };
}

function taskRow(task: Task): ExportedRow {
  const { id, title, dueDay, assignee, formerAssignee, createdBy, createdAtMs, updatedAtMs } = task;
  const { doneAtMs, doneBy } = task;
  const line = {
    ...exportedEntity(task),
    title,
    due: dueDay === null ? null : formatDay(dueDay),
    assignee: nameOf(assignee),
    formerAssignee,
    ...written(createdBy, createdAtMs, updatedAtMs),
    doneAt: doneAtMs === null ? null : instant(doneAtMs),
    doneBy: nameOf(doneBy),
  };
  return { id, line };
}

function written(createdBy: NamedPerson | null, createdAtMs: number, updatedAtMs: number) {
  return {
    createdBy: nameOf(createdBy),
    createdAt: instant(createdAtMs),
    updatedAt: instant(updatedAtMs),
  };
}
