/** How far a rebuild is: finished steps, and within a step the rows that the engine reports as read. */

import { every } from "../../process/time.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import type { RebuildProgress } from "./rebuild.ts";

export interface RebuildStatus {
  readonly organization: number;
  readonly sinceMs: number;
  /** Every step reads all events of the organization. */
  readonly rowsDone: number;
  readonly rows: number;
  /** From 0 to 1. */
  readonly progress: number;
  /** Null before anything is known. */
  readonly secondsLeft: number | null;
}

const readEveryMs = 500;

export class RebuildWatch {
  readonly #warehouse: Warehouse;
  readonly #organization: number;
  readonly #sinceMs: number;
  readonly #startedMs = performance.now();
  #events = 0;
  #stepsDone = 0;
  #steps = 1;
  /** Of the step that runs. */
  #fraction = 0;
  #endReading: () => void = () => undefined;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(warehouse: Warehouse, organization: number, nowMs: number) {
    this.#warehouse = warehouse;
    this.#organization = organization;
    this.#sinceMs = nowMs;
  }

  async start(steps: number): Promise<void> {
    this.#steps = steps;
    const organization = this.#organization;
    const [row] = await this.#warehouse.rows<{ rows: number }>(
      countSql,
      { organization },
      { maxSeconds: 300 },
    );
    this.#events = row?.rows ?? 0;
    let isReading = false;
    this.#endReading = every(readEveryMs, () => {
      if (isReading) return;
      isReading = true;
      this.#looking = this.#readProgress().finally(() => {
        isReading = false;
      });
    });
  }

  /** Called after every step. */
  stepDone({ stepsDone }: RebuildProgress): void {
    this.#stepsDone = stepsDone;
    this.#fraction = 0;
  }

  async stop(): Promise<void> {
    this.#endReading();
    await this.#looking;
  }

  status(): RebuildStatus {
    const progress = Math.min(1, (this.#stepsDone + this.#fraction) / this.#steps);
    const tookSeconds = (performance.now() - this.#startedMs) / 1_000;
    const rows = this.#events * this.#steps;
    return {
      organization: this.#organization,
      sinceMs: this.#sinceMs,
      rowsDone: Math.round(rows * progress),
      rows,
      progress,
      secondsLeft: progress === 0 ? null : Math.ceil((tookSeconds / progress) * (1 - progress)),
    };
  }

  async #readProgress(): Promise<void> {
    const stepsDone = this.#stepsDone;
    const [row] = await this.#warehouse.rows<{ fraction: number }>(fractionSql).catch(() => []);
    // A step that ended meanwhile was counted as a whole, and progress must not go back.
    if (row !== undefined && stepsDone === this.#stepsDone) {
      this.#fraction = Math.max(this.#fraction, Math.min(1, row.fraction));
    }
  }
}

const countSql = "SELECT count() AS rows FROM events WHERE organization = {organization:UInt32}";

// The first step is a mutation, the others insert into tables set aside; one of the two is empty.
const fractionSql = `
  SELECT greatest(
    (SELECT ifNull(avg(progress), 0) FROM system.merges WHERE is_mutation AND table = 'events'),
    (SELECT ifNull(max(read_rows / greatest(total_rows_approx, 1)), 0) FROM system.processes
     WHERE query LIKE '%INSERT INTO %\\\\_rebuilt SETTINGS%' AND query NOT LIKE '%system.%')) AS fraction`;
