/**
 * Deletes what the inbox no longer needs, and keeps the ledger's files small.
 *
 * Invariant: only rows of finished batches are deleted, so the position was committed long before. Loaded
 * rows stay an hour, in case the warehouse has to be looked into, or less when they grow too many.
 */
import type { Database } from "bun:sqlite";
import type { SqliteInbox } from "./inbox.ts";
import { inSmallSteps } from "./small-steps.ts";
import { inTransaction } from "./transaction.ts";

const keptLoadedMs = 3_600_000;
/** About 2 ms of deleting. */
const stepBytes = 1024 * 1024;
const stepInboxRows = 512;
/** Free pages that are kept for the rows to come; more is given back, because the warehouse on the same
 * disk may need it. */
const keptFreePages = 16_384;
const freePagesPerStep = 256;
/** A shorter log is left alone: a checkpoint waits for the disk. */
const shortLogBytes = 2 * 1024 * 1024;

function prepare(db: Database) {
  return {
    oldest: db.prepare<{ id: number; bytes: number }, [number]>(
      `SELECT id, bytes FROM inbox WHERE id <= ? ORDER BY id LIMIT ${stepInboxRows}`,
    ),
    /** Ranges are finished one after another, so before the first young one all are old. */
    youngest: db.prepare<{ after: number | null }, [number]>(
      `SELECT min(after_inbox_id) AS after FROM frozen_batches
       WHERE finished_at_ms IS NULL OR finished_at_ms > ?`,
    ),
    deleteRows: db.prepare("DELETE FROM inbox WHERE id <= ?"),
    deleteBatches: db.prepare(
      "DELETE FROM frozen_batches WHERE upto_inbox_id <= ? AND finished_at_ms IS NOT NULL",
    ),
    freePages: db.prepare<{ freelist_count: number }, []>("PRAGMA freelist_count"),
    shrink: db.prepare(`PRAGMA incremental_vacuum(${freePagesPerStep})`),
    checkpoint: db.prepare("PRAGMA wal_checkpoint(PASSIVE)"),
  };
}

export class InboxTidy {
  readonly #db: Database;
  readonly #inbox: SqliteInbox;
  readonly #maxRetainedBytes: number;
  readonly #statements: ReturnType<typeof prepare>;

  /** @param maxRetainedBytes of rows that are loaded already. */
  constructor(db: Database, inbox: SqliteInbox, maxRetainedBytes: number) {
    this.#db = db;
    this.#inbox = inbox;
    this.#maxRetainedBytes = maxRetainedBytes;
    this.#statements = prepare(db);
  }

  async deleteLoadedRows(nowMs: number): Promise<void> {
    const loadedUpto = this.#inbox.loadedUpto();
    const young = this.#statements.youngest.get(nowMs - keptLoadedMs)?.after ?? loadedUpto;
    const oldUpto = Math.min(young, loadedUpto);
    await inSmallSteps(() => {
      const tooManyBytes = Math.max(0, this.#inbox.loadedBytes - this.#maxRetainedBytes);
      return this.#deleteRows(oldUpto, stepBytes) || this.#deleteRows(loadedUpto, tooManyBytes);
    });
  }

  /** Gives free pages back to the disk. */
  async shrink(): Promise<void> {
    await inSmallSteps(() => {
      const { freelist_count: free } = this.#statements.freePages.get() ?? { freelist_count: 0 };
      if (free <= keptFreePages) return false;
      // It gives back one page for each row that is fetched, so the rows have to be fetched.
      this.#statements.shrink.all();
      return true;
    });
  }

  /**
   * Copies the write-ahead log into the database, so that the next commit begins it anew, cut to
   * `journal_size_limit`. PASSIVE waits for nobody: a reader only puts it off for a second.
   */
  checkpoint(): void {
    if (Bun.file(`${this.#db.filename}-wal`).size > shortLogBytes) this.#statements.checkpoint.all();
  }

  /** One step, of at most `maxBytes` and one inbox row more; true when it deleted something. */
  #deleteRows(uptoInboxId: number, maxBytes: number): boolean {
    if (maxBytes === 0) return false;
    const deletedBytes = inTransaction(this.#db, () => {
      let bytes = 0;
      let last: number | undefined;
      for (const row of this.#statements.oldest.iterate(uptoInboxId)) {
        bytes += row.bytes;
        last = row.id;
        if (bytes >= Math.min(maxBytes, stepBytes)) break;
      }
      if (last === undefined) return 0;
      this.#statements.deleteRows.run(last);
      this.#statements.deleteBatches.run(last);
      return bytes;
    });
    this.#inbox.deleted(deletedBytes);
    return deletedBytes > 0;
  }
}
