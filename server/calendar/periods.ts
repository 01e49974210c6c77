/** Days, weeks and months of the calendar. A period is named by its first day, in days since 1970-01-01. */
import { msPerDay } from "./zone.ts";

export const periodNames = ["day", "week", "month"] as const;
export type PeriodName = (typeof periodNames)[number];

export interface Period {
  readonly name: PeriodName;
  /** With which day weeks begin: 1 is Monday, 7 is Sunday. */
  readonly weekStart: 1 | 7;
}

/** The first day of the period in which a day lies. */
export function startOfPeriod(day: number, { name, weekStart }: Period): number {
  if (name === "day") return day;
  if (name === "month") return firstOfMonth(monthsOf(day));
  // Day 0 was a Thursday: three days after a Monday, four after a Sunday.
  const sinceStart = (day + (weekStart === 1 ? 3 : 4)) % 7;
  return day - ((sinceStart + 7) % 7);
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
