/** Days that do not end while a test runs: what it sent for today is still of today when figures are asked
 * for. */
import { Zone } from "../server/calendar/zone.ts";

const msPerMinute = 60_000;

/** The first of these timezones whose day began at least ten minutes ago. Scores of a day wait for five. The
 * day also has to last longer than a file of tests may run. */
export function zoneFarFromMidnight(...names: readonly [string, ...string[]]): string {
  const isFar = (name: string) => {
    const [nowMs, zone] = [Date.now(), new Zone(name)];
    return zone.dayOf(nowMs - 10 * msPerMinute) === zone.dayOf(nowMs + 45 * msPerMinute);
  };
  return names.find(isFar) ?? names[0];
}

/** UTC, or around its midnight a timezone in which noon in UTC has the same date. */
export const quietZone = zoneFarFromMidnight("UTC", "Etc/GMT+6");

/** Today in a timezone, in days since 1970-01-01. */
export function todayIn(name: string): number {
  return new Zone(name).dayOf(Date.now());
}
