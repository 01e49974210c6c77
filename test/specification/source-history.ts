/** A past of sources that no test can wait for, written into the ledger of a server that is stopped. */
import { Database } from "bun:sqlite";
import { join } from "node:path";

const msPerHour = 3_600_000;

/** What a source sent: so many items in each of the hours, counted back from now, that are asked for. */
export interface SourceHistory {
  readonly source: string;
  /** In hours before now; the first is the farther. */
  readonly fromHoursAgo: number;
  readonly toHoursAgo: number;
  readonly perHour?: number;
  readonly rejected?: number;
}

/** Adds the history of sources to an organization in place of what was counted. */
export function writeHistory(dataDir: string, organization: string, past: readonly SourceHistory[]): void {
  const db = new Database(join(dataDir, "ledger.sqlite"), { strict: true });
  const { id } = db
    .query<{ id: number }, [string]>("SELECT id FROM organizations WHERE name = ?")
    .get(organization) ?? { id: 0 };
  const thisHour = Math.floor(Date.now() / msPerHour);
  db.transaction(() => {
    for (const { source, fromHoursAgo, toHoursAgo, perHour = 5, rejected = 0 } of past) {
      db.query("DELETE FROM sources WHERE organization = ? AND source = ?").run(id, source);
      db.query("DELETE FROM source_hours WHERE organization = ? AND source = ?").run(id, source);
      for (let ago = fromHoursAgo; ago >= toHoursAgo; ago -= 1) {
        db.query("INSERT INTO source_hours VALUES (?, ?, ?, ?, 0, 0, ?, 0)").run(
          ...[id, source, thisHour - ago, perHour, rejected],
        );
      }
      const firstMs = (thisHour - fromHoursAgo) * msPerHour;
      const lastMs = (thisHour - toHoursAgo) * msPerHour;
      db.query("INSERT INTO sources VALUES (?, ?, ?, 0, 0, ?, 0, ?, ?, ?, ?, null)").run(
        ...[id, source, perHour * (fromHoursAgo - toHoursAgo + 1), rejected, firstMs, lastMs],
        ...[firstMs, lastMs],
      );
    }
  })();
  db.close();
}
