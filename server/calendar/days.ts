/** Days are numbers, counted from 1970-01-01; people read dates. */
import { dayNumber, msPerDay } from "./zone.ts";

/** `2026-03-01` */
export function formatDay(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}

/** The day of `2026-03-01`; undefined when the text is no date of the calendar. */
export function parseDay(text: string): number | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return match === null ? undefined : dayNumber(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** A day as text; null where there is none. */
export function dayOrNull(day: number | null): string | null {
  return day === null ? null : formatDay(day);
}
