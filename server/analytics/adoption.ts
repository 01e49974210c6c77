/**
 * Adoption of each event within some days. What share of the active users did it? How many of them did it for
 * the first time ever, and how long after their first activity?
 */

import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import {
  activeDaysTable,
  firstActiveDays,
  isEngagement,
  type PassiveEvents,
} from "../warehouse/schema/engagement.ts";
import { included } from "../warehouse/schema/included.ts";
import { dayParameter } from "../warehouse/upkeep/keep-events.ts";
import { engagementRows, type UsersQuestion } from "./sql.ts";

export interface AdoptionQuestion extends UsersQuestion {
  readonly days: number;
  /** At most this many events, those of the most users. */
  readonly limit: number;
}

export interface AdoptionRow {
  readonly event: string;
  /** Users who did it within the days. */
  readonly users: number;
  /** Share of the users who were active within the days. */
  readonly share: number;
  readonly firstTimeUsers: number;
  /** Of the first-time users, from the day of the first activity to that of the first use; null without
   * any. */
  readonly medianDaysToFirstUse: number | null;
  /** Users who were active within the days. */
  readonly activeUsers: number;
}

/** One row for every event within the days, the one with the most users first. */
export async function adoption(
  warehouse: Warehouse,
  { days, ...question }: AdoptionQuestion,
): Promise<AdoptionRow[]> {
  const { organization } = question;
  const [last] = await warehouse.rows<{ user: number }>(lastNumber, { organization });
  const arrays = 1 + Math.floor((last?.user ?? 0) / numbersOfArray);
  const sql = (passive: PassiveEvents) => textOf(passive, arrays);
  return engagementRows(warehouse, sql, { ...question, fromDay: question.toDay - days + 1 });
}

const ofOrganization = "organization = {organization:UInt32}";
/** The highest number of an active user. It reads the end of the table's key. */
const lastNumber = `SELECT user FROM user_spans WHERE ${ofOrganization} ORDER BY user DESC LIMIT 1`;
const isWithin = `day >= ${dayParameter("fromDay")}`;

/** The numbers of users in one array of first days: 32 MB. The engine's arrays by place have at most 2^24 - 1
 * places, and numbers are never used again. */
const numbersOfArray = 2 ** 23;

/** The array of the first days of users by number, from the number `index * numbersOfArray` on. */
function firstDays(passive: PassiveEvents, index: number): string {
  const from = index * numbersOfArray;
  return `(
      SELECT groupArrayInsertAt(firstDay, toUInt32(user - ${from})) FROM ${firstActiveDays(passive)}
      WHERE user >= ${from} AND user < ${from + numbersOfArray}) AS firstDays${index}`;
}

/** The first day of `user`, from that number's array. */
function firstDayOf(arrays: number): string {
  const places = Array.from({ length: arrays }, (_, index) => {
    const from = index * numbersOfArray;
    const day = `firstDays${index}[toInt64(user) - ${from} + 1]`;
    return index === arrays - 1 ? day : `user < ${from + numbersOfArray}, ${day}`;
  });
  return arrays === 1 ? places.join("") : `multiIf(${places.join(", ")})`;
}

/** All users who did an event before the days are one row of it, on the day before them; then a row for each
 * day. */
const useDay = "greatest(toInt32(day), {fromDay:Int32} - 1)";

// A user who did an event on a day and is in no earlier bitmap did it then for the first time. So each user
// is read once for each event, and not once for each day: with 5 million events 100 ms of CPU instead of 240,
// for 182 days 180 instead of 510. A user's number is the place of their first day in one of the arrays.
const textOf = (passive: PassiveEvents, arrays: number) => `
  WITH
    done AS (
      SELECT event, ${useDay} AS useDay, groupBitmapMergeState(event_days.users) AS people
      FROM event_days WHERE ${ofOrganization} AND ${isEngagement(passive)} AND day <= ${dayParameter("toDay")}
      GROUP BY event, useDay),
    begun AS (
      SELECT event, useDay, people, groupBitmapMergeState(people) OVER (
        PARTITION BY event ORDER BY useDay ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
      FROM done),
    ${Array.from({ length: arrays }, (_, index) => firstDays(passive, index)).join(",\n    ")}
  SELECT
    event,
    bitmapCardinality(${included("groupBitmapMergeStateIf(people, useDay >= {fromDay:Int32})")}) AS users,
    (
      SELECT bitmapCardinality(${included("groupBitmapMergeState(active_days.users)")})
      FROM ${activeDaysTable(passive)}
      WHERE ${ofOrganization} AND ${isWithin} AND day <= ${dayParameter("toDay")}) AS activeUsers,
    users / activeUsers AS share,
    sum(length(waits)) AS firstTimeUsers,
    if(firstTimeUsers = 0, NULL, quantileExactInclusiveArray(0.5)(waits)) AS medianDaysToFirstUse
  FROM (
    SELECT event, useDay, people,
      if(useDay < {fromDay:Int32}, [],
        arrayMap(user -> useDay - ${firstDayOf(arrays)},
          bitmapToArray(${included("bitmapAndnot(people, earlier)")}))) AS waits
    FROM begun)
  GROUP BY event HAVING users > 0
  ORDER BY users DESC, event LIMIT {limit:UInt32}`;
