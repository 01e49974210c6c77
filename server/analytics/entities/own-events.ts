/**
 * Which events one user did, or were done in one account: how often, by how many, and when first and last.
 * Events that are no activity are in no rollup. They are counted among the events themselves, which a
 * timeline reads, too.
 */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { countsAsActivity } from "../../warehouse/schema/tables.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { type Own, ownRows } from "./own-activity.ts";

interface Question {
  readonly organization: number;
  /** Whether events that are no activity are counted, too. */
  readonly kinds: "activity" | "all";
  /** Nothing after this day counts, in days since 1970-01-01. */
  readonly toDay: number;
  /** At most this many, those done most often. */
  readonly limit: number;
}

export interface OwnEvent {
  readonly event: string;
  readonly count: number;
  readonly users: number;
  /** Days since 1970-01-01. */
  readonly firstDay: number;
  readonly lastDay: number;
}

/** Names of the events of a user, or of included users in an account; the event done most often first. */
export function ownEvents(
  warehouse: Warehouse,
  { kind, entity, kinds, ...question }: Question & Own,
): Promise<OwnEvent[]> {
  const which = `organization = {organization:UInt32} AND ${ownRows[kind]} AND day <= ${dayParameter("toDay")}`;
  const activity = `SELECT event, user, day, count FROM user_event_days WHERE ${which}`;
  const others = `SELECT event, user, day, 1 AS count FROM events WHERE ${which} AND NOT ${countsAsActivity}`;
  return warehouse.rows<OwnEvent>(
    `
    SELECT event, sum(counted.count) AS count, uniqExact(user) AS users,
      toInt32(min(day)) AS firstDay, toInt32(max(day)) AS lastDay
    FROM (${kinds === "all" ? `${activity} UNION ALL ${others}` : activity}) AS counted
    GROUP BY event ORDER BY count DESC, event LIMIT {limit:UInt32}`,
    { ...question, [kind]: entity },
  );
}
