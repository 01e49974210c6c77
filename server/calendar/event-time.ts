/**
 * Parses the time of an event. `Date.parse` is not strict enough: it reads February 31 as March, and a time
 * without an offset in the server's own zone. Both would put events on wrong days.
 */
import { limits } from "../../contract/limits.ts";
import { dayNumber, msPerDay, type Zone } from "./zone.ts";

const dateOnly = /^(\d{4})-(\d{2})-(\d{2})$/;
/** RFC 3339 `date-time`. */
const dateTime =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

const firstMs = Date.UTC(limits.firstYear, 0, 1);
const endMs = Date.UTC(limits.lastYear + 1, 0, 1);

/** The first year of a number that is a time. A year, a day of Excel (46082), 20260517 as seconds and
 * 202605170930 as milliseconds are times of the 1970s. */
export const firstNumberYear = 1980;
const firstNumberMs = Date.UTC(firstNumberYear, 0, 1);

/** Whether a number can be a time, in Unix milliseconds. */
export function isPlausibleNumber(ms: number): boolean {
  return ms >= firstNumberMs && ms < endMs;
}

/**
 * Unix milliseconds of an RFC 3339 date-time, or of the start of a date's day in the zone. Undefined for
 * anything else, for impossible dates, and for years that are not kept.
 */
export function parseEventTime(text: string, zone: Zone): number | undefined {
  const ms = parseDateTime(text) ?? parseDate(text, zone);
  return ms !== undefined && isKeptTime(ms, zone) ? ms : undefined;
}

/** Whether a time is in the years that are kept, both in UTC and in the zone. */
export function isKeptTime(ms: number, zone: Zone): boolean {
  if (!(ms >= firstMs && ms < endMs)) return false;
  const day = zone.dayOf(ms);
  return day >= firstMs / msPerDay && day < endMs / msPerDay;
}

function parseDate(text: string, zone: Zone): number | undefined {
  const match = dateOnly.exec(text);
  if (match === null) return undefined;
  const day = dayNumber(Number(match[1]), Number(match[2]), Number(match[3]));
  return day === undefined ? undefined : zone.startOfDay(day);
}

function parseDateTime(text: string): number | undefined {
  const match = dateTime.exec(text);
  if (match === null) return undefined;
  const [, year, month, date, hour, minute, second, fraction, sign, offsetHour, offsetMinute] = match;
  const day = dayNumber(Number(year), Number(month), Number(date));
  if (day === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  let offsetMinutes = 0;
  if (sign !== undefined) {
    if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
    offsetMinutes = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === "-" ? -1 : 1);
  }
  const minuteMs = day * msPerDay + (Number(hour) * 60 + Number(minute) - offsetMinutes) * 60_000;
  if (Number(second) < 60) return minuteMs + Number(second) * 1_000 + milliseconds(fraction);
  // A leap second is inserted only at the end of a UTC day. It counts as the start of the next second.
  return (minuteMs + 60_000) % msPerDay === 0 ? minuteMs + 60_000 : undefined;
}

function milliseconds(fraction: string | undefined): number {
  return fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, "0"));
}
