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

  /** Takes one request's place. Returns 0, or the seconds to wait, whole and at least 1. */
  take(monotonicMs: number): number {
    const elapsedMs = Math.max(0, monotonicMs - this.#refilledAtMs);
    this.#available = Math.min(this.#perSecond, this.#available + (elapsedMs * this.#perSecond) / 1_000);
    this.#refilledAtMs = monotonicMs;
    if (this.#available < 1) return Math.max(1, Math.ceil((1 - this.#available) / this.#perSecond));
    this.#available -= 1;
    return 0;
  }
}
