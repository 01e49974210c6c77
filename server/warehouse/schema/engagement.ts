/**
 * Engagement events: all activity but passive events. The only file that decides which events count in
 * figures about people, for analytics and for scores; included.ts decides which users count.
 *
 * Rollups know no settings, so passive events are left out when a figure is read (docs/decisions/0015).
 * Without passive events the texts below use the rollups of any event, which cost a tenth to a half. Queries
 * bind `organization` and `engagementParameters`.
 */
import { passiveEventsOf } from "../../../contract/api/departures-body.ts";
import type { Settings } from "../../../contract/settings.ts";
import type { Parameter, Warehouse } from "../engine/warehouse.ts";
import { dayParameter } from "../upkeep/keep-events.ts";
import { isIncluded } from "./included.ts";

/** The names of an organization's passive events. */
export type PassiveEvents = readonly string[];

/** The values for the texts below. */
export function engagementParameters(passive: PassiveEvents): Readonly<Record<string, Parameter>> {
  return passive.length === 0 ? {} : { passiveEvents: [...passive] };
}

/** The condition that the row of a rollup, by its column `event`, is of an engagement event. */
export function isEngagement(passive: PassiveEvents): string {
  return passive.length === 0 ? "true" : "event NOT IN {passiveEvents:Array(String)}";
}

/** A table (organization, day, users): bitmaps of the users who were active on a day. A day may have several
 * rows. */
export function activeDaysTable(passive: PassiveEvents): string {
  if (passive.length === 0) return "active_days";
  return `(
    SELECT organization, day, users FROM event_days
    WHERE organization = {organization:UInt32} AND ${isEngagement(passive)}) AS active_days`;
}

/**
 * A subquery (user, firstDay, lastDay) of every user who was active until `toDay`, which is bound.
 *
 * With passive events the days come from bitmaps: a user's first day is that of the earliest bitmap with this
 * user. With 20 million events that takes 85 ms of processor time; the rollup of users' days takes 1.2 s.
 */
export function activeSpans(passive: PassiveEvents): string {
  if (passive.length === 0) return anySpans("true");
  const frame = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING";
  return `(
    SELECT user, toInt32(min(day)) AS firstDay, toInt32(max(day)) AS lastDay
    FROM (
      SELECT day, arrayJoin(bitmapToArray(bitmapOr(bitmapAndnot(people, earlier), bitmapAndnot(people, later)))) AS user
      FROM (
        SELECT day, people,
          groupBitmapMergeState(people) OVER (ORDER BY day ${frame}) AS earlier,
          groupBitmapMergeState(people) OVER (ORDER BY day DESC ${frame}) AS later
        FROM (
          SELECT day, groupBitmapMergeState(users) AS people FROM ${activeDaysTable(passive)}
          WHERE organization = {organization:UInt32} AND day <= ${dayParameter("toDay")} GROUP BY day)))
    GROUP BY user)`;
}

/** The subquery of `activeSpans` for few users, selected by a condition on `user`. */
export function activeSpansOf(passive: PassiveEvents, condition: string): string {
  if (passive.length === 0) return anySpans(condition);
  return `(
    SELECT user, toInt32(min(day)) AS firstDay, toInt32(max(day)) AS lastDay FROM user_event_days
    WHERE organization = {organization:UInt32} AND ${condition} AND ${isEngagement(passive)}
      AND day <= ${dayParameter("toDay")}
    GROUP BY user)`;
}

// The rollup of spans has only the last day of all. Few users have days after `toDay`: their last day before
// comes from the rollup of days.
const anySpans = (condition: string) => `(
  SELECT user, firstDay, if(lastOfAll <= {toDay:Int32}, lastOfAll, cut.lastDay) AS lastDay
  FROM (
    SELECT user, toInt32(min(first_day)) AS firstDay, toInt32(max(last_day)) AS lastOfAll
    FROM user_spans WHERE organization = {organization:UInt32} AND ${condition}
    GROUP BY user HAVING firstDay <= {toDay:Int32}) AS whole
  LEFT JOIN (
    SELECT user, toInt32(max(day)) AS lastDay
    FROM user_event_days
    WHERE organization = {organization:UInt32} AND day <= ${dayParameter("toDay")} AND user IN (
      SELECT user FROM user_spans
      WHERE organization = {organization:UInt32} AND last_day > ${dayParameter("toDay")})
    GROUP BY user) AS cut
  USING user)`;

/** A subquery (user, firstDay) of every user who was ever active. */
export function firstActiveDays(passive: PassiveEvents): string {
  if (passive.length === 0) {
    return `(
      SELECT user, toInt32(first_day) AS firstDay FROM user_spans FINAL WHERE organization = {organization:UInt32})`;
  }
  return `(
    SELECT arrayJoin(bitmapToArray(bitmapAndnot(people, earlier))) AS user, toInt32(day) AS firstDay
    FROM (
      SELECT day, people,
        groupBitmapMergeState(people) OVER (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
      FROM (
        SELECT day, groupBitmapMergeState(users) AS people FROM ${activeDaysTable(passive)}
        WHERE organization = {organization:UInt32} GROUP BY day)))`;
}

/** An active member has an engagement event that carries the account within this many days before T. */
const activeMemberDays = 28;

/**
 * A subquery (account, activeMembers) of accounts with an active member. T, the start of a day, is bound as
 * `membersDay`.
 * @param which a condition on `account`
 */
export function activeMembersTable(passive: PassiveEvents, which: string): string {
  return `(
    SELECT account, uniqExact(user) AS activeMembers FROM user_event_days
    WHERE organization = {organization:UInt32} AND ${which} AND ${isEngagement(passive)} AND ${isIncluded("user")}
      AND day >= addDays(${dayParameter("membersDay")}, -${activeMemberDays}) AND day < ${dayParameter("membersDay")}
    GROUP BY account)`;
}

/** The names of all events of an organization that are activity. */
export async function eventNamesOf(warehouse: Warehouse, organization: number): Promise<string[]> {
  const rows = await warehouse.rows<{ event: string }>(
    "SELECT event FROM event_days WHERE organization = {organization:UInt32} GROUP BY event",
    { organization },
  );
  return rows.map(({ event }) => event);
}

/** An organization's settings as figures and scores apply them: with departures that wait for an answer as
 * passive. */
export async function appliedSettings(
  warehouse: Warehouse,
  organization: number,
  settings: Settings,
): Promise<Settings> {
  const passiveEvents = passiveEventsOf(await eventNamesOf(warehouse, organization), settings);
  return { ...settings, passiveEvents };
}
