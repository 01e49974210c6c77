/** The number of events on each day of one user, or in one account. Rows come from one user's rollup, or from
 * those of users who ever belonged to the account. */

import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
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

/** A user or an account, by its number. */
export interface Own {
  readonly kind: EntityKind;
  readonly entity: number;
}

/** The condition of events, and of rows of `user_event_days`, that are a user's or of included users in an
 * account. Queries bind the number under the kind's name. */
export const ownRows: Readonly<Record<EntityKind, string>> = {
  user: "user = {user:UInt32}",
  account: `account = {account:UInt32} AND user IN ${everMembers} AND ${isIncluded("user")}`,
};

/** The days with events of a user, or of included users in an account. */
export function ownActivity(
  warehouse: Warehouse,
  { kind, entity, ...days }: Days & Own,
): Promise<ActivityDay[]> {
  const sql = (passive: PassiveEvents) => `
    SELECT toInt32(day) AS day, sum(count) AS events, uniqExactIf(user, ${isEngagement(passive)}) AS users
    FROM user_event_days
    WHERE organization = {organization:UInt32} AND ${ownRows[kind]}
      AND user_event_days.day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
    GROUP BY user_event_days.day ORDER BY day`;
  return engagementRows(warehouse, sql, { ...days, [kind]: entity });
}

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
