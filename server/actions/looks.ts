/** Work that is looked for every ten seconds: alert rules, notices and digests. Most looks find none. */
import type { Logger } from "../telemetry/telemetry.ts";

/** The work of one look. */
export interface Looking {
  work(): Promise<void>;
}

const everyMs = 10_000;

export class Looks {
  readonly #looking: Looking;
  readonly #log: Logger;
  #timer: ReturnType<typeof setInterval> | undefined;
  #working: Promise<void> | undefined;

  constructor(looking: Looking, log: Logger) {
    this.#looking = looking;
    this.#log = log;
  }

  /** Starts to look. A look that fails is logged, and the next one tries again. */
  start(): void {
    this.#timer = setInterval(() => {
      this.#working ??= this.#looking
        .work()
        .catch((error: unknown) => {
          const { name } = this.#looking.constructor;
          this.#log.warn({ err: error, work: name }, "the next look tries again");
        })
        .finally(() => {
          this.#working = undefined;
        });
    }, everyMs);
  }

  /** Waits for the look in hand. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#working;
  }
}
