/** Where an organization's data begins: events with a wrong date, as 1970 of a clock that was never set, are
 * no beginning. */

/** A longer pause has nobody of before in the window of any feature. */
const longestPauseDays = 182;
/** Less than this share of all data before such a pause has wrong dates, or was a trial. */
const leastShareBefore = 0.01;

/** A day with data, and how much: events, or users who were active. */
export interface DatedCount {
  readonly day: number;
  readonly count: number;
}

/**
 * The first day of the data; undefined without any. Days before a pause of 26 weeks are left out when they
 * have less than a hundredth of the data. Otherwise one event of 1970 would ask for the scores of 660 months.
 * @param days in order
 */
export function startOfData(days: readonly DatedCount[]): number | undefined {
  const all = days.reduce((sum, { count }) => sum + count, 0);
  let [start, before] = [days[0]?.day, 0];
  for (const [index, { day, count }] of days.entries()) {
    const last = days[index - 1]?.day ?? day;
    if (before >= leastShareBefore * all) break;
    if (day - last > longestPauseDays) start = day;
    before += count;
  }
  return start;
}
