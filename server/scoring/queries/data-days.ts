/** The days on which an organization's users did anything, from the bitmaps of days. */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import type { DayOfData } from "../scores/outages.ts";
import { read } from "./query.ts";

/** Days before a day, in order. Passive events and excluded users count: they prove that data was
 * collected. */
export function readDataDays(
  warehouse: Warehouse,
  organization: number,
  beforeDay: number,
): Promise<DayOfData[]> {
  return read<DayOfData>(warehouse, {
    sql: `
      SELECT toInt32(day) AS day, users
      FROM (
        SELECT day, bitmapCardinality(groupBitmapMergeState(users)) AS users FROM active_days
        WHERE organization = {organization:UInt32} AND day < ${dayParameter("beforeDay")}
        GROUP BY day)
      ORDER BY day`,
    parameters: { organization, beforeDay },
  });
}
