/**
 * Outages of the past: days without any active user that the rhythm of the weeks before does not explain. It
 * is the rule of rhythm.ts on days, which are all that is known of the past. See server/scoring/README.md.
 */
import type { DaySpan } from "./churn-changes.ts";

export interface DayOfData {
  readonly day: number;
  /** Users who did anything on it, at least 1. */
  readonly users: number;
}

/** Days from which the rhythm is measured. */
const rhythmDays = 56;
/** With less history there is no claim. */
const leastKnownDays = 7;
/** On one of these days at least so many users were active: fewer may all stay away for some days. */
const leastUsers = 5;
/** At least this many expected days have to be missing … */
const leastMissing = 3;
/** … and this many times the usual longest gap. */
const timesLongestGap = 3;
/** With this many gaps the longest is not counted: it may have been an outage, or a holiday. */
const gapsToForgiveOne = 30;
/** A product without users is no outage: silence that has lasted longer than this counts until data comes
 * again. */
const longestUnendedDays = 56;

/**
 * The outages before a day, in order. The days since the last data are an outage as soon as the rhythm does
 * not explain them. So only data before the day decides.
 * @param days with data before the day, in order
 */
export function outagesOf(days: readonly DayOfData[], beforeDay: number): DaySpan[] {
  const first = days[0]?.day ?? beforeDay;
  return days.flatMap(({ day }, index) => {
    const next = days[index + 1]?.day ?? beforeDay;
    const isEnded = index + 1 < days.length;
    if (next - day <= leastMissing || day - first < leastKnownDays) return [];
    if (!isEnded && next - day - 1 > longestUnendedDays) return [];
    const before = days.slice(Math.max(0, index + 1 - rhythmDays), index + 1);
    const recent = before.filter((each) => each.day > day - rhythmDays);
    return isOutage(recent, next) ? [{ from: day + 1, to: next }] : [];
  });
}

/** @param recent the days of the rhythm, up to the last before the gap */
function isOutage(recent: readonly DayOfData[], next: number): boolean {
  if (!recent.some(({ users }) => users >= leastUsers)) return false;
  const heard = recent.map(({ day }) => day);
  const shares = sharesOfWeekdays(heard);
  const missing = (from: number, to: number) => {
    let sum = 0;
    for (let day = from + 1; day < to; day += 1) sum += shares[weekdayOf(day)] ?? 0;
    return sum;
  };
  const gaps = heard.slice(1).map((day, index) => missing(heard[index] ?? day, day));
  const longest = gaps.toSorted((a, b) => b - a)[gaps.length >= gapsToForgiveOne ? 1 : 0] ?? 0;
  return missing(heard.at(-1) ?? next, next) >= Math.max(leastMissing, timesLongestGap * longest);
}

/** By weekday, the share of the days with data, since the first of them and over a week at least. */
function sharesOfWeekdays(heard: readonly number[]): readonly number[] {
  const last = heard.at(-1) ?? 0;
  const first = Math.min(heard[0] ?? last, last - leastKnownDays);
  const [all, sent] = [new Array<number>(7).fill(0), new Array<number>(7).fill(0)];
  for (let day = first; day <= last; day += 1) all[weekdayOf(day)] = (all[weekdayOf(day)] ?? 0) + 1;
  for (const day of heard) sent[weekdayOf(day)] = (sent[weekdayOf(day)] ?? 0) + 1;
  return all.map((days, weekday) => (days === 0 ? 0 : (sent[weekday] ?? 0) / days));
}

function weekdayOf(day: number): number {
  return ((day % 7) + 7) % 7;
}
