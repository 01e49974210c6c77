/** Dates such as 05/06/2025: the whole column tells whether the day or the month is first. */
import { Refusal } from "../../../../contract/refusal.ts";
import type { Mapping } from "./mapping.ts";
import type { Row, RowSource } from "./row.ts";
import { dayOrderIn } from "./time.ts";

/**
 * The mapping with the order of days and months, when the first rows have such dates. It reads the file to
 * its end: a later row may contradict.
 * @throws Refusal when no date tells the order, and when two dates differ
 */
export async function withDayOrder(
  mapping: Mapping,
  first: readonly Row[],
  rows: RowSource,
): Promise<Mapping> {
  const { timestampFormat, columns } = mapping;
  const { timestamp: column } = columns;
  if (timestampFormat !== "auto" || column === undefined) return mapping;
  const cellOf = (row: Row) => ("unreadable" in row ? undefined : row.cells[row.columns.indexOf(column)]);
  const [example] = first.map(cellOf).filter((cell) => dayOrderIn(cell) !== undefined);
  if (example === undefined) return mapping;
  const found = new Set<"dmy" | "mdy">();
  try {
    for await (const row of rows) {
      const order = dayOrderIn(cellOf(row));
      if (order === "dmy" || order === "mdy") found.add(order);
    }
  } catch (error) {
    // The import itself will reach the error, and keep the rows before it.
    if (!(error instanceof Refusal)) throw error;
  }
  const [order, other] = found;
  if (order !== undefined && other === undefined) return { ...mapping, timestampFormat: order };
  const why =
    order === undefined
      ? "may have the day or the month first"
      : "have the day first in some rows, and the month in others";
  throw new Refusal(
    `the dates of ${JSON.stringify(column)}, such as ${JSON.stringify(example)}, ${why}: give --timestamp-format dmy or mdy.`,
  );
}
