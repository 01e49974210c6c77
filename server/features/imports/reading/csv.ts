/**
 * CSV (RFC 4180): quoted cells may contain delimiters, quotes and line ends. Stray quotes in an unquoted cell
 * are kept as they are.
 *
 * The parser reads bytes as Latin-1, one character each, so that each row's UTF-8 can be checked separately.
 * With UTF-8 it would replace unreadable bytes by a question mark.
 */
import { CsvError, parse } from "csv-parse";
import { Refusal } from "../../../../contract/refusal.ts";
import { type Counter, contentOf } from "./bytes.ts";
import { isSeparatorLine } from "./delimiter.ts";
import { cellsRow, columnNames, notUtf8, type Reading, type Row, utf8 } from "./row.ts";

/** A row this long means that a quote is not closed, or that the file is no CSV. */
const maxRowBytes = 32 * 1024 * 1024;

interface Parsed {
  readonly cells: readonly string[];
  /** The number of the line on which the row ends. */
  readonly endLine: number;
}

/** The rows; @throws Refusal where the file cannot be read any further */
export async function* csvRows(reading: Reading, counter: Counter): AsyncIterable<Row> {
  const { path, gzip, delimiter, header } = reading;
  const lines = new Lines();
  let columns: readonly string[] | undefined;
  try {
    for await (const parsed of recordsOf(contentOf(path, gzip, counter), delimiter)) {
      const line = lines.begin(parsed);
      if (line === 1 && isSeparatorLine(parsed.cells, delimiter)) continue;
      const cells = decoded(parsed.cells);
      if (columns === undefined) {
        if (cells === undefined) throw new Refusal(`the header ${notUtf8}`);
        columns = columnNames(cells, header);
        if (header) continue;
      }
      yield cells === undefined ? { line, unreadable: `row ${notUtf8}` } : cellsRow(line, columns, cells);
    }
  } catch (error) {
    throw error instanceof CsvError ? new Refusal(whyUnreadable(error, lines.next)) : error;
  }
}

/** The parser as an iterator. Its own stream forgets the last rows before an error: they are taken here as
 * they are made. */
async function* recordsOf(content: AsyncIterable<Buffer>, delimiter: string): AsyncIterable<Parsed> {
  let made: Parsed[] = [];
  const parser = parse({
    delimiter,
    encoding: "latin1",
    max_record_size: maxRowBytes,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    on_record: (cells: readonly string[], { lines }) => {
      made.push({ cells, endLine: lines });
      return null;
    },
  });
  let failure: unknown;
  parser.on("error", (error) => {
    failure = error;
  });
  const taken = () => {
    const rows = made;
    made = [];
    return rows;
  };
  const step = (work: (done: () => void) => void) => new Promise<void>((done) => work(() => done()));
  for await (const chunk of content) {
    await step((done) => parser.write(chunk, done));
    yield* taken();
    if (failure !== undefined) throw failure;
  }
  await step((done) => parser.end(done));
  yield* taken();
  if (failure !== undefined) throw failure;
}

/** The lines on which rows begin. The parser gives the last line of a row, and counts a quoted CR LF as two
 * lines. */
class Lines {
  next = 1;
  #counted = 1;

  begin({ cells, endLine }: Parsed): number {
    const spanned = endLine - this.#counted;
    this.#counted = endLine + 1;
    let extra = 0;
    let inside = 0;
    if (spanned > 0) {
      for (const cell of cells) {
        extra += cell.split("\r\n").length - 1;
        inside += cell.split(/\r\n|\r|\n/).length - 1;
      }
    }
    const end = this.next + spanned - extra;
    this.next = end + 1;
    return end - inside;
  }
}

const beyondAscii = /[^\0-\x7f]/;

function decoded(record: readonly string[]): readonly string[] | undefined {
  if (!record.some((cell) => beyondAscii.test(cell))) return record;
  try {
    return record.map((cell) => utf8.decode(Buffer.from(cell, "latin1")));
  } catch {
    return undefined;
  }
}

function whyUnreadable(error: CsvError, line: number): string {
  switch (error.code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return `the row that begins on line ${line} opens a quote that is never closed: fix the file.`;
    case "CSV_MAX_RECORD_SIZE":
      return `the row that begins on line ${line} is longer than ${maxRowBytes} bytes: is a quote not closed, or is the file not CSV?`;
    default:
      return `the file cannot be read beyond line ${line}: ${error.message}.`;
  }
}
