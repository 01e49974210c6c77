/** Rows that the warehouse would not take, with its reasons, for people to read. They are written by
 * `finish` of the inbox, in the commit that finishes their batch. */
import type { Database } from "bun:sqlite";
import { msPerDay } from "../../calendar/zone.ts";
import type { DayCount, DeadLetter } from "../ledger.ts";

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

/** How every row of a user begins, in all tables but that of accounts (see `warehouse/rows.ts`). */
export function beginningOfRow(organization: number, user: number): string {
  return `[${organization},${user},`;
}

interface TakenDeadLetters {
  readonly count: number;
  /** Of the events among them, which were acknowledged and are counted by the ledger. */
  readonly dayCounts: readonly DayCount[];
}

/** The dead letters of one user, for an erasure. */
export class DeadLettersOfUser {
  readonly #take;

  constructor(db: Database) {
    this.#take = db.prepare<Pick<StoredDeadLetter, "table" | "row">, [string]>(
      `DELETE FROM dead_letters WHERE warehouse_table <> 'accounts' AND substr(row, 1, length(?1)) = ?1
       RETURNING warehouse_table AS "table", row`,
    );
  }

  /** Deletes them, inside the caller's transaction. */
  take({ organization, user }: { readonly organization: number; readonly user: number }): TakenDeadLetters {
    const taken = this.#take.all(beginningOfRow(organization, user));
    const events = taken.filter(({ table }) => table === "events");
    return { count: taken.length, dayCounts: events.map(({ row }) => dayCountOf(organization, row)) };
  }
}

/** An event's own day count, from its row: the time is its fifth value, the id its eighth. */
function dayCountOf(organization: number, row: string): DayCount {
  const values = JSON.parse(row) as unknown[];
  const checksum = Number.parseInt(String(values[7]).slice(-8), 16);
  return { organization, utcDay: Math.floor(Number(values[4]) / msPerDay), events: 1, checksum };
}
