/** A copy of the ledger for a backup. */

/** The ledger as it was at one instant, to be kept in a backup. */
export interface LedgerSnapshot {
  /** How many migrations its tables have had. */
  readonly migration: number;
  /** Batches that were frozen and not in the warehouse yet. */
  readonly unfinishedBatches: number;
  /** What was acknowledged, waiting rows included. */
  readonly organizations: readonly { readonly name: string; readonly events: number }[];
  /** To be read in this order. */
  readonly files: readonly SnapshotFile[];
}

export interface SnapshotFile {
  /** The path in a data folder, `ledger.sqlite` say. */
  readonly name: string;
  /** The bytes; undefined when the file is no longer needed. */
  read(): AsyncIterable<Uint8Array> | undefined;
}
