/** The days for which an organization gets scores: pure. */
import { type Period, periodsLater, startOfPeriod } from "../../calendar/period-starts.ts";

const dailyDays = 90;
const weeklyWeeks = 52;
/** Lists, the call list and the overview compare today with these days before it. */
const comparedDays = [7, 28];
const week: Period = { name: "week", weekStart: 1 };
const month: Period = { name: "month", weekStart: 1 };

/**
 * The days before today that are scored after an import: those that today is compared with, the last week,
 * the Mondays of 52 weeks, the other days of the last 90, then the first of each month, whose scores are
 * those at the end of the month before and the forecasts of its renewals. Each group begins with its newest
 * day, and none is before there is a week of data.
 * @param firstDay of the first event
 */
export function historyDays(today: number, firstDay: number): number[] {
  const from = firstDay + 7;
  const firstDaily = today - dailyDays;
  const firstWeekly = today - 7 * weeklyWeeks;
  const days = new Set<number>();
  for (const before of comparedDays) if (today - before >= from) days.add(today - before);
  for (let day = today - 1; day >= Math.max(from, today - 7); day -= 1) days.add(day);
  let monday = startOfPeriod(today - 1, week);
  for (; monday >= Math.max(from, firstWeekly); monday -= 7) days.add(monday);
  for (let day = today - 1; day >= Math.max(from, firstDaily); day -= 1) days.add(day);
  let first = startOfPeriod(today - 1, month);
  for (; first >= from; first = periodsLater(first, -1, month)) days.add(first);
  return [...days];
}
