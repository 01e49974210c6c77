/** Notes, tasks and alerts of an organization as a stream of bytes: JSON lines or CSV (RFC 4180). They are
 * rows of the ledger. */

import { amountInUnits } from "../../../contract/billing/currencies.ts";
import { Refusal } from "../../../contract/refusal.ts";
import { formatDay } from "../../calendar/days.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { Alert } from "../../ledger/ports/actions/alerts.ts";
import type { NamedPerson, Note, Task } from "../../ledger/ports/actions/work.ts";
import type { SharedLedger } from "../../ledger/ports/ledger.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import { currenciesUsed, reportingCurrencyOf } from "../schema/currencies-used.ts";
import { type ExportFormat, exportTables } from "./export.ts";

/** The exports of an organization: tables of the warehouse, and of the ledger. */
const workTables = ["notes", "tasks", "alerts"] as const;
type WorkTable = (typeof workTables)[number];
export const exportNames = [...exportTables, ...workTables] as const;
export type ExportName = (typeof exportNames)[number];

/** Whether an export has rows of the ledger. */
export function isWorkTable(name: ExportName): name is WorkTable {
  return workTables.some((table) => table === name);
}

/** Rows that are read together. */
const pageRows = 500;

type Value = string | number | boolean | null;
type Line = Readonly<Record<string, Value>>;

interface Stores {
  readonly ledger: Pick<SharedLedger, "notes" | "tasks" | "alerts" | "freshness" | "settings">;
  readonly warehouse: Warehouse;
  readonly nowMs: number;
}

interface Row {
  readonly id: number;
  readonly line: Line;
}

/** The bytes of one of these tables. Controls of a hold-out are not among alerts before the churn horizon is
 * over. @throws Refusal for Parquet */
export async function* exportWork(
  stores: Stores,
  organization: number,
  table: WorkTable,
  format: ExportFormat,
): AsyncGenerator<Uint8Array> {
  if (format === "parquet") throw new Refusal(`${table} are exported as jsonl or csv: choose one of them.`);
  const encoder = new TextEncoder();
  const columns = columnsOf[table];
  const read = await readerOf(stores, organization, table);
  const currency = table === "alerts" && format === "csv" ? await currencyOf(stores, organization) : "";
  if (format === "csv") yield encoder.encode(csvLine([...columns]));
  for (let after = 0; ; ) {
    const page = await read(after);
    const lines = page.map(({ line }) =>
      format === "csv"
        ? csvLine(columns.map((name) => cell(line, name, currency)))
        : `${JSON.stringify(line)}\n`,
    );
    if (lines.length > 0) yield encoder.encode(lines.join(""));
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return;
    after = last.id;
  }
}

/** The value of a column. A CSV has amounts in units, and lines of JSON have them in minor units. */
function cell(line: Line, name: string, currency: string): Value {
  const value = line[name] ?? null;
  if (name === "currency") return currency;
  return name === "expectedLoss" && typeof value === "number" ? amountInUnits(value, currency) : value;
}

async function currencyOf({ ledger, warehouse }: Stores, organization: number): Promise<string> {
  const { settings } = await ledger.settings.get(organization);
  return reportingCurrencyOf(settings.reportingCurrency, await currenciesUsed(warehouse, organization));
}

/** Reads the rows above an id. */
async function readerOf(
  { ledger, nowMs }: Stores,
  organization: number,
  table: WorkTable,
): Promise<(after: number) => Promise<readonly Row[]>> {
  if (table === "notes") {
    return async (after) => (await ledger.notes.all(organization, after, pageRows)).map(noteLine);
  }
  if (table === "tasks") {
    return async (after) => (await ledger.tasks.all(organization, after, pageRows)).map(taskLine);
  }
  const { timezone } = await ledger.freshness(organization);
  const today = zoneOf(timezone).dayOf(nowMs);
  return async (after) => (await ledger.alerts.all(organization, today, after, pageRows)).map(alertLine);
}

const commonColumns = ["id", "userId", "accountId"] as const;
const noteColumns = [...commonColumns, "text", "createdBy", "createdAt", "updatedAt"];
const taskColumns = [
  ...commonColumns,
  "title",
  "due",
  "assignee",
  "formerAssignee",
  "createdBy",
  "createdAt",
  "updatedAt",
  "doneAt",
  "doneBy",
];

const alertColumns = [
  ...commonColumns,
  "source",
  "ruleId",
  "rule",
  "version",
  "firedDay",
  "firedAt",
  "before",
  "after",
  "reasons",
  "risk",
  "currency",
  "expectedLoss",
  "arm",
  "isSent",
  "closedDay",
  "closedWhy",
  "assignee",
  "snoozedUntil",
  "verdict",
  "verdictBy",
  "verdictAt",
  "note",
];
const columnsOf: Readonly<Record<WorkTable, readonly string[]>> = {
  notes: noteColumns,
  tasks: taskColumns,
  alerts: alertColumns,
};

/** A note as a line of an export. */
export function noteLine(note: Note): Row {
  const { id, text, createdBy, createdAtMs, updatedAtMs } = note;
  const line = { ...about(note), text, ...written(createdBy, createdAtMs, updatedAtMs) };
  return { id, line };
}

/** A task as a line of an export. */
export function taskLine(task: Task): Row {
  const { id, title, dueDay, assignee, formerAssignee, createdBy, createdAtMs, updatedAtMs } = task;
  const { doneAtMs, doneBy } = task;
  const line = {
    ...about(task),
    title,
    due: dayOrNull(dueDay),
    assignee: nameOf(assignee),
    formerAssignee,
    ...written(createdBy, createdAtMs, updatedAtMs),
    doneAt: doneAtMs === null ? null : instant(doneAtMs),
    doneBy: nameOf(doneBy),
  };
  return { id, line };
}

/** An alert as a line of an export. */
export function alertLine(alert: Alert): Row {
  const { id, rule, version, entity, firedDay, firedAtMs, before, after, reasons, risk, expectedLoss } =
    alert;
  const { arm, isSent, closedDay, closedWhy, assignee, snoozedUntil, verdict, verdictBy, verdictAtMs } =
    alert;
  const line = {
    ...(entity.kind === "source"
      ? { id, userId: null, accountId: null, source: entity.source }
      : { ...about({ id, entity }), source: null }),
    ruleId: rule.id,
    rule: rule.name,
    version,
    firedDay: formatDay(firedDay),
    firedAt: instant(firedAtMs),
    before,
    after,
    reasons: reasons.map(({ text }) => text).join("; "),
    risk,
    expectedLoss,
    arm,
    isSent,
    closedDay: dayOrNull(closedDay),
    closedWhy,
    assignee: nameOf(assignee),
    snoozedUntil: dayOrNull(snoozedUntil),
    verdict,
    verdictBy: nameOf(verdictBy),
    verdictAt: verdictAtMs === null ? null : instant(verdictAtMs),
    note: alert.note,
  };
  return { id, line };
}

function dayOrNull(day: number | null): string | null {
  return day === null ? null : formatDay(day);
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
