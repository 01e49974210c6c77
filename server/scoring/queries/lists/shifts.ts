/** What changed rules of scores changed between two runs, in SQL: scoring/run/shifts.ts stores it by day. */
import type { EntityKind } from "../engagement-events.ts";

/** The shifts of days after one and until another. @param after,until expressions of days, in days since
 * 1970-01-01 */
function shiftsOf(kind: EntityKind, after: string, until: string): string {
  const day = (days: string) => `addDays(toDate32('1970-01-01'), ${days})`;
  return `(
    SELECT * FROM ${kind}_score_shifts FINAL
    WHERE organization = {organization:UInt32} AND day > ${day(after)} AND day <= ${day(until)}) AS shifts
  INNER JOIN (
    SELECT day, rows_version AS shiftVersion FROM score_records FINAL
    WHERE organization = {organization:UInt32} AND kind = '${kind}' AND what = 'shift') AS valid USING (day)
  WHERE version >= shiftVersion`;
}

/**
 * A subquery of the entities that changed rules changed after one day and until another: (entity, byRules:
 * points of health; bandFirst and bandLast: the health band before the first change and after the last;
 * highFirst and highLast: whether the churn risk was high).
 * @param from names the bound earlier day @param to names the bound later day
 */
export function shiftsBetween(kind: EntityKind, from: string, to: string): string {
  return `(
    SELECT ${kind} AS entity, sum(health) AS byRules, argMin(colour_before, day) AS bandFirst, argMax(colour, day) AS bandLast,
      argMin(was_high, day) AS highFirst, argMax(is_high, day) AS highLast
    FROM ${shiftsOf(kind, `{${from}:Int32}`, `{${to}:Int32}`)}
    GROUP BY entity)`;
}

/**
 * A subquery of what changed rules changed between pairs of days: (entity, pair: its place from 1, and the
 * columns of `shiftsBetween`).
 * @param earlier,later name the bound days of the pairs, in days since 1970-01-01 @param only a condition on
 * the kind's numbers
 */
export function shiftsOfPairs(kind: EntityKind, earlier: string, later: string, only: string): string {
  const [from, to] = [`{${earlier}:Array(Int32)}`, `{${later}:Array(Int32)}`];
  return `(
    SELECT ${kind} AS entity, pair, sum(health) AS byRules, argMin(colour_before, day) AS bandFirst, argMax(colour, day) AS bandLast
    FROM (
      SELECT day, ${kind}, health, colour_before, colour, arrayJoin(arrayFilter(each -> toInt32(day) > ${from}[each] AND toInt32(day) <= ${to}[each],
        arrayEnumerate(${from}))) AS pair
      FROM ${shiftsOf(kind, `arrayMin(${from})`, `arrayMax(${to})`)} AND ${only})
    GROUP BY entity, pair)`;
}

/** The condition that an entity went from one health band to the other by changed rules alone, over
 * `bandFirst` and `bandLast`. */
export const isMovedByRules = (before: string, now: string) =>
  `(bandFirst != bandLast AND ${before} = bandFirst AND ${now} = bandLast)`;
