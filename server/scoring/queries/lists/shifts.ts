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

/** The condition that an entity went from one health band to the other by changed rules alone, over
 * `bandFirst` and `bandLast`. */
export const isMovedByRules = (before: string, now: string) =>
  `(bandFirst != bandLast AND ${before} = bandFirst AND ${now} = bandLast)`;
