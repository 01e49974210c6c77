/** The queue of items: in order, and within bounds. */
import { batchBytes } from "../contract/batch-limits.ts";

/** An item as JSON of the moment it was added: later changes of the application's objects are not sent. */
export interface Queued {
  /** JSON of an Item. */
  readonly text: string;
  readonly bytes: number;
  /** When it was first sent, in Unix milliseconds; 0 before. From then on the service may have stored it. */
  sentMs: number;
}

interface Bounds {
  readonly maxQueueItems: number;
  readonly maxQueueBytes: number;
}

export class Queue {
  /** The number of items that were ever added, and of those that have left. */
  added = 0;
  left = 0;
  readonly #bounds: Bounds;
  #items: Queued[] = [];
  #bytes = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  get length(): number {
    return this.#items.length;
  }

  /** Adds an item at the end; false when there is no room for it. */
  add(queued: Queued): boolean {
    const { maxQueueItems, maxQueueBytes } = this.#bounds;
    if (this.length >= maxQueueItems || this.#bytes + queued.bytes > maxQueueBytes) return false;
    this.#items.push(queued);
    this.#bytes += queued.bytes;
    this.added += 1;
    return true;
  }

  /** The first items, as many as may be sent in one request; they stay. */
  head(maxItems: number): Queued[] {
    let count = 0;
    // {"batch":[]}
    let bytes = 12;
    for (const item of this.#items) {
      bytes += item.bytes + 1;
      if (count >= maxItems || bytes > batchBytes) break;
      count += 1;
    }
    return this.#items.slice(0, count);
  }

  /** Takes the first items out. */
  take(count: number): Queued[] {
    const taken = this.#items.splice(0, count);
    for (const { bytes } of taken) this.#bytes -= bytes;
    this.left += taken.length;
    return taken;
  }
}
