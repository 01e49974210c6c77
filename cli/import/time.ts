/** Converts times in files to the API's form: RFC 3339 with an offset, or a date. */
import type { Invalid } from "../../server/intake/intake.ts";

export const timestampFormats = ["auto", "iso", "utc", "unix", "unix-ms", "yyyymmdd"] as const;
export type TimestampFormat = (typeof timestampFormats)[number];

const dateAndTime =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)? ?(?:(Z|UTC)|([+-]\d{2})(?::?(\d{2}))?)?$/i;
const eightDigits = /^(\d{4})(\d{2})(\d{2})$/;
const number = /^-?\d+(\.\d+)?$/;

/**
 * The time in the API's form. Text that is no time is passed on, for admission to refuse.
 *
 *   auto      20260517; unix seconds (up to 11 digits) or milliseconds (12 to 14); else as iso
 *   iso       a date, or a date-time with Z or an offset
 *   utc       the same, and a date-time without an offset is in UTC
 */
export function apiTime(value: unknown, format: TimestampFormat): string | Invalid {
  if (typeof value !== "string" && typeof value !== "number") {
    return { invalid: "timestamp is neither text nor a number: send the time of the event." };
  }
  const text = String(value).trim();
  const date = eightDigits.exec(text);
  switch (format) {
    case "yyyymmdd":
      return date === null ? wrong(text, "a date as YYYYMMDD") : dashed(date);
    case "unix":
      return number.test(text) ? fromMs(Number(text) * 1_000, text) : wrong(text, "unix seconds");
    case "unix-ms":
      return number.test(text) ? fromMs(Number(text), text) : wrong(text, "unix milliseconds");
    case "auto": {
      if (date !== null) return dashed(date);
      if (!number.test(text)) break;
      const [whole = ""] = text.replace("-", "").split(".");
      if (whole.length <= 11) return fromMs(Number(text) * 1_000, text);
      if (whole.length <= 14) return fromMs(Number(text), text);
    }
  }
  return rfc3339(text, format === "utc");
}

function dashed([, year, month, day]: RegExpExecArray): string {
  return `${year}-${month}-${day}`;
}

function fromMs(ms: number, text: string): string | Invalid {
  // Seconds with a fraction, such as 1697040000.123, are slightly below their millisecond.
  const date = new Date(Math.round(ms));
  return Number.isNaN(date.getTime())
    ? wrong(text, "a unix time of the years 1970 to 2299")
    : date.toISOString();
}

function rfc3339(text: string, isUtc: boolean): string | Invalid {
  const match = dateAndTime.exec(text);
  if (match === null) return text;
  const [, day, minutes, seconds = ":00", zulu, hours, offsetMinutes = "00"] = match;
  const offset =
    hours === undefined ? (zulu !== undefined || isUtc ? "Z" : undefined) : `${hours}:${offsetMinutes}`;
  if (offset !== undefined) return `${day}T${minutes}${seconds}${offset}`;
  // The usual form of databases. The API's advice, to send an offset, does not help with an existing file.
  return {
    invalid: `timestamp ${JSON.stringify(text)} has no timezone: give --timestamp-format utc when such times are in UTC, or append an offset such as +02:00.`,
  };
}

function wrong(text: string, what: string): Invalid {
  return { invalid: `timestamp ${JSON.stringify(text.slice(0, 100))} is not ${what}.` };
}
