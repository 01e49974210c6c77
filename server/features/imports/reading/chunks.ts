/** Cuts the rows of a file into the chunks that are stored with one commit each. */
import { Refusal } from "../../../../contract/refusal.ts";
import type { ImportRow } from "../../../intake/import-rows.ts";
import { maxImportRows } from "../../../intake/importer.ts";
import { doneBefore } from "./file.ts";
import type { Row, RowSource } from "./row.ts";

/** The size of a chunk, besides its number of rows. */
const maxChunkCharacters = 1024 * 1024;

/** Rows that are sent at once. */
export interface Chunk {
  readonly rows: ImportRow[];
  /** Where each row is in the file. */
  readonly lines: number[];
}

/** What is cut into chunks. */
interface Cut {
  readonly rows: RowSource;
  /** The item of a row, called in the order of the file. */
  readonly itemOf: (row: Row) => ImportRow;
  /** Rows from the begin that earlier runs have done. */
  readonly rowsDone: number;
  /** Called for every row that earlier runs have done, with its number, counted from 0, and its line. */
  readonly onPassed: (row: number, line: number) => void;
}

/** The rows that are not done yet, in chunks.
 * @throws Refusal where the file cannot be read further, after the rows before it */
export async function* chunksOf({ rows, itemOf, rowsDone, onPassed }: Cut): AsyncIterable<Chunk> {
  let chunk: Chunk = { rows: [], lines: [] };
  let characters = 0;
  let items = 0;
  let passed = 0;
  try {
    for await (const row of rows) {
      passed += 1;
      if (passed <= rowsDone) {
        onPassed(passed - 1, row.line);
        continue;
      }
      const item = itemOf(row);
      const size = sizeOf(item);
      const isFull = items + size.items > maxImportRows || characters + size.characters > maxChunkCharacters;
      if (chunk.rows.length > 0 && (isFull || chunk.rows.length === maxImportRows)) {
        yield chunk;
        chunk = { rows: [], lines: [] };
        characters = 0;
        items = 0;
      }
      characters += size.characters;
      items += size.items;
      chunk.rows.push(item);
      chunk.lines.push(row.line);
    }
  } catch (error) {
    // Rows before the error are kept.
    if (chunk.rows.length > 0) yield chunk;
    if (passed === 0 || !(error instanceof Refusal)) throw error;
    throw new Refusal(`${error.message} Import the repaired file without ${doneBefore(passed)}.`);
  }
  if (chunk.rows.length > 0) yield chunk;
}

function sizeOf(row: ImportRow): { readonly characters: number; readonly items: number } {
  if (typeof row === "string") return { characters: row.length, items: 1 };
  return { characters: JSON.stringify(row).length, items: "items" in row ? row.items.length : 0 };
}
