/** What the ledger keeps of imported files, so that they can be stopped, resumed and run again. */
import { Refusal } from "../../../contract/refusal.ts";

/** A file that is imported, or was: how far, and what became of its rows. */
export interface ImportRecord {
  readonly id: number;
  readonly organization: number;
  /** Of the file's content, hexadecimal. */
  readonly sha256: string;
  /** How its rows are read, as text. One file under two mappings is two imports. */
  readonly mapping: string;
  readonly fileName: string;
  /** Rows from the file's begin that are decided and, where they were good, stored. */
  readonly rowsDone: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** The last rows that were decided, so that an answer that got lost can be given again. */
  readonly lastFromRow: number;
  readonly lastRejected: readonly RejectedRow[];
  readonly startedAtMs: number;
  readonly updatedAtMs: number;
  readonly finishedAtMs: number | null;
}

export type NewImport = Pick<ImportRecord, "organization" | "sha256" | "mapping" | "fileName"> & {
  readonly nowMs: number;
};

export interface RejectedRow {
  /** Counted from 0, without a header. */
  readonly row: number;
  readonly reason: string;
}

/** Rows [fromRow, fromRow + rows) of an import, decided in this transaction. */
export interface ImportProgress {
  readonly importId: number;
  readonly fromRow: number;
  readonly rows: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly rejected: readonly RejectedRow[];
}

/** The lasting records of imported files. They move on in `transact` alone, together with the rows. */
export interface Imports {
  /** The record of this file under this mapping: the one that exists, or a new one. A finished import of which
   * nothing was stored begins again. @throws Refusal when there is no such organization */
  begin(file: NewImport): Promise<ImportRecord>;
  find(id: number): Promise<ImportRecord | undefined>;
  /** Every import of this content into the organization, whatever its mapping. */
  ofFile(organization: number, sha256: string): Promise<readonly ImportRecord[]>;
  /** Every row of the file is decided. Finishing twice changes nothing. */
  finish(id: number, nowMs: number): Promise<void>;
}

/** @returns what a run is told of which another has decided the rows */
export function importMovedOn(): Refusal {
  return new Refusal("Another run of this import has moved on: let one finish.");
}
