/** Deletions of organizations in PostgreSQL. */

import type { Engine } from "../../engine.ts";
import type { Deletion } from "../../erasures.ts";
import { DeletionStore, markDeleted } from "../../stores/deletion-store.ts";
import type { Sql } from "../connect.ts";
import { newestInboxId } from "../inbox-counts.ts";
import { dropErased } from "../inbox-erasing.ts";
import { sealWritten } from "../inbox-segments.ts";
import { runOn } from "../store-engine.ts";
import { whileNoneWrites } from "./alone.ts";

export class PostgresDeletions extends DeletionStore {
  readonly #sql: Sql;
  readonly #clock: () => number;

  constructor(sql: Sql, engine: Engine, clock: () => number) {
    super(engine);
    this.#sql = sql;
    this.#clock = clock;
  }

  begin(organization: number): Promise<Deletion | undefined> {
    return whileNoneWrites(this.#sql, organization, async (tx, counted) => {
      const uptoInboxId = await newestInboxId(tx, counted);
      const uptoSegment = await sealWritten(tx, this.#clock());
      return runOn(tx, markDeleted(organization, { uptoInboxId, uptoSegment }));
    });
  }

  protected async deleteInboxRows({ organization, uptoInboxId }: Deletion): Promise<void> {
    const [stored] = await this.#sql<{ uptoSegment: number }[]>`
      SELECT deletion_upto_segment AS "uptoSegment" FROM organizations WHERE id = ${organization}`;
    await dropErased(this.#sql, { uptoInboxId, uptoSegment: stored?.uptoSegment ?? 0 });
  }
}
