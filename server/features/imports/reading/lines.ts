/** Files of lines: JSON lines, and columns with white space between. A line may be as long as a request. */
import { limits } from "../../../../contract/limits.ts";
import { isInvalid } from "../../../intake/admission/json.ts";
import { parseKeptBody } from "../../../intake/admission/kept-values.ts";
import { type Counter, contentOf } from "./bytes.ts";
import { cellsRow, columnNames, notUtf8, type Reading, type Row, utf8 } from "./row.ts";

/** A line of a file. */
export interface Line {
  readonly number: number;
  /** Undefined when the line is longer than a request may be: its bytes are dropped as they are read. */
  readonly bytes: Buffer | undefined;
}

const newline = 10;
const carriageReturn = 13;

/** The lines, without their ends. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncIterable<Line> {
  let number = 1;
  let pieces: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer) => {
    length += piece.length;
    if (length <= limits.bodyBytes) pieces.push(piece);
    else pieces = [];
  };
  const end = (): Line => {
    const line = { number, bytes: length > limits.bodyBytes ? undefined : withoutReturn(joined(pieces)) };
    number += 1;
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, at));
      start = at + 1;
      yield end();
    }
    take(chunk.subarray(start));
  }
  if (length > 0) yield end();
}

function joined(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

function withoutReturn(bytes: Buffer): Buffer {
  return bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes;
}

export const tooLong = `is longer than ${limits.bodyBytes} bytes: send less.`;

/** One JSON object a line; empty lines are none. A number that an id is made of keeps its spelling. */
export function jsonLines({ path, gzip }: Reading, counter: Counter): AsyncIterable<Row> {
  return jsonRows(contentOf(path, gzip, counter));
}

/** The rows of content with one JSON object a line, from a file or elsewhere. */
export async function* jsonRows(content: AsyncIterable<Buffer>): AsyncIterable<Row> {
  for await (const { number: line, bytes } of linesOf(content)) {
    if (bytes === undefined) yield { line, unreadable: `line ${tooLong}` };
    else if (bytes.some((byte) => byte !== 32 && byte !== 9)) yield jsonRow(line, bytes);
  }
}

function jsonRow(line: number, bytes: Buffer): Row {
  const body = parseKeptBody(bytes);
  if (isInvalid(body)) return { line, unreadable: body.invalid };
  const { value, changed } = body;
  return { line, columns: Object.keys(value), cells: Object.values(value), body, changed };
}

/** Columns with any run of white space between them; spaces around a line and empty lines count for
 * nothing. */
export async function* spacedLines({ path, gzip, header }: Reading, counter: Counter): AsyncIterable<Row> {
  let columns: readonly string[] | undefined;
  for await (const { number: line, bytes } of linesOf(contentOf(path, gzip, counter))) {
    const text = bytes && decoded(bytes);
    if (text === undefined) {
      yield { line, unreadable: `line ${bytes === undefined ? tooLong : notUtf8}` };
      continue;
    }
    const cells = text.split(/\s+/).filter((cell) => cell !== "");
    if (cells.length === 0) continue;
    if (columns === undefined) {
      columns = columnNames(cells, header);
      if (header) continue;
    }
    yield cellsRow(line, columns, cells);
  }
}

/** The text of a line; undefined when it is not UTF-8. */
export function decoded(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
