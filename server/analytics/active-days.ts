/**
 * L28: on how many of the last 28 days were users active, from 1 to 28? The shape shows habit: a smile has
 * many users of one day and many users of every day.
 */

import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { activeDaysTable, type PassiveEvents } from "../warehouse/schema/engagement.ts";
import { included } from "../warehouse/schema/included.ts";
import { dayParameter } from "../warehouse/upkeep/keep-events.ts";
import { engagementRows, type UsersQuestion } from "./sql.ts";

/** Four weeks: every weekday counts as often as every other. */
const activeDaysWindow = 28;

export interface ActiveDaysRow {
  /** 1 to 28. */
  readonly activeDays: number;
  readonly users: number;
}

/** 28 rows, also where there is no user. */
export function activeDays(warehouse: Warehouse, question: UsersQuestion): Promise<ActiveDaysRow[]> {
  return engagementRows(warehouse, sql, { ...question, fromDay: question.toDay - activeDaysWindow + 1 });
}

const sql = (passive: PassiveEvents) => `
  SELECT activeDays, sum(counted) AS users
  FROM (
    SELECT toInt32(count()) AS activeDays, 1 AS counted
    FROM (
      SELECT day, arrayJoin(bitmapToArray(${included("groupBitmapMergeState(users)")})) AS user
      FROM ${activeDaysTable(passive)}
      WHERE organization = {organization:UInt32}
        AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
      GROUP BY day)
    GROUP BY user
    UNION ALL
    SELECT toInt32(arrayJoin(range(1, ${activeDaysWindow} + 1))), 0)
  GROUP BY activeDays ORDER BY activeDays`;
