/** The first and the last day of every user of an organization, as a part of other queries. */
import { dayParameter } from "../warehouse/keep-events.ts";

/**
 * A subquery with `user`, `firstDay` and `lastDay` (days since 1970-01-01), a row for every user who did anything until
 * `toDay`. The rollup of spans knows no such limit, so the last days of those who go beyond it, hardly ever one, come
 * from the rollup of days. Queries bind `organization` and `toDay`.
 */
export const spans = spansOf();

/** The same of users for whom a condition on `user` holds. */
export function spansOf(condition = "true"): string {
  return `(
  SELECT user, firstDay, if(lastOfAll <= {toDay:Int32}, lastOfAll, cut.lastDay) AS lastDay
  FROM (
    SELECT user, toInt32(min(first_day)) AS firstDay, toInt32(max(last_day)) AS lastOfAll
    FROM user_spans WHERE organization = {organization:UInt32} AND ${condition}
    GROUP BY user HAVING firstDay <= {toDay:Int32}) AS whole
  LEFT JOIN (
    SELECT user, toInt32(max(day)) AS lastDay
    FROM user_event_days
    WHERE organization = {organization:UInt32} AND day <= ${dayParameter("toDay")} AND user IN (
      SELECT user FROM user_spans
      WHERE organization = {organization:UInt32} AND last_day > ${dayParameter("toDay")})
    GROUP BY user) AS cut
  USING user)`;
}
