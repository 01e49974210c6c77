/**
 * Measures how long it takes until an acknowledged event is visible. The warehouse counts events; the n-th
 * acknowledged event counts as visible when the count first reaches n. Events become visible in the order of
 * their commits, except within one commit, so the error is below a commit's 2 ms.
 */
const pollMs = 20;

export class VisibilityWatch {
  readonly #count: () => Promise<number>;
  readonly #acknowledgedAtMs: number[] = [];
  readonly #delaysMs: number[] = [];
  #before = 0;
  #watching = true;
  #done: Promise<void> = Promise.resolve();

  /** @param count how many events can be seen now. */
  constructor(count: () => Promise<number>) {
    this.#count = count;
  }

  async start(): Promise<void> {
    this.#before = await this.#count();
    this.#done = this.#watch();
  }

  acknowledged(): void {
    this.#acknowledgedAtMs.push(performance.now());
  }

  /** Waits until everything is visible. */
  async stop(): Promise<{ p50Ms: number; p99Ms: number; maxMs: number }> {
    this.#watching = false;
    await this.#done;
    const sorted = this.#delaysMs.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
    return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  }

  async #watch(): Promise<void> {
    while (this.#watching || this.#delaysMs.length < this.#acknowledgedAtMs.length) {
      const visible = Math.min((await this.#count()) - this.#before, this.#acknowledgedAtMs.length);
      const nowMs = performance.now();
      while (this.#delaysMs.length < visible) {
        this.#delaysMs.push(nowMs - (this.#acknowledgedAtMs[this.#delaysMs.length] ?? nowMs));
      }
      await Bun.sleep(pollMs);
    }
  }
}
