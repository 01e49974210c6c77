/**
 * Which events are adopted: for every event who did it within some days, what share of the active users they are,
 * who of them did it for the first time ever, and how long those took from their first activity to it.
 */

import { included } from "../warehouse/included.ts";
import { dayParameter } from "../warehouse/keep-events.ts";
import type { Warehouse } from "../warehouse/warehouse.ts";

export interface AdoptionQuestion {
  readonly organization: number;
  /** The last day, in days since 1970-01-01. */
  readonly toDay: number;
  readonly days: number;
  /** At most this many events, those of the most users. */
  readonly limit: number;
}

export interface AdoptionRow {
  readonly event: string;
  /** Users who did it within the days. */
  readonly users: number;
  /** Of the users who did anything within the days. */
  readonly share: number;
  readonly firstTimeUsers: number;
  /** Of the first-time users, from the day of the first activity to that of the first use; null without any. */
  readonly medianDaysToFirstUse: number | null;
}

/** One row for every event that anybody did within the days, the one of the most users first. */
export function adoption(
  warehouse: Warehouse,
  { organization, toDay, days, limit }: AdoptionQuestion,
): Promise<AdoptionRow[]> {
  return warehouse.rows<AdoptionRow>(sql, { organization, fromDay: toDay - days + 1, toDay, limit });
}

const ofOrganization = "organization = {organization:UInt32}";
const withinDays = `${ofOrganization} AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}`;

// Days of first use are looked for among first-time users only: who did an event before is gone from its bitmaps. Users
// are numbered from 1; 0 stands for nobody, so that an event without first-time users keeps its row.
const sql = `
  WITH
    adopted AS (
      SELECT event,
        ${included(`groupBitmapMergeStateIf(event_days.users, day >= ${dayParameter("fromDay")})`)} AS now,
        groupBitmapMergeStateIf(event_days.users, day < ${dayParameter("fromDay")}) AS before,
        bitmapCardinality(now) AS people
      FROM event_days
      WHERE ${ofOrganization} AND day <= ${dayParameter("toDay")}
      GROUP BY event HAVING people > 0
      ORDER BY people DESC, event LIMIT {limit:UInt32}),
    first_uses AS (
      SELECT event, user, any(people) AS users, min(useDay) AS firstUse
      FROM (
        SELECT event, people, toInt32(day) AS useDay,
          bitmapToArray(bitmapAnd(bitmapAndnot(event_days.users, before), now)) AS firstTimers
        FROM event_days INNER JOIN adopted USING event
        WHERE ${withinDays})
      LEFT ARRAY JOIN firstTimers AS user
      GROUP BY event, user),
    first_days AS (
      SELECT user, toInt32(min(first_day)) AS firstDay FROM user_spans WHERE ${ofOrganization} GROUP BY user)
  SELECT
    event, any(first_uses.users) AS users,
    users / (
      SELECT bitmapCardinality(${included("groupBitmapMergeState(active_days.users)")})
      FROM active_days WHERE ${withinDays}) AS share,
    countIf(user != 0) AS firstTimeUsers,
    if(firstTimeUsers = 0, NULL, quantileExactInclusiveIf(0.5)(firstUse - firstDay, user != 0)) AS medianDaysToFirstUse
  FROM first_uses LEFT JOIN first_days USING user
  GROUP BY event
  ORDER BY users DESC, event`;
