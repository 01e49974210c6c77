/** Turns rows of notes, tasks, contacts and owners into what the server admits. */
import type { JsonObject } from "../../contract/json.ts";
import { refuseDamaged } from "../../server/features/imports/reading/bytes.ts";
import { withDayOrder } from "../../server/features/imports/reading/day-order.ts";
import type { ImportPlan } from "../../server/features/imports/reading/plan.ts";
import type { Reading, ReadRow, Row } from "../../server/features/imports/reading/row.ts";
import { openRows } from "../../server/features/imports/reading/source.ts";
import { apiTime, type TimeForm } from "../../server/features/imports/reading/time.ts";
import { identifier } from "../../server/intake/admission/admit-event.ts";
import { type Invalid, isInvalid } from "../../server/intake/admission/json.ts";
import type { ImportRow } from "../../server/intake/import-rows.ts";
import { describeWorkMapping, type WorkMapping, type WorkRole } from "./work-mapping.ts";

/** The import of a file of notes, tasks, contacts or owners. */
export function workPlan(
  reading: Reading,
  bytes: number,
  mapping: WorkMapping,
  fileColumns: readonly string[],
): ImportPlan {
  const { path, format, gzip, delimiter, header } = reading;
  return {
    what: mapping.type,
    columns: describeWorkMapping(mapping, fileColumns),
    open: () => openRows(reading, bytes),
    translator: () => (row) => workRowOf(row, mapping),
    refuseDamaged: async () => (gzip ? refuseDamaged(path) : undefined),
    text: JSON.stringify({ version: 1, format, delimiter, header, ...mapping }),
    holdsEvents: false,
  };
}

/** The mapping with the order of days and months that the column of times tells. @throws Refusal as
 * `withDayOrder` does */
export async function withDayOrderOfWork(
  mapping: WorkMapping,
  first: readonly Row[],
  reading: Reading,
  bytes: number,
): Promise<WorkMapping> {
  const { timestamp } = mapping.columns;
  const asEvents = {
    type: "events",
    columns: timestamp === undefined ? {} : { timestamp },
    eventName: null,
    emailTemplate: null,
    properties: null,
    numbers: [],
    timestampFormat: mapping.timestampFormat,
  } as const;
  const { timestampFormat } = await withDayOrder(asEvents, first, openRows(reading, bytes));
  return { ...mapping, timestampFormat };
}

function workRowOf(row: Row, mapping: WorkMapping): ImportRow {
  if ("unreadable" in row) return { invalid: row.unreadable };
  const fields: Record<string, JsonObject[string]> = {};
  const columns: Record<string, string> = {};
  for (const [role, column] of Object.entries(mapping.columns)) {
    const cell = row.cells[row.columns.indexOf(column)];
    if (cell === undefined || cell === null || cell === "") continue;
    const field = fieldOf(role, cell, column, { row, mapping });
    if (isInvalid(field)) return field;
    fields[role] = field.value;
    if (role !== column) columns[role] = column;
  }
  return { work: mapping.type, fields, columns };
}

interface OfRow {
  readonly row: ReadRow;
  readonly mapping: TimeForm;
}

function fieldOf(
  role: string,
  cell: unknown,
  column: string,
  { row, mapping }: OfRow,
): { readonly value: JsonObject[string] } | Invalid {
  if (typeof cell === "boolean") return { value: cell };
  if (typeof cell !== "string" && typeof cell !== "number") {
    return { invalid: `${column} is neither text nor a number: send a text.` };
  }
  if (isRoleOfTimes(role)) {
    if (role === "done" && saysDone.test(String(cell))) return { value: String(cell) };
    const time = role === "due" ? dueDay(cell, mapping) : apiTime(cell, mapping);
    return isInvalid(time) ? { invalid: time.invalid.replace(/^timestamp/, column) } : { value: time };
  }
  if (typeof cell === "string") return { value: cell };
  const text = row.body === undefined ? String(cell) : identifier(cell, row.body, [column]);
  return isInvalid(text) ? text : { value: text };
}

function isRoleOfTimes(role: string): boolean {
  return (["timestamp", "due", "done"] satisfies WorkRole[]).some((one) => one === role);
}

/** No time, but whether a task is done. */
const saysDone = /^\s*(true|false|yes|no|y|n|x|0|1|done|open)\s*$/i;

/** A date stays a date: the start of its day in another timezone may be of the day before. */
function dueDay(cell: string | number, { timezone, timestampFormat }: TimeForm): string | Invalid {
  const alone = apiTime(cell, { timestampFormat });
  if (!isInvalid(alone) && /^\d{4}-\d{2}-\d{2}$/.test(alone)) return alone;
  return apiTime(cell, { timestampFormat, ...(timezone !== undefined && { timezone }) });
}
