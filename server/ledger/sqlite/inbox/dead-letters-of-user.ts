/** The rejected events of one user, for an erasure. */
import type { Database } from "bun:sqlite";
import type { VersionRows } from "../../ports/dead-letters.ts";
import type { DayCount } from "../../ports/inbox.ts";
import { type BuriedLetter, countsOfUser } from "../../rules/dead-letter-facts.ts";
import { beginningOfRow } from "../../rules/user-rows.ts";

interface TakenDeadLetters {
  readonly count: number;
  /** The counts of their events, which the ledger has counted as acknowledged. */
  readonly dayCounts: readonly DayCount[];
  /** The counts of their rows of `user_versions`, which the ledger has counted, too. */
  readonly versionRows: VersionRows;
}

type Letter = Pick<BuriedLetter, "table" | "organization" | "utcDay" | "checksum" | "version">;

export class DeadLettersOfUser {
  readonly #take;
  readonly #takeDropped;

  constructor(db: Database) {
    // A row without a readable organization and user is recognized by its beginning.
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

  /** Deletes them, and the stored versions of dropped ones, inside the caller's transaction. */
  take({ organization, user }: { readonly organization: number; readonly user: number }): TakenDeadLetters {
    const taken = this.#take.all(organization, user, beginningOfRow(organization, user));
    this.#takeDropped.run(organization, user);
    return { count: taken.length, ...countsOfUser(organization, taken) };
  }
}
