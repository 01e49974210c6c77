/** How many users ever did an event, for each of some events. */

import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { included } from "../warehouse/schema/included.ts";
import { dayParameter } from "../warehouse/upkeep/keep-events.ts";

export interface UsersOfEvent {
  readonly event: string;
  readonly users: number;
}

/** One row for every event of included users until a day; the one with the most users first.
 * @param toDay in days since 1970-01-01 */
export function usersOfEvents(
  warehouse: Warehouse,
  question: {
    readonly organization: number;
    readonly events: readonly string[];
    readonly toDay: number;
    readonly limit: number;
  },
): Promise<UsersOfEvent[]> {
  return warehouse.rows<UsersOfEvent>(sql, { ...question });
}

const sql = `
  SELECT event, bitmapCardinality(${included("groupBitmapMergeState(event_days.users)")}) AS users
  FROM event_days
  WHERE organization = {organization:UInt32} AND event IN {events:Array(String)} AND day <= ${dayParameter("toDay")}
  GROUP BY event HAVING users > 0 ORDER BY users DESC, event LIMIT {limit:UInt32}`;
