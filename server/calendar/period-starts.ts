/** Days, weeks and months of the calendar. A period is named by its first day, in days since 1970-01-01. */
import { msPerDay } from "./zone.ts";

/** With which day a week begins, as ISO 8601 numbers them: Monday or Sunday. */
export type WeekStart = 1 | 7;

export type PeriodName = "day" | "week" | "month";

export interface Period {
  readonly name: PeriodName;
  readonly weekStart: WeekStart;
}

export interface PeriodsQuestion {
  readonly period: PeriodName;
  /** How many periods, the one of `toDay` included. */
  readonly periods: number;
  /** A day of the last period, in days since 1970-01-01. */
  readonly toDay: number;
  readonly weekStart: WeekStart;
}

/** The first days of this many calendar periods, the oldest first, then the first day after the last
 * period. */
export function periodStarts({ period: name, periods, toDay, weekStart }: PeriodsQuestion): number[] {
  const last = startOfPeriod(toDay, { name, weekStart });
  return Array.from({ length: periods + 1 }, (_, index) =>
    periodsLater(last, index + 1 - periods, { name, weekStart }),
  );
}

/** The first day of the period in which a day lies. */
export function startOfPeriod(day: number, { name, weekStart }: Period): number {
  if (name === "day") return day;
  if (name === "month") return firstOfMonth(monthsOf(day));
  // Day 0 was a Thursday, ISO weekday 4.
  const afterStart = (day + 4 - weekStart) % 7;
  return day - ((afterStart + 7) % 7);
}

/** The first day of the period that follows `count` periods after the one that begins with `start`. */
export function periodsLater(start: number, count: number, { name }: Period): number {
  if (name === "month") return firstOfMonth(monthsOf(start) + count);
  return start + count * (name === "week" ? 7 : 1);
}

/** How many periods lie between the starts of two. */
export function periodsBetween(start: number, laterStart: number, { name }: Period): number {
  if (name === "month") return monthsOf(laterStart) - monthsOf(start);
  return (laterStart - start) / (name === "week" ? 7 : 1);
}

/** Months since January 1970. */
function monthsOf(day: number): number {
  const date = new Date(day * msPerDay);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

function firstOfMonth(months: number): number {
  return Date.UTC(1970, months, 1) / msPerDay;
}
