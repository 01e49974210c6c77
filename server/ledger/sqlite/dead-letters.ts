/** Rows that the warehouse would not take, with its reasons, for people to read. They are written by
 * `finish` of the inbox, in the commit that finishes their batch. */
import type { Database } from "bun:sqlite";
import type { DeadLetter } from "../ledger.ts";

type StoredDeadLetter = DeadLetter & { readonly id: number; readonly atMs: number };

function prepare(db: Database) {
  return {
    newest: db.prepare<StoredDeadLetter, [number]>(
      `SELECT id, at_ms AS atMs, warehouse_table AS "table", row, reason
       FROM dead_letters ORDER BY id DESC LIMIT ?`,
    ),
    count: db.prepare<{ count: number }, []>("SELECT count(*) AS count FROM dead_letters"),
  };
}

export class DeadLetters {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  /** The newest first. */
  newest(limit: number): readonly StoredDeadLetter[] {
    return this.#statements.newest.all(limit);
  }

  count(): number {
    return this.#statements.count.get()?.count ?? 0;
  }
}
