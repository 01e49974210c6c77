/** Days, weeks and months as runs of days: the columns of a figure over time. */
import { dayNumber, msPerDay } from "./zone.ts";

/** With which day a week begins, as ISO 8601 numbers them: Monday or Sunday. */
export type WeekStart = 1 | 7;

export type PeriodName = "day" | "week" | "month";

export interface PeriodsQuestion {
  readonly period: PeriodName;
  /** How many periods, the one of `toDay` included. */
  readonly periods: number;
  /** A day of the last period, in days since 1970-01-01. */
  readonly toDay: number;
  readonly weekStart: WeekStart;
}

/** The first days of so many calendar periods, oldest first, and behind them the first day after the last. */
export function periodStarts({ period, periods, toDay, weekStart }: PeriodsQuestion): number[] {
  const starts: Record<PeriodName, (back: number) => number> = {
    day: (back) => toDay - back,
    week: (back) => weekOf(toDay, weekStart) - 7 * back,
    month: (back) => monthOf(toDay, back),
  };
  return Array.from({ length: periods + 1 }, (_, index) => starts[period](periods - 1 - index));
}

/** The first day of a day's week. Day 0 was a Thursday, ISO weekday 4. */
function weekOf(day: number, weekStart: WeekStart): number {
  const afterStart = (day + 4 - weekStart) % 7;
  return day - ((afterStart + 7) % 7);
}

/** The first day of the month that lies so many months before a day's own. */
function monthOf(day: number, back: number): number {
  const date = new Date(day * msPerDay);
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth() - back;
  const first = dayNumber(Math.floor(months / 12), (months % 12) + 1, 1);
  if (first === undefined) throw new RangeError(`${back} months before day ${day} is out of range`);
  return first;
}
