/**
 * The analysis process reads frozen rows from the ledger's file itself, and takes its snapshot. So tens of
 * megabytes do not cross a socket. It only reads, and each read except a snapshot is short: while a
 * transaction is open, the write-ahead log cannot start again. With a checkpoint from this process the log
 * grew to 343 MB.
 */
import { Database } from "bun:sqlite";
import type { FrozenBatch } from "../inbox.ts";
import type { LedgerSnapshot } from "../ledger.ts";
import { prepareRead, readBatch } from "./inbox-read.ts";
import { takeSnapshot } from "./snapshot.ts";

export interface InboxReader {
  /** The rows of a frozen batch, as in `Inbox.read`.
   * @throws Error when a row of the batch is missing. */
  read(batch: FrozenBatch): Promise<Buffer>;
  /** As `Ledger.snapshot`. */
  snapshot(folder: string): Promise<LedgerSnapshot>;
  close(): void;
}

/** @param file of the ledger. The writer has to open it first. @throws SQLiteError when there is none. */
export function openInboxReader(file: string): InboxReader {
  const db = new Database(file, { readonly: true });
  db.run("PRAGMA busy_timeout = 5000");
  const statement = prepareRead(db);
  return {
    read: async (batch) => readBatch(statement, batch),
    snapshot: (folder) => takeSnapshot(file, folder),
    close: () => db.close(),
  };
}
