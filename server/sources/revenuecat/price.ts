/** Amounts and intervals of RevenueCat, whose prices are decimals and whose periods are two instants. */
import { msPerDay } from "../../calendar/calendar.ts";
import { intervalText } from "../billing/fields.ts";

/** Digits of minor units by ISO 4217, where they are not two. */
const digits: ReadonlyMap<string, number> = new Map([
  ...("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
    .split(" ")
    .map((code) => [code, 0]) as [string, number][]),
  ...("BHD IQD JOD KWD LYD OMR TND".split(" ").map((code) => [code, 3]) as [string, number][]),
]);

/** A price in minor units of its currency. */
export function minorUnits(price: number | undefined, currency: string | undefined): number | undefined {
  if (price === undefined || currency === undefined) return undefined;
  const amount = Math.round(price * 10 ** (digits.get(currency.toUpperCase()) ?? 2));
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
