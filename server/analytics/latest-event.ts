/** The latest event of all users. */

import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { included, isIncluded } from "../warehouse/schema/included.ts";
import { dayParameter } from "../warehouse/upkeep/keep-events.ts";
import { type AccountTimelineEvent, eventColumns, userNames } from "./entities/timeline.ts";
import { jsonSettings } from "./json-text.ts";

/** The event; undefined before the first. Only activity of included users counts.
 * @param toDay today: an event with a later day has not happened yet */
export async function latestEvent(
  warehouse: Warehouse,
  { organization, toDay }: { readonly organization: number; readonly toDay: number },
): Promise<AccountTimelineEvent | undefined> {
  const [last] = await warehouse.rows<{ days: number; day: number }>(lastDaySql, { organization, toDay });
  if (last === undefined || last.days === 0) return undefined;
  const [row] = await warehouse.rows<AccountTimelineEvent>(sql, { organization, day: last.day });
  return row;
}

const lastDaySql = `
  SELECT count() AS days, toInt32(max(day)) AS day
  FROM (
    SELECT day FROM active_days
    WHERE organization = {organization:UInt32} AND day <= ${dayParameter("toDay")}
    GROUP BY day HAVING bitmapCardinality(${included("groupBitmapMergeState(users)")}) > 0)`;

// Events are stored by user: only those of users who were active on the day are read.
const sql = `
  SELECT names.user_id AS userId, names.label AS userLabel, ${eventColumns}
  FROM (
    SELECT user, id, event, time, received_at, properties, is_activity FROM events
    WHERE organization = {organization:UInt32} AND day = ${dayParameter("day")} AND is_activity
      AND ${isIncluded("user")} AND user IN (
        SELECT arrayJoin(bitmapToArray(groupBitmapMergeState(users))) FROM active_days
        WHERE organization = {organization:UInt32} AND day = ${dayParameter("day")})
    ORDER BY time DESC, events.id DESC LIMIT 1) AS events
  INNER JOIN (${userNames("true")}) AS names USING user ${jsonSettings}`;
