/** Which events there are: how often each was done, by how many people, and when first and last. */

import { included } from "../warehouse/included.ts";
import { dayParameter } from "../warehouse/keep-events.ts";
import type { Warehouse } from "../warehouse/warehouse.ts";
import { countsOfDays } from "./counts-of-days.ts";

export interface EventNamesQuestion {
  readonly organization: number;
  /** Nothing after this day counts, in days since 1970-01-01. */
  readonly toDay: number;
  /** Only names that hold this text, whatever the case; empty for all. */
  readonly search: string;
  /** At most this many, those done most often. */
  readonly limit: number;
}

export interface EventNameRow {
  readonly event: string;
  readonly count: number;
  readonly users: number;
  /** Days since 1970-01-01. */
  readonly firstDay: number;
  readonly lastDay: number;
}

/** One row for every event's name, the one done most often first. */
export function eventNames(
  warehouse: Warehouse,
  { organization, toDay, search, limit }: EventNamesQuestion,
): Promise<EventNameRow[]> {
  return warehouse.rows<EventNameRow>(sql, { organization, toDay, search, limit });
}

const asked = `
  organization = {organization:UInt32} AND day <= ${dayParameter("toDay")}
  AND ({search:String} = '' OR positionCaseInsensitiveUTF8(event, {search:String}) > 0)`;

const sql = `
  SELECT event, count, users, firstDay, lastDay
  FROM (
    SELECT event, sum(times) AS count, toInt32(min(day)) AS firstDay, toInt32(max(day)) AS lastDay
    FROM ${countsOfDays(asked)} GROUP BY event) AS counted
  INNER JOIN (
    SELECT event, bitmapCardinality(${included("groupBitmapMergeState(event_days.users)")}) AS users
    FROM event_days WHERE ${asked} GROUP BY event) AS people
  USING event
  ORDER BY count DESC, event LIMIT {limit:UInt32}`;
