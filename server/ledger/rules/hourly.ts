/** Housekeeping that runs once an hour, independent of the number of calls. */
const everyMs = 3_600_000;

export class Hourly {
  #doneAtMs = Number.NEGATIVE_INFINITY;

  /** Whether an hour has passed since the last call that returned true. */
  isDue(nowMs: number): boolean {
    if (nowMs - this.#doneAtMs < everyMs) return false;
    this.#doneAtMs = nowMs;
    return true;
  }
}
