/** How often every event was done on every day, as a part of other queries. */
import { isExcluded } from "../../warehouse/warehouse.ts";

/**
 * A subquery with `event`, `day` and `times`, a row for every event and day on which it was done.
 *
 * Nobody is looked at: the engine has these sums beside the rows (`countsOfEvents`), and only the rows of excluded users
 * are read, to be subtracted. Of 4 million rows of `user_event_days` that takes 15 ms, with 10 excluded users 20, with
 * 1,000 among 100,000 60; to sum the rows of all who are included took 130, and takes as long when a third is excluded.
 * @param where a condition on organization, event and day alone: any other column, and all rows are read
 */
export function countsOfDays(where: string): string {
  return `(
    SELECT event, day, sum(signed) AS times
    FROM (
      SELECT event, day, toInt64(sum(count)) AS signed
      FROM user_event_days WHERE ${where} GROUP BY event, day
      UNION ALL
      SELECT event, day, -toInt64(sum(count)) AS signed
      FROM user_event_days WHERE ${where} AND ${isExcluded("user")} GROUP BY event, day)
    GROUP BY event, day HAVING times > 0)`;
}
