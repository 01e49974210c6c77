/**
 * A token bucket: as many requests as the limit at once, refilled at the limit a second. Its clock is the
 * monotonic one, so that a jump of the wall clock neither locks a sender out nor lets it through.
 */
export class TokenBucket {
  #perSecond: number;
  #available: number;
  #refilledAtMs: number;

  constructor(perSecond: number, monotonicMs: number) {
    this.#perSecond = perSecond;
    this.#available = perSecond;
    this.#refilledAtMs = monotonicMs;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** A new limit holds from now on; what was used stays used. */
  set perSecond(perSecond: number) {
    this.#available = Math.min(this.#available, perSecond);
    this.#perSecond = perSecond;
  }

  /** Takes the place of one request, or of several items, of all or of none. Returns 0, or the seconds to wait,
   * whole and at least 1. More than the limit at once never pass. */
  take(monotonicMs: number, places = 1): number {
    return this.#take(monotonicMs, places, places);
  }

  /** The same for a sender that cannot send less at once: more than the limit pass when the bucket is full, and what they
   * took beyond it has to flow in before the next. */
  takeInAdvance(monotonicMs: number, places: number): number {
    return this.#take(monotonicMs, places, Math.min(places, this.#perSecond));
  }

  #take(monotonicMs: number, places: number, needed: number): number {
    const elapsedMs = Math.max(0, monotonicMs - this.#refilledAtMs);
    this.#available = Math.min(this.#perSecond, this.#available + (elapsedMs * this.#perSecond) / 1_000);
    this.#refilledAtMs = monotonicMs;
    if (this.#available < needed) {
      return Math.max(1, Math.ceil((needed - this.#available) / this.#perSecond));
    }
    this.#available -= places;
    return 0;
  }
}
