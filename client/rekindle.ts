/**
 * Sends users and their events to Rekindle. No call throws or waits.
 *
 *   identify, track → an item with its time and messageId → the queue → POST /batch, one request at a time
 *                                                              ↑            │ not answered: wait, the same items again
 *                                                              └────────────┘
 *
 * Only globals of every runtime are used, and only from the first item on: some edge runtimes forbid them
 * before.
 */
import { batchItems, bodyBytes, messageIdMemoryHours } from "../contract/batch-limits.ts";
import { timestampAliases } from "../contract/timestamp-aliases.ts";
import { Queue, type Queued } from "./queue.ts";
import type { DropReason, Failure, Identify, Item, Options, Track } from "./types.ts";
import { type Answered, judge, type Problem, type Unanswered } from "./verdict.ts";

export type {
  Account,
  AccountAttributes,
  DropReason,
  Failure,
  Identify,
  Item,
  Options,
  Track,
  Traits,
} from "./types.ts";

const defaults = {
  maxBatchItems: 500,
  maxWaitMs: 1_000,
  maxQueueItems: 10_000,
  maxQueueBytes: 16 * 1024 ** 2,
  timeoutMs: 10_000,
};
const firstBackoffMs = 250;
const maxBackoffMs = 30_000;
/** One hour less than the service remembers message ids: clocks differ, and requests are slow. */
const expiryMs = (messageIdMemoryHours - 1) * 3_600_000;
/** setTimeout treats larger values as 0. */
const maxTimerMs = 2e9;
const minMsBetweenWarnings = 60_000;

type Fields = Readonly<Record<string, unknown>>;

/** A caller that waits until all items up to one are answered. */
interface Waiter {
  readonly upTo: number;
  readonly deadlineMs: number;
  readonly done: (isSent: boolean) => void;
}

export class Rekindle {
  readonly #options: Options & typeof defaults;
  readonly #queue: Queue;
  readonly #waiters = new Set<Waiter>();
  /** The next attempt: after maxWaitMs, or later after a failure. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #heldUntilMs = 0;
  #isBusy = false;
  #isClosing = false;
  #isClosed = false;
  #failures = 0;
  #batchItems: number;
  #request: AbortController | undefined;
  #quietUntilMs = 0;

  constructor(options: Options) {
    // Undefined, or NaN of an unset variable, would replace a default.
    const given = Object.entries(options ?? {}).filter(([, value]) => value || value === 0);
    const chosen = { ...defaults, ...(Object.fromEntries(given) as unknown as Options) };
    this.#options = chosen;
    this.#batchItems = chosen.maxBatchItems = Math.min(Math.max(1, chosen.maxBatchItems), batchItems);
    this.#queue = new Queue(chosen);
  }

  /** Registers or updates a user. Returns at once, never throws. */
  identify(identify: Identify): void {
    this.#add("identify", identify);
  }

  /** Records an event of a user who was identified before. Returns at once, never throws. */
  track(track: Track): void {
    this.#add("track", track);
  }

  /** Queues several items in this order. Returns at once, never throws. */
  batch(items: readonly Item[]): void {
    try {
      for (const item of items) this.#add(item?.type, item);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Sends the queued items. Resolves with true when all of them are answered. Resolves with false after
   * `limitMs`, or as soon as the next attempt is later than that; the items stay queued. Never rejects. */
  flush(limitMs = 10_000): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (isSent: boolean) => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        resolve(isSent);
      };
      // This timer keeps the process alive, because the application waits.
      const timer = setTimeout(() => done(false), Math.min(limitMs, maxTimerMs));
      const waiter = { upTo: this.#queue.added, deadlineMs: Date.now() + limitMs, done };
      this.#waiters.add(waiter);
      this.#settle();
      this.#plan(0);
    });
  }

  /** Sends the queued items, for `limitMs` at most, and closes the client. onDrop gets unsent and later
   * items. Resolves with true when all items were answered. Never rejects. */
  async close(limitMs = 5_000): Promise<boolean> {
    this.#isClosing = true;
    // Closing: retry now, ignore the backoff.
    if (this.#heldUntilMs) this.#release();
    const isSent = await this.flush(limitMs);
    if (isSent) return true;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#request?.abort();
    for (const waiter of this.#waiters) waiter.done(false);
    for (const queued of this.#queue.take(this.#queue.length)) this.#drop(queued, "closed");
    return false;
  }

  #add(type: Item["type"], given: Identify | Track): void {
    try {
      const hasTime = ["timestamp", ...timestampAliases].some((name) => (given as unknown as Fields)[name]);
      const text = JSON.stringify({
        ...given,
        toJSON: undefined,
        ...(!hasTime && { timestamp: new Date() }),
        type,
        // The same id on each attempt, so that the item is stored once.
        messageId: given.messageId || crypto.randomUUID(),
      });
      const queued = { text, bytes: new TextEncoder().encode(text).length, sentMs: 0 };
      if (queued.bytes > bodyBytes) throw Error(`larger than ${bodyBytes} bytes`);
      if (this.#isClosing) this.#drop(queued, "closed");
      else if (!this.#queue.add(queued)) this.#drop(queued, "full");
      else this.#plan(this.#queue.length === this.#options.maxBatchItems ? 0 : this.#options.maxWaitMs);
    } catch (error) {
      this.#refuse(error, () => ({ ...given, type }) as Item);
    }
  }

  /** Schedules the next request within so many milliseconds, but not before the end of a backoff. */
  #plan(delayMs: number): void {
    if (this.#isBusy || this.#heldUntilMs || !this.#queue.length) return;
    if (this.#timer && delayMs) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#attempt(), delayMs);
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#heldUntilMs = 0;
  }

  async #attempt(): Promise<void> {
    this.#release();
    this.#isBusy = true;
    this.#expire();
    const items = this.#queue.head(this.#batchItems);
    const verdict = items.length ? await this.#post(items) : { refused: [] };
    this.#isBusy = false;
    if (this.#isClosed) return;
    if ("refused" in verdict) this.#answered(items, verdict.refused);
    else this.#failed(items.length, verdict);
    this.#settle();
    const isAwaited = this.#waiters.size || this.#queue.length >= this.#options.maxBatchItems;
    this.#plan(isAwaited ? 0 : this.#options.maxWaitMs);
  }

  #answered(items: readonly Queued[], refused: Answered["refused"]): void {
    this.#queue.take(items.length);
    this.#failures = 0;
    this.#batchItems = Math.min(this.#options.maxBatchItems, this.#batchItems * 2);
    for (const { index, ...failure } of refused) {
      const queued = items[index];
      if (queued) this.#tell(failure, false, JSON.parse(queued.text));
    }
  }

  /** Halved after a failure, doubled after a success, so that a slow line or a limit on items lets batches
   * through. */
  #failed(sent: number, { failure, waitMs, isTooMuch }: Unanswered): void {
    if (isTooMuch) this.#batchItems = Math.ceil(sent / 2);
    const backoffMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** this.#failures++);
    // Jitter: senders that failed together should not retry together.
    const heldMs = waitMs + backoffMs * (0.5 + Math.random() / 2);
    this.#heldUntilMs = Date.now() + heldMs;
    this.#timer = setTimeout(() => this.#attempt(), heldMs);
    // A retry does not keep the process alive.
    (this.#timer as { unref?: () => void }).unref?.();
    this.#tell(failure, true);
  }

  async #post(items: readonly Queued[]): Promise<Answered | Unanswered> {
    const { host, token, timeoutMs } = this.#options;
    const request = new AbortController();
    this.#request = request;
    const timer = setTimeout(() => request.abort(Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
    try {
      for (const item of items) item.sentMs ||= Date.now();
      const response = await fetch(`${host}`.replace(/(?<!\/)\/*$/, "/batch"), {
        method: "POST",
        headers: { Authorization: `Basic ${token}`, "Content-Type": "application/json" },
        body: `{"batch":[${items.map(({ text }) => text)}]}`,
        // A followed redirect would turn the POST into a GET.
        redirect: "manual",
        signal: request.signal,
      });
      return judge(response.status, await response.text(), response.headers, items.length);
    } catch (error) {
      return { failure: ours("unreachable", error), waitMs: 0, isTooMuch: true };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Drops items that may be stored, before the service forgets their message ids. */
  #expire(): void {
    for (const queued of this.#queue.head(batchItems)) {
      if (!queued.sentMs || Date.now() - queued.sentMs < expiryMs) return;
      this.#queue.take(1);
      this.#drop(queued, "expired");
    }
  }

  /** Resolves the promises of callers whose items are answered or cannot be sent in time. */
  #settle(): void {
    for (const waiter of this.#waiters) {
      if (this.#queue.left >= waiter.upTo) waiter.done(true);
      else if (this.#heldUntilMs > waiter.deadlineMs) waiter.done(false);
    }
  }

  #refuse(error: unknown, item?: () => Item): void {
    this.#tell(ours("invalid_item", error), false, item && possibly(item));
  }

  #tell(problem: Problem, willRetry: boolean, item?: Item): void {
    const failure = { ...problem, willRetry };
    this.#call(this.#options.onError, `${failure.name}: ${failure.message}`, failure, item);
  }

  #drop(queued: Queued, why: DropReason): void {
    this.#call(this.#options.onDrop, `dropped an item: ${why}`, JSON.parse(queued.text), why);
  }

  /** Calls the application back, or warns. Errors of a callback, and of the promise that it returns, are
   * ignored. */
  async #call<A extends unknown[]>(
    callback: ((...args: A) => unknown) | undefined,
    warning: string,
    ...args: A
  ) {
    try {
      if (callback) await callback(...args);
      else if (Date.now() > this.#quietUntilMs) {
        this.#quietUntilMs = Date.now() + minMsBetweenWarnings;
        console.warn(`rekindle: ${warning}`);
      }
    } catch {
      // An error of the application's callback.
    }
  }
}

/** The reason of a failed fetch, which is in the error's cause. */
function ours(name: Failure["name"], error: unknown): Problem {
  const cause = possibly(() => String((error as { cause?: unknown } | undefined)?.cause ?? error));
  return { name, message: cause ?? "unknown", statusCode: 0 };
}

/** The application's objects may throw when they are looked at. */
function possibly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
