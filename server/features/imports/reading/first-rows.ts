/** The first rows of a file: they tell the columns, and what is wrong with all rows. */
import { Refusal } from "../../../../contract/refusal.ts";
import type { Row, RowSource } from "./row.ts";

/** The columns of JSON lines may differ from row to row: the first rows of this number are read. */
export const firstRowsRead = 100;

/** The first rows of a file; fewer where it cannot be read further.
 * @throws Refusal when not even the first can be read */
export async function firstRows(source: RowSource): Promise<readonly Row[]> {
  const rows: Row[] = [];
  try {
    for await (const row of source) {
      rows.push(row);
      if (rows.length === firstRowsRead) break;
    }
  } catch (error) {
    // The import itself will reach the error, and keep the rows before it.
    if (rows.length === 0) throw error;
  }
  return rows;
}

/** The columns of the rows. @throws Refusal when none of them can be read */
export function columnsOf(rows: readonly Row[]): readonly string[] {
  const columns = new Set(rows.flatMap((row) => ("unreadable" in row ? [] : row.columns)));
  const [first] = rows;
  if (columns.size === 0 && first !== undefined && "unreadable" in first) {
    throw new Refusal(`none of the first rows can be read; on line ${first.line}: ${first.unreadable}`);
  }
  return [...columns];
}

/** A reason without what differs from row to row. */
export function alike(reason: string): string {
  return reason.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\d+/g, "0");
}
