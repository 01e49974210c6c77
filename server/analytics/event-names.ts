/** Which events there are: how often each was done, by how many people, and when first and last. */

import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { included } from "../warehouse/schema/included.ts";
import { dayParameter } from "../warehouse/upkeep/keep-events.ts";
import { countsOfDays } from "./counts-of-days.ts";

export interface EventNamesQuestion {
  readonly organization: number;
  /** Nothing after this day counts, in days since 1970-01-01. */
  readonly toDay: number;
  /** Only names that contain this text, ignoring case; empty for all. */
  readonly search: string;
  readonly sort: "count" | "users" | "event" | "firstDay" | "lastDay";
  readonly descending: boolean;
  /** At most this many. */
  readonly limit: number;
}

export interface EventNameRow {
  readonly event: string;
  readonly count: number;
  readonly users: number;
  /** Days since 1970-01-01. */
  readonly firstDay: number;
  readonly lastDay: number;
  /** Names that match, without the limit. */
  readonly total: number;
}

/** One row for every event's name. */
export function eventNames(
  warehouse: Warehouse,
  { sort, descending, ...parameters }: EventNamesQuestion,
): Promise<EventNameRow[]> {
  return warehouse.rows<EventNameRow>(sql(orders[sort], descending ? "DESC" : "ASC"), { ...parameters });
}

const asked = `
  organization = {organization:UInt32} AND day <= ${dayParameter("toDay")}
  AND ({search:String} = '' OR positionCaseInsensitiveUTF8(event, {search:String}) > 0)`;

const orders: Record<EventNamesQuestion["sort"], string> = {
  count: "count",
  users: "users",
  event: "event",
  firstDay: "firstDay",
  lastDay: "lastDay",
};

const sql = (column: string, direction: "ASC" | "DESC") => `
  SELECT event, count, users, firstDay, lastDay, count() OVER () AS total
  FROM (
    SELECT event, sum(times) AS count, toInt32(min(day)) AS firstDay, toInt32(max(day)) AS lastDay
    FROM ${countsOfDays(asked)} GROUP BY event) AS counted
  INNER JOIN (
    SELECT event, bitmapCardinality(${included("groupBitmapMergeState(event_days.users)")}) AS users
    FROM event_days WHERE ${asked} GROUP BY event) AS people
  USING event
  ORDER BY ${column} ${direction}, event LIMIT {limit:UInt32}`;
