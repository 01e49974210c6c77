/** How many users were active, week by week back from a day: from the bitmaps of events and days. */

import type { Warehouse } from "../../warehouse/warehouse.ts";
import { activeDaysTable, engagementParameters, included } from "../../warehouse/warehouse.ts";
import type { Activity } from "../data-quality/outage.ts";
import type { Population } from "./engagement-events.ts";
import { read } from "./query.ts";

const stretchDays = [2, 3, 4, 5, 6, 7] as const;
const maxWeeks = 156;

/** The activity of an organization's users before a day; weeks before its first event are left out. */
export async function readActivity(
  warehouse: Warehouse,
  { organization, settings }: Population,
  cutoffDay: number,
): Promise<Activity> {
  const passive = [...(settings.passiveEvents ?? [])];
  const rows = await read<{ days: number; week: number; active: number }>(warehouse, {
    sql: `
      SELECT days, week, bitmapCardinality(${included("groupBitmapMergeState(users)")}) AS active
      FROM (
        SELECT users, {cutoffDay:Int32} - 1 - toInt32(day) AS daysAgo, intDiv(daysAgo, 7) AS week,
          arrayJoin([${stretchDays.join(", ")}]) AS days
        FROM ${activeDaysTable(passive)}
        WHERE organization = {organization:UInt32}
          AND day < addDays(toDate32('1970-01-01'), {cutoffDay:Int32})
          AND day >= addDays(toDate32('1970-01-01'), {cutoffDay:Int32} - ${7 * maxWeeks}))
      WHERE daysAgo % 7 < days AND (days = 7 OR week <= 12)
      GROUP BY days, week`,
    parameters: { ...engagementParameters(passive), organization, cutoffDay },
  });
  const of = (days: number, length: number) => {
    const counts = new Array<number>(length).fill(0);
    for (const row of rows) if (row.days === days && row.week < length) counts[row.week] = row.active;
    return counts;
  };
  // The oldest week is seldom whole.
  const weeks = Math.max(-1, ...rows.map(({ week }) => week));
  const stretches = stretchDays.filter((days) => days < 7);
  return {
    weeks: of(7, Math.max(0, weeks)),
    stretches: new Map(stretches.map((days) => [days, of(days, Math.max(0, Math.min(13, weeks)))])),
  };
}
