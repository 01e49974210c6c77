/** Opens a file of any format as rows. */
import { csvRows } from "./csv.ts";
import { jsonLines, spacedLines } from "./lines.ts";
import { type Reading, type Row, type RowSource, whiteSpace } from "./row.ts";

/** The rows of the file from its begin. `bytes` is the file's size. */
export function openRows(reading: Reading, bytes: number): RowSource {
  const counter = { bytes: 0, total: reading.format === "parquet" ? 0 : bytes };
  return {
    [Symbol.asyncIterator]: () => rowsOf(reading, counter)[Symbol.asyncIterator](),
    fractionRead: () => (counter.total === 0 ? 0 : counter.bytes / counter.total),
  };
}

function rowsOf(reading: Reading, counter: { bytes: number; total: number }): AsyncIterable<Row> {
  if (reading.format === "parquet") return parquet(reading, counter);
  if (reading.format === "jsonl") return jsonLines(reading, counter);
  return reading.delimiter === whiteSpace ? spacedLines(reading, counter) : csvRows(reading, counter);
}

/** The engine is loaded for Parquet only. */
async function* parquet(reading: Reading, counter: { bytes: number; total: number }): AsyncIterable<Row> {
  const { parquetRows } = await import("./parquet.ts");
  yield* parquetRows(reading, counter);
}
