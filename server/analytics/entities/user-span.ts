/** On which days a user did anything for the first and the last time. One user's rows of a rollup. */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isEngagement, type PassiveEvents } from "../../warehouse/schema/engagement.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { engagementRows, type UsersQuestion } from "../sql.ts";

/** Days since 1970-01-01, in the organization's timezone. */
export interface UserSpan {
  readonly firstDay: number;
  readonly lastDay: number;
}

/** The span of a user's events until a day; events with a later time do not count. Undefined for a user
 * without any. */
export async function userSpan(
  warehouse: Warehouse,
  question: UsersQuestion & { readonly user: number },
): Promise<UserSpan | undefined> {
  const [span] = await engagementRows<UserSpan>(warehouse, sql, { ...question });
  return span;
}

const sql = (passive: PassiveEvents) => `
  SELECT toInt32(min(day)) AS firstDay, toInt32(max(day)) AS lastDay
  FROM user_event_days
  WHERE organization = {organization:UInt32} AND user = {user:UInt32} AND ${isEngagement(passive)} AND day <= ${dayParameter("toDay")}
  GROUP BY user`;
