/**
 * Erasures in PostgreSQL. Segments of the inbox that may have rows of the user are dropped when they are
 * loaded.
 *
 * Invariant: when an erasure begins, no transaction is writing rows, so that no row of the user follows it.
 */

import type { Engine } from "../../engine.ts";
import type { Erasure } from "../../erasures.ts";
import type { Feature } from "../../feature.ts";
import { part } from "../../sql.ts";
import { type Beginning, ErasureStore } from "../../stores/erasure-store.ts";
import type { Sql } from "../connect.ts";
import { newestInboxId } from "../inbox-counts.ts";
import { countErasedRows, dropErased } from "../inbox-erasing.ts";
import { sealWritten } from "../inbox-segments.ts";
import { runOn } from "../store-engine.ts";
import { whileNoneWrites } from "./alone.ts";

export class PostgresErasures extends ErasureStore {
  readonly #sql: Sql;

  constructor(sql: Sql, engine: Engine, clock: () => number, features: readonly Feature[]) {
    super(engine, clock, features);
    this.#sql = sql;
  }

  protected beginWith(organization: number, beginning: Beginning) {
    return whileNoneWrites(this.#sql, organization, async (tx, counted) => {
      const deleted = await runOn(tx, beginning.delete(part``));
      if (deleted.erased.length === 0) return { deleted, erasures: [] };
      const uptoInboxId = await newestInboxId(tx, counted);
      const uptoSegment = await sealWritten(tx, this.clock());
      return { deleted, erasures: await runOn(tx, beginning.record(deleted, { uptoInboxId, uptoSegment })) };
    });
  }

  protected async countInboxRows(erasures: readonly Erasure[]): Promise<ReadonlyMap<number, number>> {
    return countErasedRows(this.#sql, erasures, await this.#newestSegment(erasures));
  }

  protected async deleteInboxRows(erasures: readonly Erasure[]): Promise<void> {
    const uptoInboxId = Math.max(...erasures.map((erasure) => erasure.uptoInboxId));
    await dropErased(this.#sql, { uptoInboxId, uptoSegment: await this.#newestSegment(erasures) });
  }

  async #newestSegment(erasures: readonly Erasure[]): Promise<number> {
    const ids = erasures.map(({ id }) => id);
    const [stored] = await this.#sql<{ segment: number | null }[]>`
      SELECT max(upto_segment) AS segment FROM erasures WHERE id = ANY(${ids}::bigint[])`;
    return stored?.segment ?? 0;
  }
}
