/** The number of events on each day of one user, or in one account. Rows come from one user's rollup, or from
 * those of users who ever belonged to the account. */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isEngagement, type PassiveEvents } from "../../warehouse/schema/engagement.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { engagementRows, type UsersQuestion } from "../sql.ts";
import { everMembers } from "./timeline.ts";

/** Passive events are counted, and make no user active. */
interface Days extends UsersQuestion {
  readonly fromDay: number;
}

export interface ActivityDay {
  readonly day: number;
  readonly events: number;
  /** Users who were active: with an engagement event. */
  readonly users: number;
}

/** The days on which a user did anything, by the user's number. */
export function userActivity(
  warehouse: Warehouse,
  question: Days & { readonly user: number },
): Promise<ActivityDay[]> {
  return engagementRows(warehouse, (passive) => activityOf("user = {user:UInt32}", passive), { ...question });
}

/** The days with events of included users in the account with this number. */
export function accountActivity(
  warehouse: Warehouse,
  question: Days & { readonly account: number },
): Promise<ActivityDay[]> {
  return engagementRows(warehouse, (passive) => activityOf(inAccount, passive), { ...question });
}

/** The condition of rows of `user_event_days` that count for an account. */
export const inAccount = `account = {account:UInt32} AND user IN ${everMembers} AND ${isIncluded("user")}`;

const activityOf = (whose: string, passive: PassiveEvents) => `
  SELECT toInt32(day) AS day, sum(count) AS events, uniqExactIf(user, ${isEngagement(passive)}) AS users
  FROM user_event_days
  WHERE organization = {organization:UInt32} AND ${whose}
    AND user_event_days.day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
  GROUP BY user_event_days.day ORDER BY day`;

/** A row for every day between the two, also where nothing was done. */
export function everyDay(
  { fromDay, toDay }: Pick<Days, "fromDay" | "toDay">,
  rows: readonly ActivityDay[],
): ActivityDay[] {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  return Array.from({ length: toDay - fromDay + 1 }, (_, index) => {
    const day = fromDay + index;
    return byDay.get(day) ?? { day, events: 0, users: 0 };
  });
}
