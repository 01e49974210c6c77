/** The reserved attribute `renewsAt` of accounts. */
import { parseDay } from "../../calendar/days.ts";

/** The day that the attribute `renewsAt` says, as a date or as a date-time; undefined for anything else.
 * @param dayOf the day of an instant in the organization's timezone */
export function renewalDayOf(renewsAt: unknown, dayOf: (ms: number) => number): number | undefined {
  if (typeof renewsAt !== "string") return undefined;
  if (renewsAt.length === 10) return parseDay(renewsAt);
  const ms = Date.parse(renewsAt);
  return Number.isNaN(ms) ? undefined : dayOf(ms);
}
