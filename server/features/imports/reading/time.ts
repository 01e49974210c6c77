/** Converts times in files to the API's form: RFC 3339 with an offset, or a date. */

import { formatDay, parseDay } from "../../../calendar/days.ts";
import { firstNumberYear, isPlausibleNumber, parseEventTime } from "../../../calendar/event-time.ts";
import { msPerDay, Zone, zoneOf } from "../../../calendar/zone.ts";
import { type Invalid, isInvalid } from "../../../intake/admission/json.ts";

export const timestampFormats = [
  "auto",
  "iso",
  "utc",
  "dmy",
  "mdy",
  "excel",
  "unix",
  "unix-ms",
  "yyyymmdd",
] as const;
export type TimestampFormat = (typeof timestampFormats)[number];

/** How the times of a file are written. */
export interface TimeForm {
  readonly timestampFormat: TimestampFormat;
  /** The timezone of dates, and of date-times without an offset. Without it, dates are the organization's. */
  readonly timezone?: string;
}

const dateAndTime =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)? ?(?:(Z|UTC)|([+-]\d{2})(?::?(\d{2}))?)?)?$/i;
/** 31/12/2025, 31.12.2025 14:05 or 12-31-2025, 2:05:30 PM. */
const partedDate =
  /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:,? (\d{1,2}):(\d{2})(:\d{2}(?:\.\d+)?)?(?: ?([AP])M)?)?$/i;
const eightDigits = /^(\d{4})(\d{2})(\d{2})$/;
const number = /^-?\d+(\.\d+)?$/;
/** Tools write the zero of Unix times for a time that is missing. */
const zero = /^(1970-01-01|1969-12-31)/;

const utc = new Zone("UTC");
const firstDayOfExcelMs = Date.UTC(1899, 11, 30);
const years = `the years ${firstNumberYear} to 2299`;

/**
 * The time in the API's form. Text that is no time is passed on, for admission to refuse.
 *
 *   auto        20260517; unix seconds (up to 11 digits) or milliseconds (12 to 14); 31.12.2025; else as iso
 *   iso         a date, or a date-time with Z or an offset
 *   utc         as iso, and a date-time without an offset is in UTC
 *   dmy, mdy    31/12/2025 or 12/31/2025, with a time or without; else as iso. With dots the day is first
 *   excel       days since 1899-12-30, as 46082.5; else as iso
 */
export function apiTime(value: unknown, { timestampFormat: format, timezone }: TimeForm): string | Invalid {
  if (typeof value !== "string" && typeof value !== "number") {
    return { invalid: "timestamp is neither text nor a number: send the time of the event." };
  }
  const text = String(value).trim();
  const date = eightDigits.exec(text);
  const isNumber = number.test(text);
  switch (format) {
    case "yyyymmdd":
      return date === null
        ? wrong(text, "a date as YYYYMMDD")
        : instant({ day: dashed(date) }, text, timezone);
    case "unix":
      return isNumber ? unixTime(Number(text) * 1_000, text) : wrong(text, "unix seconds");
    case "unix-ms":
      return isNumber ? unixTime(Number(text), text) : wrong(text, "unix milliseconds");
    case "excel":
      if (isNumber) return excelTime(Number(text), text, timezone);
      break;
    case "auto": {
      if (date !== null) return instant({ day: dashed(date) }, text, timezone);
      if (!isNumber) break;
      const [whole = ""] = text.replace("-", "").split(".");
      return unixTime(Number(text) * (whole.length <= 11 ? 1_000 : 1), text);
    }
  }
  const written = writtenTime(text, format);
  if (written === undefined || isInvalid(written)) return written ?? text;
  return instant(
    written,
    text,
    timezone ?? (format === "utc" && written.time !== undefined ? "UTC" : undefined),
  );
}

/** A time as clocks show it. */
interface WrittenTime {
  /** 2026-05-17 */
  readonly day: string;
  /** 09:30:00.5; undefined for a date alone. */
  readonly time?: string;
  /** Z or +02:00 */
  readonly offset?: string;
}

/** Undefined for a text that is no time. */
function writtenTime(text: string, format: TimestampFormat): WrittenTime | Invalid | undefined {
  const match = dateAndTime.exec(text);
  if (match === null) return partedTime(text, format);
  const [, day = "", minutes, seconds = ":00", zulu, hours, offsetMinutes = "00"] = match;
  if (minutes === undefined) return { day };
  const offset = zulu === undefined ? hours && `${hours}:${offsetMinutes}` : "Z";
  return { day, time: minutes + seconds, ...(offset !== undefined && { offset }) };
}

function partedTime(text: string, format: TimestampFormat): WrittenTime | Invalid | undefined {
  const match = partedDate.exec(text);
  if (match === null || format === "iso" || format === "utc") return undefined;
  const [, first = "", mark, second = "", year, hour, minutes, seconds = ":00", half] = match;
  if (mark !== "." && format !== "dmy" && format !== "mdy") {
    return {
      invalid: `timestamp ${JSON.stringify(text)} may have the day or the month first: give --timestamp-format dmy or mdy.`,
    };
  }
  const [date, month] = mark !== "." && format === "mdy" ? [second, first] : [first, second];
  const day = `${year}-${month.padStart(2, "0")}-${date.padStart(2, "0")}`;
  if (hour === undefined) return { day };
  const isHalf = half !== undefined;
  if (isHalf && (Number(hour) < 1 || Number(hour) > 12)) return undefined;
  const hours = isHalf ? (Number(hour) % 12) + (half.toUpperCase() === "P" ? 12 : 0) : Number(hour);
  return { day, time: `${String(hours).padStart(2, "0")}:${minutes}${seconds}` };
}

/** The instant of a time. A date without a timezone stays a date, of the organization's timezone. */
function instant(
  { day, time, offset }: WrittenTime,
  text: string,
  timezone: string | undefined,
): string | Invalid {
  if (zero.test(day)) return wrong(text, "the time of an event, but the zero of Unix times");
  if (offset !== undefined) return `${day}T${time}${offset}`;
  if (timezone === undefined) return time === undefined ? day : withoutTimezone(text);
  const zone = zoneOf(timezone);
  const dayNumber = parseDay(day);
  const shownMs = parseEventTime(time === undefined ? day : `${day}T${time}Z`, utc);
  if (dayNumber === undefined || shownMs === undefined)
    return wrong(text, "a time of the calendar, of the years 1970 to 2299");
  const ms = time === undefined ? zone.startOfDay(dayNumber) : zone.instantOf(shownMs);
  return new Date(ms).toISOString();
}

function withoutTimezone(text: string): Invalid {
  return {
    invalid: `timestamp ${JSON.stringify(text)} has no timezone: give --timestamp-format utc when such times are in UTC, or --timezone with theirs, such as Europe/Paris.`,
  };
}

function dashed([, year, month, day]: RegExpExecArray): string {
  return `${year}-${month}-${day}`;
}

function unixTime(sent: number, text: string): string | Invalid {
  // Seconds with a fraction, such as 1697040000.123, are slightly below their millisecond.
  const ms = Math.round(sent);
  if (isPlausibleNumber(ms)) return new Date(ms).toISOString();
  const dayMs = excelMs(Number(text));
  if (!isPlausibleNumber(dayMs)) return wrong(text, `a unix time of ${years}`);
  return {
    invalid: `timestamp ${JSON.stringify(text)} is no unix time of ${years}, but may be ${formatDay(Math.floor(dayMs / msPerDay))} as Excel counts days: give --timestamp-format excel.`,
  };
}

function excelMs(days: number): number {
  return firstDayOfExcelMs + Math.round(days * msPerDay);
}

function excelTime(days: number, text: string, timezone: string | undefined): string | Invalid {
  const ms = excelMs(days);
  if (!isPlausibleNumber(ms)) return wrong(text, `a day of Excel of ${years}`);
  const [day = "", time = ""] = new Date(ms).toISOString().slice(0, -1).split("T");
  return instant(Number.isInteger(days) ? { day } : { day, time }, text, timezone);
}

function wrong(text: string, what: string): Invalid {
  return { invalid: `timestamp ${JSON.stringify(text.slice(0, 100))} is not ${what}.` };
}

/** Whether a date has its day first, as far as it tells: 31/12/2025 has. Undefined for any other text, and
 * with dots, where it always is. */
export function dayOrderIn(value: unknown): "dmy" | "mdy" | "either" | undefined {
  const match = typeof value === "string" ? partedDate.exec(value.trim()) : null;
  if (match === null || match[2] === ".") return undefined;
  if (Number(match[1]) > 12) return "dmy";
  return Number(match[3]) > 12 ? "mdy" : "either";
}
