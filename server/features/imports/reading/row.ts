/** The common form of all file formats: rows with their columns, one after another, in the file's order. */

import { Refusal } from "../../../../contract/refusal.ts";
import type { ParsedBody } from "../../../intake/admission/json.ts";
import type { KeptValue } from "../../../intake/admission/kept-values.ts";

/** A row, or why it could not be read. */
export type Row = ReadRow | UnreadableRow;

export interface ReadRow {
  /** Where it begins, from 1; in a Parquet file the number of the row. */
  readonly line: number;
  readonly columns: readonly string[];
  /** One for each column: text, or any JSON value. `undefined` is not sent. */
  readonly cells: readonly unknown[];
  /** The JSON that the row was read from, with the spelling of its numbers. */
  readonly body?: ParsedBody;
  /** Values that were changed so that they can be kept. */
  readonly changed?: readonly KeptValue[];
}

interface UnreadableRow {
  readonly line: number;
  readonly unreadable: string;
}

/** The rows of a file, from its begin. The same file gives the same rows every time. */
export interface RowSource extends AsyncIterable<Row> {
  /** How much of the file is read, 0 to 1. */
  fractionRead(): number;
}

export const formats = ["csv", "jsonl", "parquet"] as const;
export type Format = (typeof formats)[number];

/** How the file is read. */
export interface Reading {
  readonly path: string;
  readonly format: Format;
  readonly gzip: boolean;
  /** One character, or a run of white space. */
  readonly delimiter: string;
  readonly header: boolean;
}

/** The delimiter that means any run of white space. */
export const whiteSpace = "white space";

/** Reads UTF-8 strictly: no byte may be replaced. */
export const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const notUtf8 = "is not valid UTF-8: save the file as UTF-8.";

/** The columns' names from a header's cells; those of a file without a header are 1, 2, 3 and so on.
 * @throws Refusal when two have one name */
export function columnNames(cells: readonly string[], header: boolean): readonly string[] {
  if (!header) return cells.map((_, index) => String(index + 1));
  const names = cells.map((cell, index) => cell.trim() || String(index + 1));
  // By a set: to look through all names for each of 200,000 took 66 s.
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined) {
    throw new Refusal(
      `the header has the column ${JSON.stringify(twice)} twice: give each a name of its own.`,
    );
  }
  return names;
}

/** A row of text cells; an empty one is not sent. */
export function cellsRow(line: number, columns: readonly string[], cells: readonly string[]): Row {
  if (cells.length !== columns.length) {
    return { line, unreadable: `row has ${cells.length} cells where ${columns.length} are expected.` };
  }
  return { line, columns, cells: cells.map((cell) => (cell === "" ? undefined : cell)) };
}
