/**
 * The live view of one organization: the latest items, at a rate that a person can read. It counts the items
 * that were not shown. The kept items, their payloads and the queue of a slow watcher are bounded.
 */
import { type LiveItem, type LiveSkipped, liveLimits } from "../../contract/live.ts";

/** The outcome by which an item is counted. */
export type LiveOutcome = LiveItem["outcome"];
/** Numbers of items by outcome. */
export type LiveCounts = Record<LiveOutcome, number>;

/** A message to watchers. */
export type LiveMessage =
  | { readonly event: "item"; readonly data: LiveItem }
  | { readonly event: "skipped"; readonly data: LiveSkipped };

/** A watcher of the live view. */
export interface LiveWatcher {
  readonly person: number;
  /** It watches for another node, and gets only items that this node received. */
  readonly isRelay?: boolean;
  /** Accepts a message, or counts it as missed. @param text the message as a server-sent event */
  take(message: LiveMessage, text: Uint8Array): void;
  /** Called once a second. */
  tick(): void;
  /** The service ends the stream. @param isFinal whether the watcher should not reconnect */
  end(message: string, isFinal: boolean): void;
}

/** The largest total size of the latest items that a new watcher gets. */
const maxRecentBytes = 256 * 1024;

const encoder = new TextEncoder();

/** A message as the bytes of a server-sent event. */
export function eventBytes(event: string, data: object): Uint8Array<ArrayBuffer> {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Counts of zero. */
export const noItems = (): LiveCounts => ({ accepted: 0, held: 0, duplicate: 0, rejected: 0, ignored: 0 });

/** Whether an item is about the user with this id, or has the id anywhere. */
export function isAbout({ event, data }: LiveMessage, id: string): boolean {
  if (event !== "item") return false;
  return data.userId === id || data.payload?.includes(JSON.stringify(id)) === true;
}

export class LiveChannel {
  readonly #life: string;
  readonly #nowMs: () => number;
  readonly #watchers = new Set<LiveWatcher>();
  /** Each message with the number of the newest item at that time. */
  #recent: { readonly number: number; readonly message: LiveMessage }[] = [];
  #lastNumber = 0;
  #skipped = noItems();
  /** Places of this second. Rejected items have their own places, so that many stored items do not hide
   * them. */
  #places = { stored: liveLimits.itemsPerSecond as number, others: liveLimits.itemsPerSecond as number };
  #leftAtMs = 0;

  /** @param life a part of the ids of items. It differs after each start of the service */
  constructor(life: string, nowMs: () => number) {
    this.#life = life;
    this.#nowMs = nowMs;
  }

  get watchers(): number {
    return [...this.#watchers].filter(({ isRelay = false }) => !isRelay).length;
  }

  /** The number of this person's watchers. */
  watchersOf(person: number): number {
    return [...this.#watchers].filter((watcher) => watcher.person === person).length;
  }

  /** Time since the last watcher left. */
  get unwatchedMs(): number {
    return this.#watchers.size > 0 ? 0 : this.#nowMs() - this.#leftAtMs;
  }

  /** Takes a place of this second for an item. If there is none, the item is only counted. @returns whether
   * it has one */
  takePlace(outcome: LiveOutcome): boolean {
    const kind = outcome === "accepted" || outcome === "held" ? "stored" : "others";
    if (this.#places[kind] > 0) {
      this.#places[kind] -= 1;
      return true;
    }
    this.#skipped[outcome] += 1;
    return false;
  }

  /** Shows an item that has a place. */
  add(item: Omit<LiveItem, "id">): void {
    this.#lastNumber += 1;
    this.#tell({ event: "item", data: { id: `${this.#life}-${this.#lastNumber}`, ...item } });
  }

  /** Shows an item that another node received. */
  show(message: LiveMessage): void {
    if (message.event === "skipped") {
      this.#tell(message, true);
      return;
    }
    this.#lastNumber += 1;
    const id = `${this.#life}-${this.#lastNumber}`;
    this.#tell({ event: "item", data: { ...message.data, id } }, true);
  }

  /** Called once a second. */
  tick(): void {
    this.#places = { stored: liveLimits.itemsPerSecond, others: liveLimits.itemsPerSecond };
    const skipped = this.#skipped;
    if (Object.values(skipped).some((count) => count > 0)) {
      this.#skipped = noItems();
      this.#tell({ event: "skipped", data: { at: new Date(this.#nowMs()).toISOString(), ...skipped } });
    }
    for (const watcher of [...this.#watchers]) watcher.tick();
  }

  /** Adds a watcher, which first gets the latest items. @param after the id of the last item that it knows */
  join(watcher: LiveWatcher, after: string): void {
    const [life, number] = after.split("-");
    const known = life === this.#life ? Number(number) : 0;
    this.#watchers.add(watcher);
    if (watcher.isRelay) return;
    const messages = this.#recent
      .filter((one) => one.number > known)
      .map(({ message }) => ({ message, text: eventBytes(message.event, message.data) }));
    let bytes = messages.reduce((sum, { text }) => sum + text.byteLength, 0);
    for (const { message, text } of messages) {
      if (bytes <= maxRecentBytes) watcher.take(message, text);
      bytes -= text.byteLength;
    }
  }

  leave(watcher: LiveWatcher): void {
    this.#watchers.delete(watcher);
    this.#leftAtMs = this.#nowMs();
  }

  /** Forgets the kept items that are about the user with this id, or have the id anywhere. */
  forget(id: string): void {
    this.#recent = this.#recent.filter(({ message }) => !isAbout(message, id));
  }

  /** Ends every watcher's stream. */
  end(message: string): void {
    for (const watcher of [...this.#watchers]) watcher.end(message, false);
  }

  #tell(message: LiveMessage, isOfOther = false): void {
    this.#recent.push({ number: this.#lastNumber, message });
    if (this.#recent.length > liveLimits.recentItems) this.#recent.shift();
    const text = eventBytes(message.event, message.data);
    for (const watcher of this.#watchers) {
      if (!isOfOther || !watcher.isRelay) watcher.take(message, text);
    }
  }
}
