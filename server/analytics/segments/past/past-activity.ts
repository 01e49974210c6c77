/** Users who were active on some days, as of past days: what `activityConditions` and `seenConditions` read
 * of now. */

import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import {
  activeDaysTable,
  engagementParameters,
  firstActiveDays,
  type PassiveEvents,
} from "../../../warehouse/schema/engagement.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import type { ActivityFilter } from "../../entities/list-activity.ts";
import type { DaySets } from "./day-sets.ts";
import { bitsByDay, daySetsOf, type PastDays } from "./past-days.ts";
import { isWithin, spanOf } from "./past-events.ts";

export interface PastActivity extends PastDays {
  readonly passiveEvents: PassiveEvents;
  /** The highest number of a user, and one. */
  readonly users: number;
}

/** Users with an engagement event within so many days that end with the day of the evaluation. */
export function seenInPast(warehouse: Warehouse, past: PastActivity, withinDays: number): Promise<DaySets> {
  return activeOn(warehouse, past, spanOf(past, withinDays), isWithin(withinDays));
}

type Activity = Omit<NonNullable<ActivityFilter["activity"]>, "inAccount">;

/** Users who were active on days with fixed dates. Those that are after the day of the evaluation have no
 * event yet. */
export async function activeInPast(
  warehouse: Warehouse,
  past: PastActivity,
  { fromDay, toDay, lifecycle }: Activity,
): Promise<DaySets> {
  const isBefore = (rowDay: number, day: number) => rowDay < day;
  const now = () => activeOn(warehouse, past, { fromDay, toDay }, isBefore);
  const before = () => activeOn(warehouse, past, { fromDay: fromDay - 7, toDay: fromDay - 1 }, isBefore);
  const first = () => firstOn(warehouse, past, { fromDay, toDay }, isBefore);
  switch (lifecycle) {
    case "new":
      return first();
    case "returning":
      return (await now()).and(await before());
    case "resurrected":
      return (await now()).and((await before()).not()).and((await first()).not());
    case "dormant":
      return (await before()).and((await now()).not());
    case undefined:
      return now();
  }
}

type Span = Pick<Activity, "fromDay" | "toDay">;
type IsMember = Parameters<typeof bitsByDay>[2];

function activeOn(
  warehouse: Warehouse,
  past: PastActivity,
  span: Span,
  isMember: IsMember,
): Promise<DaySets> {
  const { passiveEvents, users } = past;
  const bits = bitsByDay(past, span, isMember)("onDay");
  return daySetsOf(warehouse, users, {
    text: `
      SELECT entity, groupBitOr(${bits.text}) AS bits
      FROM (
        SELECT toInt32(day) AS onDay, arrayJoin(bitmapToArray(groupBitmapMergeState(users))) AS entity
        FROM ${activeDaysTable(passiveEvents)}
        WHERE organization = {organization:UInt32} AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
        GROUP BY day)
      GROUP BY entity`,
    parameters: parametersOf(past, span, bits.parameters),
  });
}

function firstOn(warehouse: Warehouse, past: PastActivity, span: Span, isMember: IsMember): Promise<DaySets> {
  const { passiveEvents, users } = past;
  const bits = bitsByDay(past, span, isMember)("firstDay");
  return daySetsOf(warehouse, users, {
    text: `
      SELECT user AS entity, ${bits.text} AS bits FROM ${firstActiveDays(passiveEvents)}
      WHERE firstDay BETWEEN {fromDay:Int32} AND {toDay:Int32}`,
    parameters: parametersOf(past, span, bits.parameters),
  });
}

function parametersOf(
  { organization, passiveEvents }: PastActivity,
  { fromDay, toDay }: Span,
  bits: Parameters<typeof daySetsOf>[2]["parameters"],
) {
  return { ...engagementParameters(passiveEvents), ...bits, organization, fromDay, toDay };
}
