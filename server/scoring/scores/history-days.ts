/** The days for which an organization gets scores: pure. */
import { type Period, periodsLater, startOfPeriod } from "../../calendar/calendar.ts";

const dailyDays = 90;
const weeklyWeeks = 52;
const week: Period = { name: "week", weekStart: 1 };
const month: Period = { name: "month", weekStart: 1 };

/**
 * The days before today that are scored after an import, the newest first: each of the last 90, then the other Mondays
 * of 52 weeks, then the first of each month, whose scores are those at the end of the month before. None is before there
 * is a week of data.
 * @param firstDay of the first event
 */
export function historyDays(today: number, firstDay: number): number[] {
  const from = firstDay + 7;
  const firstDaily = today - dailyDays;
  const firstWeekly = today - 7 * weeklyWeeks;
  const days: number[] = [];
  for (let day = today - 1; day >= Math.max(from, firstDaily); day -= 1) days.push(day);
  let monday = startOfPeriod(firstDaily - 1, week);
  for (; monday >= Math.max(from, firstWeekly); monday -= 7) days.push(monday);
  let first = startOfPeriod(firstWeekly - 1, month);
  for (; first >= from; first = periodsLater(first, -1, month)) days.push(first);
  return days;
}
