/** Amounts and intervals of RevenueCat, whose prices are decimals and whose periods are two instants. */
import { currencyCode, currencyDigits } from "../../../contract/billing/currencies.ts";
import { msPerDay } from "../../calendar/calendar.ts";
import { intervalText } from "../billing/fields.ts";

/** A price in minor units of its currency. Undefined without a currency of ISO 4217. */
export function minorUnits(price: number | undefined, currency: string | undefined): number | undefined {
  const code = currencyCode(currency ?? "");
  if (price === undefined || code === undefined) return undefined;
  const amount = Math.round(price * 10 ** currencyDigits(code));
  return Number.isSafeInteger(amount) ? amount : undefined;
}

/** Longest lengths of a year and of months, with a day for daylight saving and delays of a store. */
const calendar = [
  { unit: "year", count: 1, least: 364, most: 367 },
  { unit: "month", count: 6, least: 180, most: 185 },
  { unit: "month", count: 3, least: 89, most: 93 },
  { unit: "month", count: 2, least: 59, most: 63 },
  { unit: "month", count: 1, least: 27.9, most: 32 },
] as const;

/** The interval of a period that begins and ends at two instants: `month`, `3 months`, or a number of weeks or days. */
export function intervalBetween(startMs: number | undefined, endMs: number | undefined): string | undefined {
  if (startMs === undefined || endMs === undefined || endMs <= startMs) return undefined;
  const days = (endMs - startMs) / msPerDay;
  const found = calendar.find(({ least, most }) => days >= least && days <= most);
  if (found !== undefined) return intervalText(found.unit, found.count);
  const whole = Math.max(1, Math.round(days));
  return whole % 7 === 0 ? intervalText("week", whole / 7) : intervalText("day", whole);
}
