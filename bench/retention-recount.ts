/** The retention table counted again from the raw events, to hold against the one from the bitmaps. */
import type { RetentionCell, RetentionQuestion } from "../server/analytics/retention.ts";
import type { Warehouse } from "../server/warehouse/warehouse.ts";

/** The same cells as `retention` answers, from the events' days and nothing else. */
export async function retentionRecount(
  warehouse: Warehouse,
  { organization, fromDay = Number.NEGATIVE_INFINITY, toDay = Number.POSITIVE_INFINITY }: RetentionQuestion,
): Promise<RetentionCell[]> {
  const activity = await warehouse.rows<{ user: number; day: number }>(
    "SELECT DISTINCT user, toInt32(day) AS day FROM events WHERE organization = {organization:UInt32}",
    { organization },
  );
  const weeksOfUser = new Map<number, Set<number>>();
  for (const { user, day } of activity) {
    if (day > toDay) continue;
    const weeks = weeksOfUser.get(user) ?? new Set();
    weeksOfUser.set(user, weeks.add(mondayOf(day)));
  }
  const cohorts = new Map<number, Map<number, number>>();
  const cohortUsers = new Map<number, number>();
  for (const weeks of weeksOfUser.values()) {
    const first = Math.min(...weeks);
    if (first < fromDay) continue;
    const cells = cohorts.get(first) ?? new Map<number, number>();
    cohorts.set(first, cells);
    cohortUsers.set(first, (cohortUsers.get(first) ?? 0) + 1);
    for (const week of weeks) cells.set((week - first) / 7, (cells.get((week - first) / 7) ?? 0) + 1);
  }
  const cells = [...cohorts].flatMap(([cohortDay, weeks]) =>
    [...weeks].map(([week, activeUsers]) => ({
      cohortDay,
      cohortUsers: cohortUsers.get(cohortDay) ?? 0,
      week,
      activeUsers,
    })),
  );
  return cells.sort((a, b) => a.cohortDay - b.cohortDay || a.week - b.week);
}

/** The Monday of a day's week, by the calendar itself and not by the arithmetic of the query. */
function mondayOf(day: number): number {
  const weekday = new Date(day * 86_400_000).getUTCDay();
  return day - ((weekday + 6) % 7);
}
