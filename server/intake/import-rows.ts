/** Rows of imports: their admission, and the outcome of a row from the outcomes of its items. Pure. */
import type { JsonObject } from "../../contract/json.ts";
import { limits } from "../../contract/limits.ts";
import type { WorkType } from "../../contract/notes-and-tasks.ts";
import { msPerDay } from "../calendar/zone.ts";
import { admitAccountItem } from "./admission/account-item.ts";
import type { Arrival } from "./admission/admit-event.ts";
import {
  type AdmittedAccount,
  admitSourced,
  type LeftOut,
  storedEventName,
} from "./admission/admit-sourced.ts";
import { admitItem } from "./admission/batch.ts";
import { type Invalid, isInvalid, type ParsedBody, parseBody } from "./admission/json.ts";
import { type KeptValue, keptDetail } from "./admission/kept-values.ts";
import type { SourcedItem } from "./admission/sourced.ts";
import { type Admitted, type Decidable, isStored, type SourcedOutcome } from "./decide/requests.ts";

/** A row of another tool's export, translated as its live messages are. */
export type TranslatedRow =
  | { readonly items: readonly SourcedItem[]; readonly changed?: readonly KeptValue[] }
  /** Why the row has nothing that is kept here. */
  | IgnoredRow;

/** A row of what a team wrote in another tool: a note, a task, a contact or an owner. */
export interface WorkRow {
  readonly work: WorkType;
  /** By the names of the API: `userId`, `text`, `messageId` for the row's own id. */
  readonly fields: JsonObject;
  /** The column of each field that has another name, for the reasons of rejections. */
  readonly columns: Readonly<Record<string, string>>;
}

/** A row that becomes items: the text of its item, `{"type":"track" | "identify" | "account", …}`, items of a
 * tool, or the reason why it became none. */
export type ItemRow = string | ChangedRow | TranslatedRow | Invalid;

/** A row of a file. */
export type ImportRow = ItemRow | WorkRow;

/** Whether a row is of what a team wrote. */
export function isWorkRow(row: ImportRow): row is WorkRow {
  return typeof row === "object" && "work" in row;
}

/** Whether a row becomes items. */
export function isItemRow(row: ImportRow): row is ItemRow {
  return !isWorkRow(row);
}

/** The text of an item, some of whose values were changed so that they can be kept. */
interface ChangedRow {
  readonly text: string;
  readonly changed: readonly KeptValue[];
}

/** An account has no users. */
type OwnEntry = Admitted | AdmittedAccount;

/** The items of a row that are decided, at least one. */
export interface AdmittedRow {
  readonly entries: readonly Decidable[];
  /** The entry of a row that was no other tool's. */
  readonly own?: OwnEntry;
  /** Fields that were left out or changed. */
  readonly leftOut: readonly LeftOut[];
}

interface IgnoredRow {
  readonly ignored: string;
  /** It is of a billing tool's test mode. */
  readonly isTestMode?: true;
}

/** An admitted row, or the reason why it is rejected or ignored. */
export type RowVerdict = AdmittedRow | IgnoredRow | Invalid;

/** The outcome of a row. */
export type RowOutcome = SourcedOutcome | "ignored";

/** Whether a row has items to decide. */
export function isAdmitted(verdict: RowVerdict): verdict is AdmittedRow {
  return "entries" in verdict;
}

/** Admits a row. The ids of its items are remembered for good. */
export function admitRow(row: ItemRow, arrival: Arrival): RowVerdict {
  if (typeof row === "string") return admitOwn({ text: row, changed: [] }, arrival);
  if ("text" in row) return admitOwn(row, arrival);
  if (!("items" in row)) return row;
  const leftOut: LeftOut[] = leftOutOf(row.changed);
  const entries: Decidable[] = [];
  for (const item of row.items) {
    const admitted = admitSourced(item, arrival, (left) => leftOut.push(left));
    if (isInvalid(admitted)) return admitted;
    entries.push({ ...admitted, lastingDay: item.lastingDay ?? utcDay(admitted.atMs) });
  }
  return entries.length === 0 ? { ignored: "The row has nothing to store." } : { entries, leftOut };
}

function leftOutOf(changed: readonly KeptValue[] = []): LeftOut[] {
  return changed.map(({ kind, path }) => ({ kind, detail: keptDetail({ path }) }));
}

function admitOwn({ text, changed }: ChangedRow, arrival: Arrival): RowVerdict {
  const own = admitText(text, arrival);
  if (isInvalid(own)) return own;
  const entry = { ...own, lastingDay: utcDay(timeOf(own)) };
  return { entries: [entry], own: entry, leftOut: leftOutOf(changed) };
}

function timeOf(own: OwnEntry): number {
  if (own.kind === "account") return own.atMs;
  return own.kind === "track" ? own.timeMs : own.timestampMs;
}

function admitText(text: string, arrival: Arrival): OwnEntry | Invalid {
  const bytes = Buffer.from(text);
  if (bytes.length > limits.bodyBytes) {
    return { invalid: `body has ${bytes.length} bytes: send at most ${limits.bodyBytes}.` };
  }
  const body = parseBody(bytes);
  if (isInvalid(body)) return body;
  if (body.value.type === "account") return admitAccountItem(body, arrival);
  const { type, event, isActivity = true } = body.value;
  const named = type === "track" && typeof event === "string" ? storedEventName(event) : undefined;
  const isRenamed = named !== undefined && !isInvalid(named) && named.event !== event;
  const renamed: ParsedBody = isRenamed
    ? { value: { ...body.value, event: named.event }, unusualDigits: (path) => body.unusualDigits(path) }
    : body;
  const admitted = admitItem(renamed, arrival);
  if (isInvalid(admitted) || admitted.kind !== "track") return admitted;
  const track = isRenamed && named.label !== null ? { ...admitted, label: named.label } : admitted;
  if (isActivity === true || isActivity === null) return track;
  if (isActivity === false) return { ...track, isActivity };
  return { invalid: "isActivity is not valid: send true or false." };
}

function utcDay(ms: number): number {
  return Math.floor(ms / msPerDay);
}

/** The outcomes of the rows before the first that was left, in whole or in part, to a further commit. */
export function outcomesOfRows(
  verdicts: readonly RowVerdict[],
  decided: readonly SourcedOutcome[],
): readonly RowOutcome[] {
  const all: RowOutcome[] = [];
  let next = 0;
  for (const verdict of verdicts) {
    if (!isAdmitted(verdict)) {
      all.push("ignored" in verdict ? "ignored" : verdict);
      continue;
    }
    const outcomes = decided.slice(next, next + verdict.entries.length);
    if (outcomes.length < verdict.entries.length) break;
    next += outcomes.length;
    all.push(outcomeOf(verdict.entries, outcomes));
  }
  return all;
}

/** Items with an id of their own are the facts of a row. Those beside them, as a user's traits, say nothing
 * new when the row is repeated. */
function outcomeOf(entries: readonly Decidable[], outcomes: readonly SourcedOutcome[]): SourcedOutcome {
  const rejected = outcomes.find((outcome) => isInvalid(outcome) || outcome === "not_found");
  if (rejected !== undefined) return rejected;
  const withId = outcomes.filter((_, index) => entries[index]?.messageId != null);
  const facts = withId.length > 0 ? withId : outcomes;
  return facts.find((outcome) => isStored(outcome) || outcome === "held") ?? "duplicate";
}
