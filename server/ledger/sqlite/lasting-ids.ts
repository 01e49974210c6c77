/** Message ids that are remembered for good: of imported rows and of billing events. */
import type { Database } from "bun:sqlite";
import type { LastingId } from "../rules/message-id-hash.ts";

type Columns = [organization: number, utcDay: number, high: number, low: number];

export class LastingIds {
  readonly #find;
  readonly #insert;

  constructor(db: Database) {
    this.#find = db.prepare<{ high: number }, Columns>(
      "SELECT high FROM lasting_message_ids WHERE organization = ? AND utc_day = ? AND high = ? AND low = ?",
    );
    this.#insert = db.prepare<null, Columns>("INSERT OR IGNORE INTO lasting_message_ids VALUES (?, ?, ?, ?)");
  }

  has({ organization, utcDay, high, low }: LastingId): boolean {
    return this.#find.get(organization, utcDay, high, low) !== null;
  }

  /** Writes an id in the caller's transaction. */
  write({ organization, utcDay, high, low }: LastingId): void {
    this.#insert.run(organization, utcDay, high, low);
  }
}
