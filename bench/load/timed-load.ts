/** A constant load without a fixed end, whose latencies are kept one by one: percentiles are of any time in
 * it. */
import { Histogram } from "./histogram.ts";
import { runLoad } from "./load.ts";

export interface TimedLoadOptions {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestsPerSecond: number;
  request(n: number): string;
}

const connections = 32;
/** A clock that is so far ahead ends the load, which ends by the clock alone. */
const endSeconds = 1e6;

export class TimedLoad {
  readonly #requestsPerSecond: number;
  readonly #done: Promise<unknown>;
  /** By request. NaN before its answer. */
  readonly #latenciesMs: number[] = [];
  readonly #statuses = new Map<number, number>();
  #startedMs = 0;
  #hasEnded = false;

  /** Begins to send. */
  constructor({ request, ...options }: TimedLoadOptions) {
    this.#requestsPerSecond = options.requestsPerSecond;
    this.#done = runLoad({
      ...options,
      connections,
      seconds: endSeconds,
      clock: {
        nowMs: () => performance.now() + (this.#hasEnded ? 1_000 * endSeconds : 0),
        sleep: (ms) => Bun.sleep(ms),
      },
      request: (n) => {
        if (n === 0) this.#startedMs = performance.now();
        this.#latenciesMs[n] = Number.NaN;
        return request(n);
      },
      answered: (n, status) => {
        this.#latenciesMs[n] = performance.now() - this.#dueMs(n);
        this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
      },
    });
    // `stop` reports a failure.
    this.#done.catch(() => undefined);
  }

  #dueMs(n: number): number {
    return this.#startedMs + (1_000 * n) / this.#requestsPerSecond;
  }

  /** Sends no more, and waits for the answers under way. @throws Error when an answer was no 201, or there
   * was none */
  async stop(): Promise<void> {
    this.#hasEnded = true;
    await this.#done;
    const answers = [...this.#statuses.values()].reduce((sum, count) => sum + count, 0);
    if (this.#statuses.get(201) === this.#latenciesMs.length) return;
    const statuses = JSON.stringify(Object.fromEntries(this.#statuses));
    throw new Error(`${answers} of ${this.#latenciesMs.length} requests were answered: ${statuses}`);
  }

  /** The latencies of the requests that were due between two times of `performance.now()`. */
  between(fromMs: number, untilMs: number): Histogram {
    const histogram = new Histogram();
    for (const [n, latencyMs] of this.#latenciesMs.entries()) {
      const dueMs = this.#dueMs(n);
      if (dueMs >= fromMs && dueMs < untilMs) histogram.record(1_000 * latencyMs);
    }
    return histogram;
  }
}
