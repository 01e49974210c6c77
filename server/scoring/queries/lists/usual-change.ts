/** By how many points health usually changes in a week: a smaller change is no news. */
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { OfRun } from "./reading.ts";
import { isShown } from "./stored-score.ts";

/** Weeks before the run whose changes count. */
const weeks = 4;
/** Two of three changes are smaller. For a normal distribution that is about one standard deviation, and
 * outliers do not move it. */
const usualShare = 2 / 3;
/** With fewer changes there is no result. */
const leastChanges = 30;

/** Points of health; null when there are too few changes. An entity has a change for each week on whose first
 * and last day it has a health and has not churned. Churned entities stay at 0, and coming from or going
 * there would make every change look large. */
export async function usualChange(warehouse: Warehouse, { kind, ...run }: OfRun): Promise<number | null> {
  const { organization, day } = run;
  const [row] = await warehouse.rows<{ changes: number; usual: number | null }>(sql[kind], {
    organization,
    day,
  });
  return row === undefined || row.changes < leastChanges ? null : row.usual;
}

const weeksAgo = Array.from({ length: weeks + 1 }, (_, week) => week);
const dayOf = (week: number) => `{day:Int32} - ${7 * week}`;
const days = weeksAgo.map((week) => `addDays(toDate32('1970-01-01'), ${dayOf(week)})`).join(", ");
const healths = weeksAgo.map((week) => `anyIf(health, ofDay = ${dayOf(week)}) AS week${week}`).join(", ");
const changes = weeksAgo
  .slice(1)
  .map((week) => `week${week - 1} - week${week}`)
  .join(", ");

const sqlOf = (kind: OfRun["kind"]) => `
  SELECT count() AS changes, quantileExactInclusive(${usualShare})(abs(points)) AS usual
  FROM (
    SELECT arrayJoin([${changes}]) AS points
    FROM (
      SELECT entity, ${healths}
      FROM (
        SELECT ${kind} AS entity, toInt32(day) AS ofDay, health, version FROM ${kind}_scores FINAL
        WHERE organization = {organization:UInt32} AND day IN (${days})
          AND health IS NOT NULL AND state != 'churned' AND ${isShown(kind)}) AS scores
      INNER JOIN (
        SELECT toInt32(day) AS ofDay, rows_version AS rowsVersion FROM score_records FINAL
        WHERE organization = {organization:UInt32} AND kind = '${kind}' AND what = 'run' AND day IN (${days})) AS runs
      USING (ofDay)
      WHERE version >= rowsVersion
      GROUP BY entity))
  WHERE points IS NOT NULL`;
const sql = { user: sqlOf("user"), account: sqlOf("account") } as const;
