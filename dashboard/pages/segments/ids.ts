/** The ids of a fixed segment, from a CSV. */
import { parse } from "csv-parse/browser/esm/sync";
import type { SegmentKind } from "../../../contract/segments/segments.ts";

/** The first column, without its header and without empty cells. Excel parts columns with semicolons in half
 * of Europe, and may say so in a first line `sep=;`. @throws Error for a text that is no CSV */
export function idsIn(csv: string, kind: SegmentKind): string[] {
  const rows: string[][] = parse(csv, {
    bom: true,
    delimiter: [",", ";", "\t"],
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const ids = rows.map(([id = ""]) => id.trim()).filter((id, row) => id !== "" && (row > 0 || id !== "sep="));
  return ids[0] === (kind === "users" ? "userId" : "accountId") ? ids.slice(1) : ids;
}
