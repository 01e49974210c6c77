/**
 * Deletes old rows of the inbox, and keeps the ledger's files small.
 *
 * Invariant: only rows of finished batches are deleted, so the position was committed long before. Loaded
 * rows stay for an hour, for a possible check of the warehouse. If there are too many, they stay for less.
 */
import type { Database } from "bun:sqlite";
import type { SqliteInbox } from "./inbox.ts";
import type { Journal } from "./journal.ts";
import { inSmallSteps, nextTurn } from "./small-steps.ts";
import { inTransaction } from "./sync-transaction.ts";
import type { Parts } from "./write/transact.ts";

const keptLoadedMs = 3_600_000;
/** To delete these takes about 2 ms. */
const stepBytes = 1024 * 1024;
const stepInboxRows = 512;
/** Free pages that are kept for new rows. Further pages are freed, because the warehouse on the same disk may
 * need the space. */
const keptFreePages = 16_384;
const freePagesPerStep = 256;
/** Our readers lock the log for milliseconds. If every attempt fails, another program has locked it. */
const emptyLogAttempts = 100;
const emptyLogPauseMs = 50;
/** A shorter log gets no checkpoint, because a checkpoint waits for the disk. */
const shortLogBytes = 2 * 1024 * 1024;

function prepare(db: Database) {
  return {
    oldest: db.prepare<{ id: number; bytes: number }, [number]>(
      `SELECT id, bytes FROM inbox WHERE id <= ? ORDER BY id LIMIT ${stepInboxRows}`,
    ),
    /** Ranges are finished one after another, so all before the first young one are old. */
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
    emptyLog: db.prepare<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)"),
  };
}

export class InboxTidy {
  readonly #db: Database;
  readonly #inbox: SqliteInbox;
  readonly #journal: Journal;
  readonly #maxRetainedBytes: number;
  readonly #statements: ReturnType<typeof prepare>;

  /** @param maxRetainedBytes of loaded rows. */
  constructor(db: Database, parts: Pick<Parts, "inbox" | "journal">, maxRetainedBytes: number) {
    this.#db = db;
    this.#inbox = parts.inbox;
    this.#journal = parts.journal;
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

  /** Frees the disk space of free pages. */
  async shrink(): Promise<void> {
    await inSmallSteps(() => this.#shrinkTo(keptFreePages));
  }

  /**
   * Deletes all loaded rows up to an inbox id. After it, no free page, write-ahead log or journal contains a
   * row that was deleted so far, here or in another table. It runs in small steps until all work is done.
   * @throws Error when rows up to this id are not loaded, or a reader locks the log for seconds.
   */
  async erase(uptoInboxId: number): Promise<void> {
    if (uptoInboxId > this.#inbox.loadedUpto()) throw new Error("rows before an erasure are not loaded yet");
    while (this.#deleteRows(uptoInboxId, stepBytes)) await nextTurn();
    while (this.#shrinkTo(0)) await nextTurn();
    for (let attempt = 0; attempt < emptyLogAttempts; attempt += 1) {
      if (this.#emptyLog()) {
        this.#journal.erase();
        return;
      }
      await Bun.sleep(emptyLogPauseMs);
    }
    throw new Error("the ledger's log is being read all the time, and cannot be emptied");
  }

  /** Empties the log if no reader uses it: a wait for a reader would block every request. @returns whether it
   * did */
  #emptyLog(): boolean {
    this.#db.run("PRAGMA busy_timeout = 0");
    try {
      return this.#statements.emptyLog.get()?.busy === 0;
    } finally {
      this.#db.run("PRAGMA busy_timeout = 5000");
    }
  }

  /** Runs one step. @returns whether there may be more pages to free */
  #shrinkTo(freePages: number): boolean {
    const { freelist_count: free } = this.#statements.freePages.get() ?? { freelist_count: 0 };
    if (free <= freePages) return false;
    // The statement frees one page for each fetched row, so all rows have to be fetched.
    this.#statements.shrink.all();
    return true;
  }

  /**
   * Copies the write-ahead log into the database. Then the next commit starts the log again, cut to
   * `journal_size_limit`. PASSIVE never waits. A reader delays it only until the next call, a second later.
   */
  checkpoint(): void {
    if (Bun.file(`${this.#db.filename}-wal`).size > shortLogBytes) this.#statements.checkpoint.all();
  }

  /** Called before the database is closed: its file must be complete, for administrators who copy or move
   * only this file. SQLite does the same when it closes, but not while there is a prepared statement. */
  leaveNoLog(): void {
    try {
      this.#emptyLog();
    } catch {
      // It fails on a full disk, for example. The log keeps its content, and the next start reads it.
    }
  }

  /** Runs one step, of at most `maxBytes` and one more inbox row. @returns whether it deleted a row */
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
