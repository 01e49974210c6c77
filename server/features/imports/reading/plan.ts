/** How a file is imported. */

import type { ImportRow } from "../../../intake/import-rows.ts";
import type { ImportRecord } from "../../../ledger/stores/imports.ts";
import type { StripeCustomer } from "../../../sources/exports/stripe.ts";
import { refuseDamaged } from "./bytes.ts";
import { itemOf } from "./item.ts";
import type { Mapping } from "./mapping.ts";
import type { Reading, Row, RowSource } from "./row.ts";
import { openRows } from "./source.ts";
import type { Check } from "./unmatched.ts";

export interface ImportPlan {
  /** The contents of the rows, for the user. */
  readonly what: string;
  /** What the columns are taken for, for the user. Only of files without a tool. */
  readonly columns?: string;
  readonly open: () => RowSource;
  /** A function that turns rows into items, in the order of the file. */
  readonly translator: () => (row: Row) => ImportRow;
  /** Reads a packed file to its end. @throws Refusal when it is damaged */
  readonly refuseDamaged: () => Promise<void>;
  /** Every option that decides the meaning of a row: another text is another import. */
  readonly text: string;
  readonly holdsEvents: boolean;
  /** Reads the file for customers who match no user. Only of tools whose exports name customers. To be called
   * before the translator. */
  readonly findUnmatched?: (check: Check) => Promise<Unmatched>;
}

/** Customers who match no user. */
export interface Unmatched {
  readonly customers: readonly StripeCustomer[];
  /** Whether those with an e-mail address become users. */
  readonly areCreated: boolean;
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

/** Whether an import that was recorded has events: events under two mappings would be stored twice. */
export function holdsEvents({ mapping }: ImportRecord): boolean {
  return (JSON.parse(mapping) as Partial<Mapping>).type === "events";
}
