/** Calendar periods of figures of revenue, and their instants. */
import type { RevenuePeriod } from "../analytics/revenue/revenue.ts";
import { msPerDay, type Zone } from "../calendar/zone.ts";

type RevenuePeriodName = "month" | "quarter" | "year";

interface Asked {
  readonly period: RevenuePeriodName;
  readonly periods: number;
  /** The last day that counts. */
  readonly toDay: number;
}

export interface CalendarPeriod extends RevenuePeriod {
  readonly fromDay: number;
  readonly toDay: number;
  readonly isComplete: boolean;
}

/** Months of a period. */
export const monthsOf: Readonly<Record<RevenuePeriodName, number>> = { month: 1, quarter: 3, year: 12 };

/** So many periods, the last of them that of `toDay`. The last ends with that day, or now. */
export function revenuePeriods(
  zone: Zone,
  nowMs: number,
  { period, periods, toDay }: Asked,
): CalendarPeriod[] {
  const size = monthsOf[period];
  const date = new Date(toDay * msPerDay);
  const lastMonth = date.getUTCFullYear() * 12 + date.getUTCMonth();
  const lastStart = lastMonth - (lastMonth % size);
  const countedMs = Math.min(zone.startOfDay(toDay + 1), nowMs);
  return Array.from({ length: periods }, (_, index) => {
    const first = lastStart - (periods - 1 - index) * size;
    const [fromDay, endDay] = [firstOfMonth(first), firstOfMonth(first + size)];
    const [startMs, nextMs] = [zone.startOfDay(fromDay), zone.startOfDay(endDay)];
    const endMs = Math.max(startMs + 1, Math.min(nextMs, countedMs));
    const later = Array.from({ length: size - 1 }, (_, month) =>
      zone.startOfDay(firstOfMonth(first + month + 1)),
    );
    return {
      fromDay,
      toDay: Math.min(endDay - 1, toDay),
      isComplete: endMs === nextMs,
      monthsMs: [startMs, ...later.filter((ms) => ms < endMs)],
      endMs,
    };
  });
}

/** @param month months since the year 0 */
function firstOfMonth(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12, 1) / msPerDay;
}
