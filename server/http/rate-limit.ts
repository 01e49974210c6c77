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
    const elapsedMs = Math.max(0, monotonicMs - this.#refilledAtMs);
    this.#available = Math.min(this.#perSecond, this.#available + (elapsedMs * this.#perSecond) / 1_000);
    this.#refilledAtMs = monotonicMs;
    if (this.#available < places) {
      return Math.max(1, Math.ceil((places - this.#available) / this.#perSecond));
    }
    this.#available -= places;
    return 0;
  }
}
