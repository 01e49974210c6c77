/** The interval of a price from the two instants of a period that it pays for. */
import { billingInterval } from "../../../contract/billing/events.ts";
import { msPerDay } from "../../calendar/zone.ts";
import { intervalText } from "./fields.ts";

/** Longest lengths of a year and of months, with a day for daylight saving and delays of a store. */
const calendar = [
  { unit: "year", count: 1, least: 364, most: 367 },
  { unit: "month", count: 6, least: 180, most: 185 },
  { unit: "month", count: 3, least: 89, most: 93 },
  { unit: "month", count: 2, least: 59, most: 63 },
  { unit: "month", count: 1, least: 27.9, most: 32 },
] as const;

/** The interval of a period that begins and ends at two instants: `month`, `3 months`, or a number of weeks
 * or days. */
export function intervalBetween(startMs: number | undefined, endMs: number | undefined): string | undefined {
  if (startMs === undefined || endMs === undefined || endMs <= startMs) return undefined;
  const days = (endMs - startMs) / msPerDay;
  const found = calendar.find(({ least, most }) => days >= least && days <= most);
  if (found !== undefined) return intervalText(found.unit, found.count);
  const whole = Math.max(1, Math.round(days));
  return whole % 7 === 0 ? intervalText("week", whole / 7) : intervalText("day", whole);
}

/** How often each unit is billed in a year: those of MRR, so that a sum over parts of several intervals has
 * the MRR of its parts. */
const timesAYear = { day: 365, week: 52, month: 12, year: 1 } as const;

/** How often a price of this interval is billed in a year: 4 for `3 months`. Undefined for a text that is no
 * interval. */
export function billedAYear(interval: string | undefined): number | undefined {
  const parsed = interval === undefined ? undefined : billingInterval(interval);
  return parsed && timesAYear[parsed.unit] / parsed.count;
}
