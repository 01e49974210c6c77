/** The inbox for the loader. It is complete, because the journal is flushed into SQLite before each read. */
import type { Backlog, FrozenBatch, Inbox, RejectedEvent } from "../inbox.ts";
import type { SqliteInbox } from "./inbox.ts";
import type { Journal } from "./journal.ts";

export class FlushedInbox implements Inbox {
  readonly #inbox: SqliteInbox;
  readonly #journal: Journal;

  constructor(inbox: SqliteInbox, journal: Journal) {
    this.#inbox = inbox;
    this.#journal = journal;
  }

  async freeze(maxRows: number): Promise<readonly FrozenBatch[]> {
    // Frozen rows can be loaded while the disk is full. The load is needed to free space.
    if (!this.#inbox.hasUnfinished) this.#journal.flush();
    return this.#inbox.freeze(maxRows);
  }

  read(batch: FrozenBatch): Promise<Buffer> {
    return this.#inbox.read(batch);
  }

  finish(batchNumber: number, rejectedEvents: readonly RejectedEvent[]): Promise<void> {
    return this.#inbox.finish(batchNumber, rejectedEvents);
  }

  backlog(): Promise<Backlog> {
    return this.#inbox.backlog();
  }
}
