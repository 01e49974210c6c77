/** Times in the files of a back-test. */
import { parseEventTime } from "../../server/calendar/event-time.ts";
import type { Zone } from "../../server/calendar/zone.ts";
import { apiTime } from "../../server/features/imports/reading/time.ts";
import { isInvalid } from "../../server/intake/admission/json.ts";

/** The time of a cell in unix milliseconds; undefined when it is none. Date-times without an offset are in
 * UTC, as databases export them. */
export function timeOf(cell: unknown, zone: Zone): number | undefined {
  for (const form of [{}, { timezone: "UTC" }]) {
    const text = apiTime(cell, { timestampFormat: "auto", ...form });
    const ms = isInvalid(text) ? undefined : parseEventTime(text, zone);
    if (ms !== undefined) return ms;
  }
  return undefined;
}

/** Why a cell is no time, behind the name of its place. */
export function notATime(cell: unknown): string {
  const found =
    cell === undefined || cell === null || cell === "" ? "empty" : JSON.stringify(cell).slice(0, 100);
  return (
    `is ${found}, which is not a time: it may hold unix seconds or ` +
    "milliseconds from 1980 on, ISO dates and date-times, 31.12.2025, and YYYYMMDD, of the years 1970 to 2299."
  );
}
