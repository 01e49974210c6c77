/** How a file is imported. */

import type { ImportRow } from "../../server/intake/intake.ts";
import { refuseDamaged } from "./bytes.ts";
import { itemOf } from "./item.ts";
import type { Mapping } from "./mapping.ts";
import type { Reading, Row, RowSource } from "./row.ts";
import { openRows } from "./source.ts";

export interface ImportPlan {
  /** The contents of the rows, for the user. */
  readonly what: string;
  readonly open: () => RowSource;
  /** A function that turns rows into items, in the order of the file. */
  readonly translator: () => (row: Row) => ImportRow;
  /** Reads a packed file to its end. @throws Refusal when it is damaged */
  readonly refuseDamaged: () => Promise<void>;
  /** Every option that decides the meaning of a row: another text is another import. */
  readonly text: string;
  readonly holdsEvents: boolean;
}

/** The import of a file by its columns. */
export function mappedPlan(reading: Reading, bytes: number, mapping: Mapping): ImportPlan {
  const { path, format, gzip, delimiter, header } = reading;
  return {
    what: mapping.type,
    open: () => openRows(reading, bytes),
    translator: () => (row) => itemOf(row, mapping),
    refuseDamaged: async () => (gzip ? refuseDamaged(path) : undefined),
    text: JSON.stringify({ version: 1, format, delimiter, header, ...mapping }),
    holdsEvents: mapping.type === "events",
  };
}
