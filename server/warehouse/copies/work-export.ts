/** Notes and tasks of an organization as a stream of bytes: JSON lines or CSV (RFC 4180). They are rows of the ledger. */
import { Refusal } from "../../../contract/refusal.ts";
import { formatDay } from "../../calendar/calendar.ts";
import type { NamedPerson, Note, SharedLedger, Task } from "../../ledger/ledger.ts";
import { type ExportFormat, exportTables } from "./export.ts";

/** The exports of an organization: tables of the warehouse, and of the ledger. */
export const exportNames = [...exportTables, "notes", "tasks"] as const;
export type ExportName = (typeof exportNames)[number];

/** Rows that are read together. */
const pageRows = 500;

type Value = string | number | null;
type Line = Readonly<Record<string, Value>>;

/** The bytes of notes or tasks. @throws Refusal for Parquet */
export async function* exportWork(
  ledger: Pick<SharedLedger, "notes" | "tasks">,
  organization: number,
  table: "notes" | "tasks",
  format: ExportFormat,
): AsyncGenerator<Uint8Array> {
  if (format === "parquet") throw new Refusal(`${table} are exported as jsonl or csv: choose one of them.`);
  const encoder = new TextEncoder();
  const columns = table === "notes" ? noteColumns : taskColumns;
  if (format === "csv") yield encoder.encode(csvLine([...columns]));
  for (let after = 0; ; ) {
    const page =
      table === "notes"
        ? (await ledger.notes.all(organization, after, pageRows)).map(noteLine)
        : (await ledger.tasks.all(organization, after, pageRows)).map(taskLine);
    const lines = page.map(({ line }) =>
      format === "csv" ? csvLine(columns.map((name) => line[name] ?? null)) : `${JSON.stringify(line)}\n`,
    );
    if (lines.length > 0) yield encoder.encode(lines.join(""));
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return;
    after = last.id;
  }
}

const commonColumns = ["id", "userId", "accountId"] as const;
const noteColumns = [...commonColumns, "text", "createdBy", "createdAt", "updatedAt"];
const taskColumns = [
  ...commonColumns,
  ...[
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
];

/** A note as a line of an export. */
export function noteLine(note: Note): { readonly id: number; readonly line: Line } {
  const { id, text, createdBy, createdAtMs, updatedAtMs } = note;
  const line = { ...about(note), text, ...written(createdBy, createdAtMs, updatedAtMs) };
  return { id, line };
}

/** The same of a task. */
export function taskLine(task: Task): { readonly id: number; readonly line: Line } {
  const { id, title, dueDay, assignee, formerAssignee, createdBy, createdAtMs, updatedAtMs } = task;
  const { doneAtMs, doneBy } = task;
  const line = {
    ...about(task),
    ...{ title, due: dueDay === null ? null : formatDay(dueDay) },
    ...{ assignee: nameOf(assignee), formerAssignee },
    ...written(createdBy, createdAtMs, updatedAtMs),
    ...{ doneAt: doneAtMs === null ? null : instant(doneAtMs), doneBy: nameOf(doneBy) },
  };
  return { id, line };
}

function about({ id, entity }: Pick<Note, "id" | "entity">) {
  const isUser = entity.kind === "user";
  return { id, userId: isUser ? entity.id : null, accountId: isUser ? null : entity.id };
}

function written(createdBy: NamedPerson | null, createdAtMs: number, updatedAtMs: number) {
  return {
    createdBy: nameOf(createdBy),
    createdAt: instant(createdAtMs),
    updatedAt: instant(updatedAtMs),
  };
}

function nameOf(person: NamedPerson | null): string | null {
  return person?.name ?? null;
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

function csvLine(fields: readonly Value[]): string {
  return `${fields.map(field).join(",")}\r\n`;
}

function field(value: Value): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
