/** The room that there is for writes: on the disk, and for what waits for the warehouse. */

export interface IntakeLimits {
  /** Bytes that may wait for the warehouse; past them senders get 429 until the loader has caught up. */
  readonly maxBacklogBytes: number;
  /** With less free disk than this senders get 429: what is stored must stay safe. */
  readonly minFreeDiskBytes: number;
}

/** Room for the write-ahead log, a checkpoint, and the merges of the warehouse. */
export const minFreeDiskBytes = 8 * 1024 ** 2;

/** What waits for the warehouse, when intake looked last. */
export interface WaitingRows {
  readonly rows: number;
  readonly bytes: number;
  /** Everything that was acknowledged before this instant is loaded; where that is not known, when this began to look. */
  readonly loadedUptoMs: number;
}
