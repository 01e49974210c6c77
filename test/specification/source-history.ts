/** A past of sources that no test can wait for, written into the ledger of a server that is stopped. */
import { inLedger } from "../stored.ts";

const msPerHour = 3_600_000;

/** The items of a source: a number in each hour of a range, counted back from now. */
export interface SourceHistory {
  readonly source: string;
  /** In hours before now. The first is the farther. */
  readonly fromHoursAgo: number;
  readonly toHoursAgo: number;
  readonly perHour?: number;
  readonly rejected?: number;
}

/** Adds the history of sources to an organization in place of what was counted. Returns the hour of now,
 * since 1970. */
export async function writeHistory(
  dataDir: string,
  organization: string,
  past: readonly SourceHistory[],
): Promise<number> {
  const thisHour = Math.floor(Date.now() / msPerHour);
  await inLedger(dataDir, async (run) => {
    const [{ id } = { id: 0 }] = await run<{ id: number }>`
      SELECT id FROM organizations WHERE name = ${organization}`;
    for (const { source, fromHoursAgo, toHoursAgo, perHour = 5, rejected = 0 } of past) {
      await run`DELETE FROM sources WHERE organization = ${id} AND source = ${source}`;
      await run`DELETE FROM source_hours WHERE organization = ${id} AND source = ${source}`;
      const [from, to] = [thisHour - fromHoursAgo, thisHour - toHoursAgo];
      await run`
        WITH RECURSIVE hours (hour) AS (
          SELECT CAST(${from} AS bigint) UNION ALL SELECT hour + 1 FROM hours WHERE hour < ${to})
        INSERT INTO source_hours
        SELECT CAST(${id} AS bigint), CAST(${source} AS text), hour, CAST(${perHour} AS bigint), 0, 0,
          CAST(${rejected} AS bigint), 0 FROM hours`;
      const [firstMs, lastMs] = [from * msPerHour, to * msPerHour];
      await run`
        INSERT INTO sources VALUES (${id}, ${source}, ${perHour * (to - from + 1)}, 0, 0, ${rejected}, 0,
          ${firstMs}, ${lastMs}, ${firstMs}, ${lastMs}, null)`;
    }
  });
  return thisHour;
}
