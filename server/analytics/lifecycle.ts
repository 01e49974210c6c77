/**
 * The lifecycle of users by day, week or month. Of the active users of a period, new ones were active for the
 * first time ever. Returning ones were also active in the period before. Resurrected ones were active
 * earlier, but not in the period before. Dormant users were active in the period before and not in this.
 */
import { type PeriodsQuestion, periodStarts } from "../calendar/period-starts.ts";
import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { activeDaysTable, firstActiveDays, type PassiveEvents } from "../warehouse/schema/engagement.ts";
import { included } from "../warehouse/schema/included.ts";
import { dayParameter } from "../warehouse/upkeep/keep-events.ts";
import { periodOf } from "./period-of.ts";
import { engagementRows, type UsersQuestion } from "./sql.ts";

export type LifecycleQuestion = UsersQuestion & PeriodsQuestion;

/** Users of a period: active = new + returning + resurrected. */
export interface LifecycleRow {
  /** The period's days, in days since 1970-01-01; the last one may end with `toDay`, before it is over. */
  readonly fromDay: number;
  readonly toDay: number;
  readonly isComplete: boolean;
  readonly active: number;
  readonly new: number;
  readonly returning: number;
  readonly resurrected: number;
  readonly dormant: number;
}

/** One row for every period, oldest first. */
export async function lifecycle(warehouse: Warehouse, question: LifecycleQuestion): Promise<LifecycleRow[]> {
  const { organization, toDay, passiveEvents } = question;
  // One period more than the question has: the one before the first.
  const starts = periodStarts({ ...question, periods: question.periods + 1 });
  return lifecycleFrom(warehouse, { organization, toDay, passiveEvents }, starts);
}

/** The lifecycle in complete weeks of seven days, of which the last ends with `toDay`. */
export function lifecycleOfSevens(
  warehouse: Warehouse,
  { weeks, ...question }: UsersQuestion & { readonly weeks: number },
): Promise<LifecycleRow[]> {
  const endDay = question.toDay + 1;
  const starts = Array.from({ length: weeks + 2 }, (_, index) => endDay - 7 * (weeks + 1 - index));
  return lifecycleFrom(warehouse, question, starts);
}

/** @param starts the first days of the periods, with the one before the first, and the day after the last */
function lifecycleFrom(
  warehouse: Warehouse,
  question: UsersQuestion,
  starts: readonly number[],
): Promise<LifecycleRow[]> {
  return engagementRows(warehouse, sql, { ...question, starts, fromDay: starts[0] ?? 0 });
}

// Each period's bitmap counts as `now` for itself and as `before` for the next; 0 gives every period a row.
const sql = (passive: PassiveEvents) => `
  WITH
    active AS (
      SELECT ${periodOf("toInt32(day)")} AS period, groupBitmapMergeState(users) AS users
      FROM ${activeDaysTable(passive)}
      WHERE organization = {organization:UInt32}
        AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
      GROUP BY period),
    first_days AS (
      SELECT firstDay, groupBitmapState(user) AS users
      FROM ${firstActiveDays(passive)}
      WHERE firstDay BETWEEN {fromDay:Int32} AND {toDay:Int32}
      GROUP BY firstDay),
    (SELECT groupBitmapState(toUInt32(0)) FROM numbers(0)) AS noUsers
  SELECT
    {starts:Array(Int32)}[period] AS fromDay,
    least({starts:Array(Int32)}[period + 1] - 1, {toDay:Int32}) AS toDay,
    toBool({starts:Array(Int32)}[period + 1] - 1 <= {toDay:Int32}) AS isComplete,
    bitmapCardinality(usersNow) AS active,
    bitmapCardinality(usersNew) AS new,
    bitmapAndCardinality(usersNow, usersBefore) AS returning,
    active - new - returning AS resurrected,
    bitmapCardinality(usersBefore) - returning AS dormant
  FROM (
    SELECT period,
      ${included("groupBitmapMergeStateIf(users, role = 'now')")} AS usersNow,
      ${included("groupBitmapMergeStateIf(users, role = 'before')")} AS usersBefore,
      ${included("groupBitmapMergeStateIf(users, role = 'new')")} AS usersNew
    FROM (
      SELECT toUInt32(period + (role = 'before')) AS period, role, users
      FROM active ARRAY JOIN ['now', 'before'] AS role
      UNION ALL
      SELECT ${periodOf("firstDay")} AS period, 'new', users FROM first_days
      UNION ALL
      SELECT toUInt32(arrayJoin(range(1, length({starts:Array(Int32)})))) AS period, '', noUsers)
    WHERE period BETWEEN 2 AND length({starts:Array(Int32)}) - 1
    GROUP BY period)
  ORDER BY fromDay`;
