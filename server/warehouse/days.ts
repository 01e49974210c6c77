/** Days are numbers, counted from 1970-01-01, as the warehouse stores them; people read dates. */

const msPerDay = 86_400_000;

/** `2026-03-01` */
export function formatDay(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}
