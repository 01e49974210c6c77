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

/** After a longer turn of the event loop there is a pause, in which a small request is read and stored. */
const longTurnMs = 10;
const pauseAfterMs = 3;

/** The share of the budget that open bodies may hold. */
const openShare = 1 / 4;

export class BodyBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;
  #openBytes = 0;
  readonly #ofRequests = new Map<Request, number>();
  readonly #open = new Set<Request>();
  #lastTurn: Promise<void> = Promise.resolve();
  #pausesUntilMs = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Of all requests that are not answered yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Resolves when it is the turn of a request with a large body: each turn of the event loop has a step of
   * one of them, so that small requests wait for one step, and not for those of all large ones. Called
   * between steps. Small ones need not wait. */
  async turn(request: Request): Promise<void> {
    if (this.heldBy(request) < largeBytes) return;
    this.#lastTurn = this.#lastTurn.then(() => this.#nextTurn());
    await this.#lastTurn;
  }

  /** A small request takes several turns of the event loop and a sync of the disk. So after a long step, or
   * the commit of a large batch, there is a pause, in which small ones that came meanwhile are answered. */
  async #nextTurn(): Promise<void> {
    // The step before may have handed a batch over, which is written in the next turn of the loop.
    await this.#loopTurn();
    await this.#loopTurn();
    const pauseMs = this.#pausesUntilMs - performance.now();
    if (pauseMs > 0) await Bun.sleep(pauseMs);
    void this.#loopTurn();
  }

  /** One turn of the event loop. A long one is followed by a pause. */
  async #loopTurn(): Promise<void> {
    const begunMs = performance.now();
    await new Promise(setImmediate);
    const endedMs = performance.now();
    if (endedMs - begunMs > longTurnMs) this.#pausesUntilMs = endedMs + pauseAfterMs;
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
    this.#ofRequests.set(request, (this.#ofRequests.get(request) ?? 0) + bytes);
  }

  /** The request was answered, and holds nothing any more. */
  release(request: Request): void {
    this.known(request);
    const bytes = this.#ofRequests.get(request);
    if (bytes === undefined) return;
    this.#heldBytes -= bytes;
    this.#ofRequests.delete(request);
  }
}
