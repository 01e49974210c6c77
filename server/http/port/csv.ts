/**
 * Tables as CSV (RFC 4180): lines end with CR LF, null is an empty field, objects are their JSON.
 *
 * Spreadsheets run a text that begins like a formula, and senders choose names, values and ids. Such a text
 * gets an apostrophe in front, which spreadsheets take for "this is text" (OWASP, "CSV injection"). Where
 * semicolons or tabs part cells, as Excel does in half of Europe, a text goes on in the next cell: what
 * begins like a formula after one gets its apostrophe there. JSON and `rekindle export` have the exact text.
 */
import type { JsonObject } from "../../../contract/json.ts";

/** A header and a line for each row, with these columns. */
export function csv(columns: readonly string[], rows: readonly JsonObject[]): string {
  return csvLines([columns.map(text), ...rows.map((row) => columns.map((column) => text(row[column])))]);
}

/** A table whose rows come in chunks. @param hasMark whether it begins with a byte order mark: without one,
 * Excel takes UTF-8 for the encoding of its language */
export async function* csvChunks(
  columns: readonly string[],
  chunks: AsyncIterable<readonly JsonObject[]>,
  hasMark: boolean,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode((hasMark ? "\ufeff" : "") + csv(columns, []));
  for await (const rows of chunks) {
    yield encoder.encode(csvLines(rows.map((row) => columns.map((column) => text(row[column])))));
  }
}

function csvLines(lines: readonly (readonly string[])[]): string {
  return lines.map((fields) => `${fields.map(quoted).join(",")}\r\n`).join("");
}

function text(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return harmless(value);
  return typeof value === "object" ? harmless(JSON.stringify(value)) : String(value);
}

// The full-width forms count too; a plain number does not. Before a formula there may be characters that are
// not seen and that a spreadsheet may drop: controls, U+00AD, U+200B, U+034F, U+3164, U+2800.
const beginsLikeFormula = /^(?![+-]?\d+(\.\d+)?$)[\s\p{Cc}\p{Cf}\p{DI}\u2800]*[=+\-@\t\r\n＝＋－＠]/u;
/** Of the text behind a semicolon, tab or line break, up to and with the next one. */
const goesOnLikeFormula = /^([\s\p{Cc}\p{Cf}\p{DI}\u2800"]*)(?![+-]?\d+(?:\.\d+)?\s*;?$)([=+\-@＝＋－＠])/u;

function harmless(text: string): string {
  const inner = /[;\t\r\n]/.test(text) ? harmlessParts(text) : text;
  return beginsLikeFormula.test(text) ? `'${inner}` : inner;
}

function harmlessParts(text: string): string {
  const [first = "", ...others] = text.split(/(?<=[;\t\r\n])/);
  return first + others.map((part) => part.replace(goesOnLikeFormula, "$1'$2")).join("");
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
