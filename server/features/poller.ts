/** Runs a job again and again: alert rules, notices, digests and segments. Most runs find nothing to do. */
import { every } from "../process/time.ts";
import type { Logger } from "../telemetry/log.ts";

/** Does what is due now, and ends. */
export interface Job {
  run(): Promise<void>;
}

export class Poller {
  readonly #name: string;
  readonly #job: Job;
  readonly #log: Logger;
  #stopPolling: () => void = () => undefined;
  #running: Promise<void> | undefined;

  /** @param name of the job, in the log */
  constructor(name: string, job: Job, log: Logger) {
    this.#name = name;
    this.#job = job;
    this.#log = log;
  }

  /** Runs the job every `ms` milliseconds, unless its last run goes on. A run that fails is logged, and the
   * next run tries again. */
  start(ms: number): void {
    this.#stopPolling = every(ms, () => {
      this.#running ??= this.#job
        .run()
        .then(() => this.#log.debug({ work: this.#name }, "looked"))
        .catch((error: unknown) => {
          this.#log.warn({ err: error, work: this.#name }, "the next look tries again");
        })
        .finally(() => {
          this.#running = undefined;
        });
    });
  }

  /** Stops polling, and waits for the end of a run. */
  async stop(): Promise<void> {
    this.#stopPolling();
    await this.#running;
  }
}
