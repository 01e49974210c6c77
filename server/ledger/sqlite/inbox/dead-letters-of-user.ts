/** The dead letters of one user, for an erasure. */
import type { Database } from "bun:sqlite";
import type { VersionRows } from "../../ports/dead-letters.ts";
import type { DayCount } from "../../ports/inbox.ts";
import { type BuriedLetter, countsOfUser } from "../../rules/dead-letter-facts.ts";
import { beginningOfRow } from "../../rules/user-rows.ts";

interface TakenDeadLetters {
  readonly count: number;
  /** Of the events among them, which were acknowledged and are counted by the ledger. */
  readonly dayCounts: readonly DayCount[];
  /** Of the rows of `user_versions` among them, which are counted too. */
  readonly versionRows: VersionRows;
}

type Letter = Pick<BuriedLetter, "table" | "organization" | "utcDay" | "checksum" | "version">;

export class DeadLettersOfUser {
  readonly #take;
  readonly #takeDropped;

  constructor(db: Database) {
    // A row that says of itself neither organization nor user is known by its beginning.
    this.#take = db.prepare<Letter, [number, number, string]>(
      `DELETE FROM dead_letters
       WHERE organization IN (0, ?1) AND warehouse_table <> 'accounts'
         AND (organization = ?1 AND number = ?2 OR substr(row, 1, length(?3)) = ?3)
       RETURNING warehouse_table AS "table", organization, utc_day AS utcDay, checksum, version`,
    );
    this.#takeDropped = db.prepare<unknown, [number, number]>(
      "DELETE FROM dropped_versions WHERE organization = ? AND warehouse_table = 'users' AND number = ?",
    );
  }

  /** Deletes them, and what is remembered of those that were dropped, inside the caller's transaction. */
  take({ organization, user }: { readonly organization: number; readonly user: number }): TakenDeadLetters {
    const taken = this.#take.all(organization, user, beginningOfRow(organization, user));
    this.#takeDropped.run(organization, user);
    return { count: taken.length, ...countsOfUser(organization, taken) };
  }
}
