/** The end of a paid period, moved on by payments. */
import type { BillingInterval } from "../../contract/billing/events.ts";
import { msPerDay } from "../calendar/zone.ts";

const daysOf = { day: 1, week: 7 } as const;

/**
 * The first end of a period after a payment, counted in intervals from the end that was reported last. Months
 * keep its day: from the end of January they end on 28 February and 31 March, in UTC.
 */
export function periodEndAfter(reportedMs: number, interval: BillingInterval, paidMs: number): number {
  const { count, unit } = interval;
  if (unit === "day" || unit === "week") {
    const intervalMs = count * daysOf[unit] * msPerDay;
    return reportedMs + (Math.floor((paidMs - reportedMs) / intervalMs) + 1) * intervalMs;
  }
  const months = count * (unit === "year" ? 12 : 1);
  const passed = monthOf(paidMs) - monthOf(reportedMs);
  // A period that ends later in the month of the payment, or one before it by the length of the months.
  let periods = Math.max(1, Math.floor(passed / months));
  while (addMonths(reportedMs, periods * months) <= paidMs) periods += 1;
  return addMonths(reportedMs, periods * months);
}

function monthOf(ms: number): number {
  const date = new Date(ms);
  return 12 * date.getUTCFullYear() + date.getUTCMonth();
}

/** A day that the month does not have is its last one. */
function addMonths(ms: number, months: number): number {
  const date = new Date(ms);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return (
    Date.UTC(year, month, Math.min(date.getUTCDate(), lastDay)) + (((ms % msPerDay) + msPerDay) % msPerDay)
  );
}
