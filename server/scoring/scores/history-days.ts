/** The days for which an organization gets scores: pure. */

const dailyDays = 28;
const weeklyWeeks = 26;
const msPerDay = 86_400_000;

/**
 * The days before today that are scored after an import, the newest first: each of the last 28, then each Monday of
 * 26 weeks, then the first of each month, whose scores are those at the end of the month before. None is before there
 * is a week of data.
 * @param firstDay of the first event
 */
export function historyDays(today: number, firstDay: number): number[] {
  const from = firstDay + 7;
  const days: number[] = [];
  for (let day = today - 1; day >= Math.max(from, today - dailyDays); day -= 1) days.push(day);
  const lastDaily = today - dailyDays;
  const firstWeekly = lastDaily - 7 * weeklyWeeks;
  // 1970-01-05 was a Monday.
  let monday = lastDaily - 1 - ((((lastDaily - 1 - 4) % 7) + 7) % 7);
  for (; monday >= Math.max(from, firstWeekly); monday -= 7) days.push(monday);
  const at = new Date(firstWeekly * msPerDay);
  let [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  for (;;) {
    const first = Math.floor(Date.UTC(year, month, 1) / msPerDay);
    if (first < from) return days;
    if (first < firstWeekly) days.push(first);
    [year, month] = month === 0 ? [year - 1, 11] : [year, month - 1];
  }
}
