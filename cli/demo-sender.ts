/**
 * Sends items by POST /batch, several batches at a time. Items of one key go through one lane, one batch
 * after another, so that they are stored in their order: a user's identify before the user's events.
 * Temporarily refused batches are sent again; items carry message ids, so that does not store them twice.
 */

import { Refusal } from "../contract/refusal.ts";
import type { ErrorAnswer } from "../contract/write-api.ts";

export interface SenderOptions {
  readonly url: string;
  readonly token: string;
  /** 1,000 items unless given. */
  readonly batchItems?: number;
  /** Aborts the work: waiting items are not sent, and every call throws the signal's reason. */
  readonly signal: AbortSignal;
}

interface Lane {
  items: string[];
  sending: Promise<void>;
}

/** Three keep intake busy while the sender writes JSON; more gain nothing on two cores. */
const laneCount = 3;
/** How long the server may refuse a batch before the sender gives up. */
const patienceMs = 120_000;
/** How long the server may be unreachable: a restart takes a few seconds. */
const absencePatienceMs = 30_000;
const retryMs = 1_000;

export class Sender {
  /** Items that are stored now, and those that were before. */
  readonly totals = { accepted: 0, duplicates: 0 };
  /** Why nothing is sent for the moment. */
  waiting: string | undefined;
  readonly #options: SenderOptions;
  readonly #batchItems: number;
  readonly #lanes: readonly Lane[];
  #failure: unknown;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#batchItems = options.batchItems ?? 1_000;
    this.#lanes = Array.from({ length: laneCount }, () => ({ items: [], sending: Promise.resolve() }));
  }

  /** Takes an item, as JSON text. If it returns a promise, the caller has to await it before the next item:
   * one batch is in flight and another is full.
   * @throws Refusal when the server does not take it, or not in time */
  add(key: number, item: string): Promise<void> | undefined {
    const lane = this.#lanes[key % this.#lanes.length];
    if (lane === undefined) throw new RangeError(`the key ${key} is no whole number from 0`);
    lane.items.push(item);
    return lane.items.length >= this.#batchItems ? this.#flush(lane) : undefined;
  }

  /** Sends the waiting items; resolves when everything is stored. @throws as `add` */
  async finish(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => this.#flush(lane)));
    await Promise.all(this.#lanes.map(({ sending }) => sending));
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #flush(lane: Lane): Promise<void> {
    const { items } = lane;
    lane.items = [];
    await lane.sending;
    if (this.#failure !== undefined) throw this.#failure;
    if (items.length === 0) return;
    lane.sending = this.#send(`{"batch":[${items.join(",")}]}`).catch((error: unknown) => {
      this.#failure ??= error;
    });
  }

  async #send(body: string): Promise<void> {
    const startedMs = performance.now();
    while (true) {
      const { waitMs, why, isAbsent } = await this.#try(body);
      this.waiting = why;
      if (why === undefined) return;
      const waitedMs = performance.now() - startedMs;
      if (waitedMs + waitMs > (isAbsent ? absencePatienceMs : patienceMs)) {
        throw new Refusal(`the server took nothing for ${Math.round(waitedMs / 1_000)} s: ${why}`);
      }
      await this.#pause(waitMs);
    }
  }

  /** Sends once. If that has to be repeated, returns the reason and the time to wait. */
  async #try(body: string): Promise<Attempt> {
    const { url, token, signal } = this.#options;
    let response: Response;
    let answer: unknown;
    try {
      const headers = { Authorization: `Basic ${token}`, "Content-Type": "application/json" };
      response = await fetch(`${url}/batch`, { method: "POST", headers, body, signal });
      answer = await response.json();
    } catch (error) {
      signal.throwIfAborted();
      return { waitMs: retryMs, why: `${url} cannot be reached (${error}).`, isAbsent: true };
    }
    if (response.status === 201) {
      this.#count(answer as BatchAnswered);
      return { waitMs: 0, why: undefined };
    }
    const { message } = answer as ErrorAnswer;
    if (response.status === 429) {
      return { waitMs: 1_000 * Math.max(1, Number(response.headers.get("retry-after"))), why: message };
    }
    if (response.status >= 500) return { waitMs: retryMs, why: message };
    throw new Refusal(`${url} does not take the demonstration: ${message}`);
  }

  #count({ accepted, duplicates, rejected: [first] }: BatchAnswered): void {
    this.totals.accepted += accepted;
    this.totals.duplicates += duplicates;
    if (first !== undefined) throw new Refusal(`an item was rejected: ${first.message}`);
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
    signal.throwIfAborted();
  }
}

/** How a batch was answered: taken, or why not, and for how long to wait before it is sent again. */
interface Attempt {
  readonly why: string | undefined;
  readonly waitMs: number;
  readonly isAbsent?: boolean;
}

interface BatchAnswered {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly { readonly message: string }[];
}
