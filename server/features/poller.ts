/** Runs the background jobs about acting: alert rules, notices, digests and segments. Most runs find nothing
 * to do. */

import type { Logger } from "../process/log.ts";
import { every } from "../process/time.ts";

/** Does what is due now, and ends. A job goes on from what is stored, so a run that was cut off, or a batch
 * that woke nobody, loses nothing. */
export interface Job {
  readonly name: string;
  readonly run: () => Promise<void>;
  /** Whether a loaded batch wakes the job. */
  readonly followsLoads?: boolean;
}

/** Ticks from one run of a job to the next. */
const ticksOfInterval = 8;
/** A job is woken after at least one tick, in which other batches come and subscriptions are computed. */
const ticksOfWaking = 2;

export class Poller {
  readonly #jobs: readonly Job[];
  readonly #log: Logger;
  readonly #running = new Map<Job, Promise<void>>();
  #ticks = 0;
  #wakesAt = Number.POSITIVE_INFINITY;
  #stopPolling: () => void = () => undefined;

  constructor(jobs: readonly Job[], log: Logger) {
    this.#jobs = jobs;
    this.#log = log;
  }

  /** Runs each job every `ms` milliseconds, unless its last run goes on. A run that fails is logged, and the
   * next run tries again. */
  start(ms: number): void {
    this.#stopPolling = every(ms / ticksOfInterval, () => this.#tick());
  }

  /** Runs the jobs that follow loads soon: a batch was loaded. */
  wake(): void {
    this.#wakesAt = Math.min(this.#wakesAt, this.#ticks + ticksOfWaking);
  }

  /** Stops polling, and waits for the end of all runs. */
  async stop(): Promise<void> {
    this.#stopPolling();
    await Promise.all(this.#running.values());
  }

  #tick(): void {
    this.#ticks += 1;
    const isWoken = this.#ticks >= this.#wakesAt;
    if (isWoken) this.#wakesAt = Number.POSITIVE_INFINITY;
    for (const job of this.#jobs) {
      const isDue = this.#ticks % ticksOfInterval === 0 || (isWoken && job.followsLoads === true);
      if (isDue && !this.#running.has(job)) this.#running.set(job, this.#run(job));
    }
  }

  async #run(job: Job): Promise<void> {
    try {
      await job.run();
      this.#log.debug({ work: job.name }, "looked");
    } catch (error) {
      this.#log.warn({ err: error, work: job.name }, "the next look tries again");
    } finally {
      this.#running.delete(job);
    }
  }
}
