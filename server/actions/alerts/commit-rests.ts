/** Rests between the commits of decisions, so that few requests come during one. */

/** A rest is this many times as long as the commit before it: 1 of 100 requests comes during a commit. */
const timesAsLong = 100;
const longestMs = 500;

export class CommitRests {
  readonly #stopped = Promise.withResolvers<void>();

  /** Rests after a commit that took this long. */
  async after(commitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.min(longestMs, timesAsLong * commitMs));
    await Promise.race([promise, this.#stopped.promise]);
    clearTimeout(timer);
  }

  /** Ends the rest in hand, and all that follow. */
  stop(): void {
    this.#stopped.resolve();
  }
}
