/** Users who did an event so often, or accounts in which it was done, as of past days: what `eventSets` reads
 * of now. */

import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../../warehouse/schema/included.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import type { EntitySet } from "../../entities/entity-sets.ts";
import type { EventsDone } from "../../entities/event-sets.ts";
import type { Sql } from "../../sql.ts";
import type { DaySets } from "./day-sets.ts";
import { bitsByDay, daySetsOf, type PastDays } from "./past-days.ts";

/** As of the start of a day, which is the last of so many days and has no event yet. */
export function doneInPast(
  warehouse: Warehouse,
  of: EntitySet["of"],
  past: PastDays,
  { entities, ...done }: EventsDone & { readonly entities: number },
): Promise<DaySets> {
  const span = spanOf(past, done.days);
  const rows = `
    FROM user_event_days
    WHERE organization = {organization:UInt32} AND event = {event:String} AND ${of} != 0 AND ${isIncluded("user")}
      AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
    GROUP BY entity`;
  const { text, parameters } = done.times === 1 ? once(past, done, span) : often(past, done, span);
  return daySetsOf(warehouse, entities, {
    text: `SELECT ${of} AS entity, ${text} AS bits ${rows}`,
    parameters: { ...parameters, ...span, organization: past.organization, event: done.event },
  });
}

/** The days whose rows are read. */
interface Span {
  readonly fromDay: number;
  readonly toDay: number;
}

/** The days of rows for a condition on so many days. */
export function spanOf({ days }: PastDays, windowDays: number): Span {
  const [first = 0, last = 0] = [days[0], days.at(-1)];
  return { fromDay: first - windowDays + 1, toDay: last - 1 };
}

/** Whether a row counts within so many days that end with this one. */
export const isWithin = (windowDays: number) => (rowDay: number, day: number) =>
  rowDay < day && rowDay > day - windowDays;

function once(past: PastDays, { days }: EventsDone, span: Span): Sql {
  const { text, parameters } = bitsByDay(past, span, isWithin(days))("toInt32(day)");
  return { text: `groupBitOr(${text})`, parameters };
}

/** Each event with the one that is `times` − 1 later: both count from the day after the later one, as long as
 * the earlier one does. A row with more events than that counts as `times`. */
function often(past: PastDays, { times, days }: EventsDone, span: Span): Sql {
  const later = bitsByDay(past, span, (rowDay, day) => rowDay < day)("later", "laterBits");
  const earlier = bitsByDay(past, span, (rowDay, day) => rowDay > day - days)("earlier", "earlierBits");
  const done = "arraySort(groupArrayArray(arrayWithConstant(least(count, {times:UInt64}), toInt32(day))))";
  return {
    text: `
      arrayReduce('groupBitOr', arrayMap((later, earlier) -> bitAnd(${later.text}, ${earlier.text}),
        arraySlice(${done} AS done, {times:UInt64}), arraySlice(done, 1, greatest(toInt64(length(done)) - {times:Int64} + 1, 0))))`,
    parameters: { ...later.parameters, ...earlier.parameters, times },
  };
}
