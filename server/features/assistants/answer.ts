/** Answers of tools: a table with what it takes to read it, within the limits of what an assistant reads. */

import type { Freshness } from "../../../contract/api/route.ts";
import { assistantLimits } from "../../../contract/assistants/assistants.ts";
import { isJsonObject } from "../../../contract/json.ts";
import type { Asking } from "./asking.ts";

type Cell = string | number | boolean | null;

/** The table of a tool. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Rows there are in all, where the route says it. */
  readonly totalRows?: number;
  /** Columns with texts that senders or other people wrote. */
  readonly untrusted: readonly string[];
  /** At most this many rows. */
  readonly limit?: number | undefined;
  /** The day or the instant that the figures are of. Default: up to when data is loaded. */
  readonly asOf?: string | null | undefined;
  /** Of the churn risk. */
  readonly model?: string | null;
  readonly notEnoughData?: string | undefined;
  readonly notes?: readonly (string | null | undefined)[];
  /** The page with the same figures, below the organization's address: `users/ada`. */
  readonly page: string;
}

/** An answer as an assistant reads it. */
export interface ToolAnswer {
  readonly asOf: string | null;
  readonly timezone: string;
  readonly model?: string | null;
  readonly freshness: { readonly loadedUpto: string | null; readonly problems: readonly string[] };
  readonly notEnoughData?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly totalRows: number;
  readonly note: string;
  readonly link: string;
  readonly untrustedColumns: readonly string[];
}

/** The answer with a table: cut to the limits of rows and characters. */
export async function answerWith(asking: Asking, table: Table): Promise<ToolAnswer> {
  const { freshness } = await withFreshness(asking);
  const { columns, rows, limit = assistantLimits.rows, untrusted, model, notEnoughData } = table;
  const shown = rows.slice(0, Math.min(limit, assistantLimits.mostRows)).map((row) => row.map(cellOf));
  const totalRows = Math.max(table.totalRows ?? 0, rows.length);
  const whole = (some: readonly (readonly Cell[])[]): ToolAnswer => ({
    asOf: table.asOf ?? freshness.loadedUpto,
    timezone: freshness.timezone,
    ...(model !== undefined && { model }),
    freshness: { loadedUpto: freshness.loadedUpto, problems: problemsIn(freshness) },
    ...(notEnoughData !== undefined && { notEnoughData }),
    columns,
    rows: some,
    totalRows,
    note: noteOf(table, some.length, totalRows),
    link: `${asking.address}/o/${asking.organization.id}/${table.page}`,
    untrustedColumns: untrusted.filter((name) => columns.includes(name)),
  });
  let fits = shown;
  while (fits.length > 0 && JSON.stringify(whole(fits)).length > assistantLimits.answerCharacters) {
    fits = fits.slice(0, Math.floor(fits.length * 0.9));
  }
  return whole(fits);
}

/** The freshness of the organization's figures. */
async function withFreshness(asking: Asking): Promise<{ readonly freshness: Freshness }> {
  const answer: object = await asking.ask("GET /api/freshness");
  // A figure's answer has its freshness beside its own fields.
  return answer as { readonly freshness: Freshness };
}

function problemsIn({ silentSources, rebuilding, loading, earlierScores, failures }: Freshness): string[] {
  return [
    ...silentSources.map(
      ({ source, since, freezesScores }) =>
        `${source} has been silent since ${since}${freezesScores ? "; scores wait for it" : ""}`,
    ),
    ...(rebuilding === null ? [] : ["days are being computed again; figures may still be from before"]),
    ...(loading === null ? [] : ["earlier events are being loaded"]),
    ...(earlierScores === null ? [] : ["earlier days are being scored; changes are not complete"]),
    ...failures.map(({ of, since }) => `${of} have failed since ${since}`),
  ];
}

function noteOf({ notes = [] }: Table, shown: number, total: number): string {
  const cut = shown < total ? `The first ${shown} of ${total} rows.` : "";
  return [cut, ...notes].filter((text) => text != null && text !== "").join(" ");
}

// Characters that people do not see, among them those in which orders to a model can be hidden. The joiner of
// emoji stays.
const unseen = /(?!\u200d)[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu;

/** A text without characters that nobody sees, cut to what fits in a row. */
export function shownText(text: string): string {
  const seen = text.replace(/[\n\t]+/g, " ").replace(unseen, "");
  const { textCharacters } = assistantLimits;
  const characters = [...seen.slice(0, 2 * textCharacters + 2)];
  return characters.length <= textCharacters
    ? characters.join("")
    : `${characters.slice(0, textCharacters - 1).join("")}…`;
}

function cellOf(value: unknown): Cell {
  if (typeof value === "string") return shownText(value);
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (value === null || value === undefined) return null;
  return shownText(JSON.stringify(value));
}

/** Rows of objects as a table. @param columns names of fields, in their order */
export function columnsOf<Row extends object, Name extends keyof Row & string>(
  rows: readonly Row[],
  columns: readonly Name[],
): { readonly columns: readonly Name[]; readonly rows: readonly (readonly unknown[])[] } {
  return { columns, rows: rows.map((row) => columns.map((name) => row[name])) };
}

/** Rows of objects of several kinds as a table, with all of their plain fields. */
export function tableOf(rows: readonly object[]) {
  const columns = [
    ...new Set(
      rows.flatMap((row) => Object.entries(row).flatMap(([key, value]) => (isPlain(value) ? key : []))),
    ),
  ];
  return {
    columns,
    rows: rows.map((row) => {
      const values = new Map<string, unknown>(Object.entries(row));
      return columns.map((name) => values.get(name));
    }),
  };
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== "object";
}

/** The columns of `factsOf`. */
export const factColumns = ["figure", "value"] as const;

/** Everything in an answer as rows of a name and a value: `health.score` and 34. Empty lists are left out. */
export function factsOf(value: unknown, name: string): (readonly [string, unknown])[] {
  if (Array.isArray(value)) {
    if (value.every(isPlain)) return value.length === 0 ? [] : [[name, value.join("; ")]];
    return value.flatMap((each: unknown, index) => factsOf(each, `${name}[${index}]`));
  }
  if (!isJsonObject(value)) return value === undefined ? [] : [[name, value]];
  return Object.entries(value).flatMap(([key, each]) => factsOf(each, name === "" ? key : `${name}.${key}`));
}
