/**
 * The analysis process reads frozen rows from the ledger's file itself, and takes its snapshot: tens of
 * megabytes need not cross a socket. It only reads, and but for a snapshot each read is short: a transaction that
 * stays open keeps the write-ahead log from starting again, and a checkpoint from this process let it grow to 343 MB.
 */
import { Database } from "bun:sqlite";
import type { FrozenBatch } from "../../ports/inbox.ts";
import type { LedgerSnapshot } from "../../ports/ledger.ts";
import { takeSnapshot } from "../engine/snapshot.ts";
import { prepareRead, readBatch } from "./inbox-read.ts";

export interface InboxReader {
  /** The rows of a frozen batch, as `Inbox.read` gives them.
   * @throws Error when the batch's rows are not all there. */
  read(batch: FrozenBatch): Promise<Buffer>;
  /** As `Ledger.snapshot`. */
  snapshot(folder: string): Promise<LedgerSnapshot>;
  close(): void;
}

/** @param file of the ledger, which the writer has opened before. @throws SQLiteError when there is none. */
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
