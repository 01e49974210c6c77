/** The inbox as the loader sees it: whole, because what waits in the journal comes into SQLite before it looks. */
import type { Backlog, DeadLetter, FrozenBatch, Inbox } from "../../ports/inbox.ts";
import type { SqliteInbox } from "../inbox/inbox.ts";
import type { Journal } from "./journal.ts";

export class FlushedInbox implements Inbox {
  readonly #inbox: SqliteInbox;
  readonly #journal: Journal;

  constructor(inbox: SqliteInbox, journal: Journal) {
    this.#inbox = inbox;
    this.#journal = journal;
  }

  async freeze(maxRows: number): Promise<readonly FrozenBatch[]> {
    // What is frozen already can be loaded while a full disk takes nothing more: loading is what makes room.
    if (!this.#inbox.hasUnfinished) this.#journal.flush();
    return this.#inbox.freeze(maxRows);
  }

  read(batch: FrozenBatch): Promise<Buffer> {
    return this.#inbox.read(batch);
  }

  finish(batchNumber: number, deadLetters: readonly DeadLetter[]): Promise<void> {
    return this.#inbox.finish(batchNumber, deadLetters);
  }

  backlog(): Promise<Backlog> {
    return this.#inbox.backlog();
  }
}
