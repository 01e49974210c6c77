/** Work that is looked for by itself: alert rules, notices and digests. Most looks find none. */
import { every } from "../process/process.ts";
import type { Logger } from "../telemetry/telemetry.ts";

/** The work of one look. */
export interface Looking {
  work(): Promise<void>;
}

export class Looks {
  readonly #name: string;
  readonly #looking: Looking;
  readonly #log: Logger;
  #endLooking: () => void = () => undefined;
  #working: Promise<void> | undefined;

  /** @param name of the work, in the log */
  constructor(name: string, looking: Looking, log: Logger) {
    this.#name = name;
    this.#looking = looking;
    this.#log = log;
  }

  /** Starts to look, every `ms` milliseconds. A look that fails is logged, and the next one tries again. */
  start(ms: number): void {
    this.#endLooking = every(ms, () => {
      this.#working ??= this.#looking
        .work()
        .then(() => this.#log.debug({ work: this.#name }, "looked"))
        .catch((error: unknown) => {
          this.#log.warn({ err: error, work: this.#name }, "the next look tries again");
        })
        .finally(() => {
          this.#working = undefined;
        });
    });
  }

  /** Waits for the look in hand. */
  async stop(): Promise<void> {
    this.#endLooking();
    await this.#working;
  }
}
