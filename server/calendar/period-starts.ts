/** Days, weeks and months as runs of days: the columns of a figure over time. */
import { type PeriodName, periodsLater, startOfPeriod } from "./periods.ts";

/** With which day a week begins, as ISO 8601 numbers them: Monday or Sunday. */
export type WeekStart = 1 | 7;

export interface PeriodsQuestion {
  readonly period: PeriodName;
  /** How many periods, the one of `toDay` included. */
  readonly periods: number;
  /** A day of the last period, in days since 1970-01-01. */
  readonly toDay: number;
  readonly weekStart: WeekStart;
}

/** The first days of so many calendar periods, oldest first, and behind them the first day after the last. */
export function periodStarts({ period: name, periods, toDay, weekStart }: PeriodsQuestion): number[] {
  const period = { name, weekStart };
  const last = startOfPeriod(toDay, period);
  return Array.from({ length: periods + 1 }, (_, index) => periodsLater(last, index - (periods - 1), period));
}
