/** The dead letters of one user, for an erasure. */
import type { Database } from "bun:sqlite";
import type { VersionRows } from "../dead-letters.ts";
import type { DayCount, WarehouseTable } from "../ledger.ts";

/** How every row of a user begins, in all tables but that of accounts (see `warehouse/rows.ts`). */
export function beginningOfRow(organization: number, user: number): string {
  return `[${organization},${user},`;
}

interface TakenDeadLetters {
  readonly count: number;
  /** Of the events among them, which were acknowledged and are counted by the ledger. */
  readonly dayCounts: readonly DayCount[];
  /** Of the rows of `user_versions` among them, which are counted too. */
  readonly versionRows: VersionRows;
}

interface Letter {
  readonly table: WarehouseTable;
  readonly utcDay: number | null;
  readonly checksum: number | null;
  readonly version: number | null;
}

export class DeadLettersOfUser {
  readonly #take;
  readonly #takeDropped;

  constructor(db: Database) {
    // A row that says of itself neither organization nor user is known by its beginning.
    this.#take = db.prepare<Letter, [number, number, string]>(
      `DELETE FROM dead_letters
       WHERE organization IN (0, ?1) AND warehouse_table <> 'accounts'
         AND (organization = ?1 AND number = ?2 OR substr(row, 1, length(?3)) = ?3)
       RETURNING warehouse_table AS "table", utc_day AS utcDay, checksum, version`,
    );
    this.#takeDropped = db.prepare<unknown, [number, number]>(
      "DELETE FROM dropped_versions WHERE organization = ? AND warehouse_table = 'users' AND number = ?",
    );
  }

  /** Deletes them, and what is remembered of those that were dropped, inside the caller's transaction. */
  take({ organization, user }: { readonly organization: number; readonly user: number }): TakenDeadLetters {
    const taken = this.#take.all(organization, user, beginningOfRow(organization, user));
    this.#takeDropped.run(organization, user);
    const dayCounts: DayCount[] = [];
    let [rows, versions] = [0, 0];
    for (const { table, utcDay, checksum, version } of taken) {
      if (table === "events" && utcDay !== null && checksum !== null) {
        dayCounts.push({ organization, utcDay, events: 1, checksum });
      }
      if (table !== "user_versions") continue;
      rows += 1;
      versions += version ?? 0;
    }
    return { count: taken.length, dayCounts, versionRows: { rows, versions } };
  }
}
