/** Days are numbers, counted from 1970-01-01; people read dates. */
import { msPerDay } from "./zone.ts";

/** `2026-03-01` */
export function formatDay(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}
