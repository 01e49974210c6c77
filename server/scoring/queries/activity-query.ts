/** How many users were active, week by week back from a day: from the bitmaps of events and days. */

import type { Warehouse } from "../../warehouse/warehouse.ts";
import { activeDaysTable, engagementParameters, included } from "../../warehouse/warehouse.ts";
import type { Population } from "./engagement-events.ts";
import { read } from "./query.ts";

const maxWeeks = 156;

/** Distinct active users of whole weeks, the newest first, which ends before a day. Weeks before an organization's
 * first event are left out. */
export async function readActivity(
  warehouse: Warehouse,
  { organization, settings }: Population,
  cutoffDay: number,
): Promise<readonly number[]> {
  const passive = [...(settings.passiveEvents ?? [])];
  const rows = await read<{ week: number; active: number }>(warehouse, {
    sql: `
      SELECT week, bitmapCardinality(${included("groupBitmapMergeState(users)")}) AS active
      FROM (
        SELECT users, intDiv({cutoffDay:Int32} - 1 - toInt32(day), 7) AS week
        FROM ${activeDaysTable(passive)}
        WHERE organization = {organization:UInt32}
          AND day < addDays(toDate32('1970-01-01'), {cutoffDay:Int32})
          AND day >= addDays(toDate32('1970-01-01'), {cutoffDay:Int32} - ${7 * maxWeeks}))
      GROUP BY week`,
    parameters: { ...engagementParameters(passive), organization, cutoffDay },
  });
  const active = new Map(rows.map((row) => [row.week, row.active]));
  // The oldest week is seldom whole.
  const weeks = Math.max(0, ...active.keys());
  return Array.from({ length: weeks }, (_, week) => active.get(week) ?? 0);
}
