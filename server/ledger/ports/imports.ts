/** Records of imported files, so that imports can be stopped, resumed and run again. */
import { Refusal } from "../../../contract/refusal.ts";

/** An imported file: its position, and the outcomes of its rows. */
export interface ImportRecord {
  readonly id: number;
  readonly organization: number;
  /** The hash of the file's content, hexadecimal. */
  readonly sha256: string;
  /** The mapping of its rows, as text. One file under two mappings is two imports. */
  readonly mapping: string;
  readonly fileName: string;
  /** Rows from the file's begin that are decided. The valid ones are stored. */
  readonly rowsDone: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** The last rows that were decided, so that a lost answer can be repeated. */
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

/** The durable records of imported files. Only `transact` changes their position, together with the rows. */
export interface Imports {
  /** The record of this file under this mapping: the existing one, or a new one. A finished import that
   * stored nothing begins again. @throws Refusal when there is no such organization */
  begin(file: NewImport): Promise<ImportRecord>;
  find(id: number): Promise<ImportRecord | undefined>;
  /** Every import of this content into the organization, with any mapping. */
  ofFile(organization: number, sha256: string): Promise<readonly ImportRecord[]>;
  /** Records that every row of the file is decided. A second call changes nothing. */
  finish(id: number, nowMs: number): Promise<void>;
}

/** The error for a run whose rows another run has decided. */
export function importMovedOn(): Refusal {
  return new Refusal("Another run of this import has moved on: let one finish.");
}
