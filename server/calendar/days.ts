/** Days are numbers, counted from 1970-01-01; people read dates. */
import { dayNumber, msPerDay } from "./zone.ts";

/** `2026-03-01` */
export function formatDay(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}

/** The day of a date as it is formatted above; undefined when there is no such date. */
export function parseDay(text: string): number | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  return dayNumber(Number(year), Number(month), Number(day));
}
