/**
 * How many bytes of bodies all requests together may hold, so that no crowd of senders takes the process's
 * memory. Open bodies, which are read before a token is known, may hold a quarter: anyone can send them.
 * Large ones take turns at the processor.
 */

import { errorMessages } from "../../../contract/errors.ts";
import { ApiError } from "../../../contract/refusal.ts";

/** Bodies are held for as long as a commit takes, or a slow connection. */
const retryAfterSeconds = 2;

/** Of so many bytes a step, such as parsing, takes 4 ms. */
const largeBytes = 256 * 1024;

/** Requests that hold no more are answered before the next step of a large body. A request takes 2 ms with
 * its sync of the disk. */
const smallBytes = 16 * 1024;
/** A step waits no longer for small requests, however many come. */
const longestWaitMs = 10;

/** The share of the budget that open bodies may hold. */
const openShare = 1 / 4;

export class BodyBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;
  #openBytes = 0;
  readonly #ofRequests = new Map<Request, number>();
  readonly #open = new Set<Request>();
  #lastTurn: Promise<void> = Promise.resolve();
  /** How many requests hold a small body. */
  #small = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Of all requests that are not answered yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Resolves when a request with a large body may take its next step. Steps go one after another, each when
   * no small request is in hand, so that a small one waits for one step and not for those of all large ones.
   * Small requests need not wait. */
  async turn(request: Request): Promise<void> {
    if (this.heldBy(request) < largeBytes) return;
    this.#lastTurn = this.#lastTurn.then(() => this.#untilSmallAreAnswered());
    await this.#lastTurn;
  }

  async #untilSmallAreAnswered(): Promise<void> {
    // The step before may have handed a batch over, which is written in the next turn of the event loop.
    // Small requests that came meanwhile are read in the one after it.
    await loopTurn();
    await loopTurn();
    const untilMs = performance.now() + longestWaitMs;
    while (this.#small > 0 && performance.now() < untilMs) await loopTurn();
  }

  /** Of this request. */
  heldBy(request: Request): number {
    return this.#ofRequests.get(request) ?? 0;
  }

  /** The request has no known token: from now on its bytes count as an open body's, until `known` or
   * `release`. */
  open(request: Request): void {
    this.#open.add(request);
    this.#openBytes += this.heldBy(request);
  }

  /** The token of an open body was found: its bytes leave the share of open bodies. */
  known(request: Request): void {
    if (this.#open.delete(request)) this.#openBytes -= this.heldBy(request);
  }

  /** Counts bytes that a request holds from now on, beside those that it holds already.
   * @throws ApiError past the budget, or past the share of open bodies */
  reserve(request: Request, bytes: number): void {
    const isOpen = this.#open.has(request);
    const isPastShare = isOpen && this.#openBytes + bytes > this.#maxBytes * openShare;
    if (isPastShare || this.#heldBytes + bytes > this.#maxBytes) {
      throw new ApiError("rate_limit_exceeded", errorMessages.tooManyBodies, retryAfterSeconds);
    }
    this.#heldBytes += bytes;
    if (isOpen) this.#openBytes += bytes;
    const before = this.#ofRequests.get(request);
    this.#ofRequests.set(request, (before ?? 0) + bytes);
    this.#small += smallOnes((before ?? 0) + bytes) - smallOnes(before);
  }

  /** The request was answered, and holds nothing any more. */
  release(request: Request): void {
    this.known(request);
    const bytes = this.#ofRequests.get(request);
    if (bytes === undefined) return;
    this.#heldBytes -= bytes;
    this.#ofRequests.delete(request);
    this.#small -= smallOnes(bytes);
  }
}

/** 1 for a request that holds a small body. */
function smallOnes(bytes: number | undefined): number {
  return bytes !== undefined && bytes <= smallBytes ? 1 : 0;
}

function loopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
