/**
 * Translates a position of the inbox into a time: a mark says that everything acknowledged before an instant
 * has an inbox id of at most this. Marks are made when rows are frozen, so there are as many as batches wait;
 * they are not kept, and after a start nothing is known until the first one is reached.
 */
export class LoadedMarks {
  #marks: { readonly inboxId: number; readonly atMs: number }[] = [];
  #reachedAtMs: number | null = null;

  add(inboxId: number, atMs: number): void {
    if (this.#marks.at(-1)?.inboxId === inboxId) this.#marks.pop();
    this.#marks.push({ inboxId, atMs });
    if (this.#marks.length > maxMarks) this.#marks.splice(1, 1);
  }

  /** The latest instant whose mark lies at or below this inbox id. */
  reached(inboxId: number): number | null {
    const reached = this.#marks.findLast((mark) => mark.inboxId <= inboxId);
    if (reached !== undefined) {
      this.#reachedAtMs = reached.atMs;
      this.#marks = this.#marks.filter((mark) => mark.inboxId > inboxId);
    }
    return this.#reachedAtMs;
  }
}

/** Batches that a day of backlog may have; dropping a mark only makes the answer older. */
const maxMarks = 1_000;
