/** Sends messages in a thread of its own: signing, encryption and slow peers take no time of the thread that
 * answers requests. */

import type { Mail } from "./mail.ts";
import type { Message, Sent } from "./post.ts";
import type { Posted, Posting, PostingSettings } from "./posting-worker.ts";

export interface Poster {
  /** Resolves with the outcome, also when no answer came. Null: it was stopped before the outcome was
   * known. */
  post(message: Message | Mail): Promise<Sent | null>;
  /** Ends for good. Messages that are under way may have arrived. */
  stop(): void;
}

/** A thread that begins with the first message, and begins again after it has died. */
export class PostingThread implements Poster {
  readonly #settings: PostingSettings;
  readonly #script: URL;
  readonly #waiting = new Map<number, (sent: Sent | null) => void>();
  #worker: Worker | undefined;
  #last = 0;
  #isStopped = false;

  /** @param script what the thread runs: a test gives another */
  constructor(settings: PostingSettings, script = new URL("./posting-worker.ts", import.meta.url)) {
    this.#settings = settings;
    this.#script = script;
  }

  post(message: Message | Mail): Promise<Sent | null> {
    if (this.#isStopped) return Promise.resolve(null);
    this.#last += 1;
    const posting: Posting = { number: this.#last, message, settings: this.#settings };
    return new Promise((resolve) => {
      this.#waiting.set(posting.number, resolve);
      this.#worker ??= this.#start();
      this.#worker.postMessage(posting);
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#end(null);
  }

  #start(): Worker {
    const worker = new Worker(this.#script);
    worker.onmessage = ({ data: { number, sent } }: MessageEvent<Posted>) => {
      this.#waiting.get(number)?.(sent);
      this.#waiting.delete(number);
    };
    // A failed attempt: a message that ends the thread is not sent for ever.
    const died = (said: string) => {
      if (worker === this.#worker) this.#end({ status: null, said, retryAfterMs: null });
    };
    worker.onerror = ({ message }) => died(message);
    // A thread may also end without an error. Then no answer comes to the messages that it had.
    worker.addEventListener("close", () => died("The thread that sends messages ended."));
    return worker;
  }

  #end(sent: Sent | null): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const resolve of this.#waiting.values()) resolve(sent);
    this.#waiting.clear();
  }
}
