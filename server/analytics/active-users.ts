/** How many users did anything on each day (DAU), and within the 7 (WAU) and 30 (MAU) days that end with it,
 * and their stickiness. 90 days from the bitmaps take 11 ms. */

import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { activeDaysTable, type PassiveEvents } from "../warehouse/schema/engagement.ts";
import { included } from "../warehouse/schema/included.ts";
import { engagementRows, type UsersQuestion } from "./sql.ts";

export interface ActiveUsersQuestion extends UsersQuestion {
  /** How many days, at most 800. */
  readonly days: number;
}

export interface ActiveUsersOfDay {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly daily: number;
  readonly weekly: number;
  readonly monthly: number;
  /** The mean of `daily` over the 28 days that end with the day ÷ monthly: the share of days on which an
   * active user comes. The mean begins with the first active day of the 30; null when there is none. */
  readonly stickiness: number | null;
}

/** One row for every day of the question, oldest first, also for days without users. */
export function activeUsers(
  warehouse: Warehouse,
  { days, ...question }: ActiveUsersQuestion,
): Promise<ActiveUsersOfDay[]> {
  if (!Number.isInteger(days) || days < 1 || days > maxDays) {
    throw new RangeError(`days must be a whole number from 1 to ${maxDays}`);
  }
  return engagementRows(warehouse, sql, { ...question, fromDay: question.toDay - days + 1 });
}

const maxDays = 800;

// A day's bitmap counts for the day itself and the 29 that follow; the second part gives empty days a row.
const sql = (passive: PassiveEvents) => `
  SELECT
    day,
    groupBitmapMergeIf(users, age = 0) AS daily,
    groupBitmapMergeIf(users, age < 7) AS weekly,
    groupBitmapMerge(users) AS monthly,
    if(monthly = 0, NULL, sumIf(size, age < 28) / least(28, maxIf(age, size > 0) + 1) / monthly) AS stickiness
  FROM (
    SELECT activeDay + age AS day, age, users, bitmapCardinality(users) AS size
    FROM (
      SELECT toInt32(day) AS activeDay, ${included("groupBitmapMergeState(users)")} AS users
      FROM ${activeDaysTable(passive)}
      WHERE organization = {organization:UInt32}
        AND day BETWEEN addDays(toDate32('1970-01-01'), {fromDay:Int32} - 29)
                    AND addDays(toDate32('1970-01-01'), {toDay:Int32})
      GROUP BY activeDay)
    ARRAY JOIN range(30) AS age
    UNION ALL
    SELECT arrayJoin(range({fromDay:Int32}, {toDay:Int32} + 1)) AS day, 30 AS age,
      (SELECT groupBitmapState(toUInt32(0)) FROM numbers(0)) AS users, 0 AS size)
  WHERE day BETWEEN {fromDay:Int32} AND {toDay:Int32}
  GROUP BY day ORDER BY day`;
