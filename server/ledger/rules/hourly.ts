/** Housekeeping that is done once an hour, however often it is asked for. */
const everyMs = 3_600_000;

export class Hourly {
  #doneAtMs = Number.NEGATIVE_INFINITY;

  /** Whether an hour has passed since this was true last. */
  isDue(nowMs: number): boolean {
    if (nowMs - this.#doneAtMs < everyMs) return false;
    this.#doneAtMs = nowMs;
    return true;
  }
}
