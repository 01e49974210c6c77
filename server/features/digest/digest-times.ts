/** When a digest is due, by the clocks of an organization. Pure. */
import { type DigestPeriod, digestDays } from "../../../contract/digest/digest.ts";
import { msPerHour, type Zone } from "../../calendar/zone.ts";
import { timeOfDayMs } from "../alerts/next-morning.ts";

/** A digest of a period. Its key is (recipient, period, day): it is sent once. */
export interface DueDigest {
  /** The day in whose morning the digest is due; a Monday for a weekly digest. */
  readonly day: number;
  /** Whether the digest waits no longer for the scores of its day. */
  readonly isLate: boolean;
}

const morningHour = 7;
/** How late a digest is still sent, after a stop of the service or an outage of the warehouse. */
const lateMs = 24 * msPerHour;
/** How long a digest waits for the scores of its day, which are usually there before it is due. */
const waitsMs = 3 * msPerHour;

/** The digest that may be sent now; undefined when there is none. The day counts, and not the hours since the
 * last digest. So a clock that changes neither skips nor repeats one. */
export function dueDigest(period: DigestPeriod, zone: Zone, nowMs: number): DueDigest | undefined {
  const today = zone.dayOf(nowMs);
  for (const day of [today, today - 1]) {
    if (period === "weekly" && !isMonday(day)) continue;
    const dueAtMs = timeOfDayMs(zone, day, morningHour);
    if (nowMs < dueAtMs || nowMs >= dueAtMs + lateMs) continue;
    return { day, isLate: nowMs >= dueAtMs + waitsMs };
  }
  return undefined;
}

/** The time that a digest tells of, where a time counts and not a day: from 07:00 to 07:00. So a rule that is
 * decided late is told by the next digest. */
export function digestSpan(
  period: DigestPeriod,
  zone: Zone,
  day: number,
): { readonly fromMs: number; readonly toMs: number } {
  const at = (on: number) => timeOfDayMs(zone, on, morningHour);
  return { fromMs: at(day - digestDays[period]), toMs: at(day) };
}

/** 1970-01-01 was a Thursday. */
function isMonday(day: number): boolean {
  return (((day - 4) % 7) + 7) % 7 === 0;
}
