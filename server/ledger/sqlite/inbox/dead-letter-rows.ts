/** Writes rejected events for the inbox. */
import type { Database } from "bun:sqlite";
import { msPerDay } from "../../../calendar/calendar.ts";
import type { DeadLetter, WarehouseTable } from "../../ports/inbox.ts";
import {
  bytesOfRow,
  type DeadLetterLimits,
  factsOf,
  type RowFacts,
  refuseFull,
} from "../../rules/dead-letter-facts.ts";

interface OldRow {
  readonly id: number;
  readonly table: WarehouseTable;
  readonly row: string;
}

function prepare(db: Database) {
  return {
    totals: db.prepare<{ rows: number; bytes: number }, []>(
      "SELECT count(*) AS rows, coalesce(sum(bytes), 0) AS bytes FROM dead_letters",
    ),
    bury: db.prepare(
      `INSERT INTO dead_letters (at_ms, batch, warehouse_table, row, reason, schema, year,
                                 bytes, organization, utc_day, checksum, number, version)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    old: db.prepare<OldRow, []>(
      `SELECT id, warehouse_table AS "table", row FROM dead_letters WHERE bytes = 0`,
    ),
    describe: db.prepare(
      `UPDATE dead_letters SET year = ?2, bytes = ?3, organization = ?4, utc_day = ?5, checksum = ?6,
         number = ?7, version = ?8
       WHERE id = ?1`,
    ),
  };
}

export class DeadLetterRows {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #limits: DeadLetterLimits;

  constructor(db: Database, limits: DeadLetterLimits) {
    this.#statements = prepare(db);
    this.#limits = limits;
    for (const { id, table, row } of this.#statements.old.all()) {
      const facts = factsOf(table, 1, row);
      const year = facts.utcDay === null ? 0 : new Date(facts.utcDay * msPerDay).getUTCFullYear();
      this.#statements.describe.run(id, year, ...factColumns(row, facts));
    }
  }

  /** Stores the rejected rows of a batch, inside the caller's transaction. @throws Refusal when there is no room. */
  bury(
    batch: { readonly number: number; readonly year: number; readonly schema: number },
    letters: readonly DeadLetter[],
    nowMs: number,
  ): void {
    if (letters.length === 0) return;
    refuseFull(letters, this.#statements.totals.get() ?? { rows: 0, bytes: 0 }, this.#limits);
    for (const { table, row, reason } of letters) {
      this.#statements.bury.run(
        ...[nowMs, batch.number, table, row, reason, batch.schema, batch.year],
        ...factColumns(row, factsOf(table, batch.schema, row)),
      );
    }
  }
}

function factColumns(row: string, { organization, utcDay, checksum, number, version }: RowFacts) {
  return [bytesOfRow(row), organization, utcDay, checksum, number, version];
}
