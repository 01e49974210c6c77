/** The inbox: acknowledged rows that the warehouse does not have yet. */

/** Rows for one table of the warehouse, already serialized: one JSON array a line. */
export interface InboxRows {
  readonly table: WarehouseTable;
  /** The partition's year for events. 0 for tables without partitions. */
  readonly year: number;
  /** Version of the row's columns (see `ledger/rules/warehouse-rows.ts`), so that old rows can be read after
   * an upgrade. */
  readonly schema: number;
  readonly rows: number;
  readonly body: string;
}

export type WarehouseTable = "events" | "users" | "accounts" | "user_versions" | "account_versions";

/** The number of acknowledged events of one UTC day. `doctor` compares the warehouse with it. */
export interface DayCount {
  readonly organization: number;
  /** Days since 1970-01-01, UTC. */
  readonly utcDay: number;
  readonly events: number;
  /** Sum, modulo 2^32, of the last 32 bits of every event's id. */
  readonly checksum: number;
}

/** Rows of one table that are sent to the warehouse together. Its number is never used again. */
export interface FrozenBatch {
  readonly number: number;
  readonly table: WarehouseTable;
  readonly year: number;
  readonly schema: number;
  readonly rows: number;
  readonly bytes: number;
  /** The batch's rows are the inbox's in (afterInboxId, uptoInboxId] with its table, year and schema. */
  readonly afterInboxId: number;
  readonly uptoInboxId: number;
}

/** A row that the warehouse rejected, with the reason. */
export interface RejectedEvent {
  readonly table: WarehouseTable;
  readonly row: string;
  readonly reason: string;
}

/** The loader's interface to the inbox. It crosses the process boundary, so every answer is plain data. */
export interface Inbox {
  /** Freezes waiting rows, at most `maxRows` and some tens of megabytes. Returns all frozen batches that are
   * not finished, oldest first. One commit freezes the rows and moves the position. */
  freeze(maxRows: number): Promise<readonly FrozenBatch[]>;
  /** The rows of a frozen batch: newline-delimited JSON arrays in inbox order, the same bytes every time. */
  read(batch: FrozenBatch): Promise<Buffer>;
  /** Called when the batch is in the warehouse, except its rejected rows. A second call changes nothing.
   * @throws Refusal when the rejected events are full: the batch stays, and so do its rows. */
  finish(batchNumber: number, rejectedEvents: readonly RejectedEvent[]): Promise<void>;
  /** Rows and bytes that wait, frozen or not, and the inbox id of the newest row ever written. */
  backlog(): Promise<Backlog>;
}

export interface Backlog {
  readonly rows: number;
  readonly bytes: number;
  readonly newestInboxId: number;
  /** Every row up to this inbox id is in the warehouse. */
  readonly loadedUptoInboxId: number;
}
