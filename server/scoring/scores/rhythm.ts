/**
 * The rhythm of a source, and the time from which its silence is longer than that rhythm explains. See
 * server/scoring/README.md.
 *
 * Time is stretched first. An hour counts as much as the share of its kind (Tuesday, 14:00 to 15:00, in the
 * organization's timezone) in which the source sent before. On that clock, nights and weekends without data
 * do not pass. A Poisson process of any weekly shape then has gaps of mean 1 (the time-rescaling theorem:
 * Brown et al., Neural Computation 14, 2002). The usual gaps on that clock are not assumed but measured: the
 * longest ones that occurred.
 */
import { msPerHour, type Zone } from "../../calendar/zone.ts";

const hoursPerWeek = 168;
/** With less history there is no claim. */
const leastKnownHours = hoursPerWeek;
/** At least this many expected hours have to be missing … */
const leastMissing = 3;
/** … and this many times the usual longest gap. */
const timesLongestGap = 3;
/** With this many gaps the longest is not counted: it may have been a silence, or a holiday. */
const gapsToForgiveOne = 30;
/** Eight weeks without data are a silence for any rhythm. */
const longestSilenceHours = 8 * hoursPerWeek;
export const longestSilenceMs = longestSilenceHours * msPerHour;

export interface Rhythm {
  /** When the source counts as silent without further data. */
  readonly silentFromMs: number;
  /** Half of the gaps between hours with data are at most this long. */
  readonly usualGapHours: number;
  /** Whether it has sent on Saturdays or Sundays. */
  readonly sendsAtWeekends: boolean;
}

/**
 * The rhythm of a source; undefined while less than a week is known of it.
 * @param heard the hours with data, counted from 1970-01-01 UTC, ascending, each once
 * @param knownSinceHour the first hour of all with data, at most `heard[0]`
 */
export function rhythmOf(heard: readonly number[], knownSinceHour: number, zone: Zone): Rhythm | undefined {
  const [first, last] = [heard[0], heard.at(-1)];
  if (first === undefined || last === undefined || last - knownSinceHour < leastKnownHours) return undefined;
  const shares = sharesOfSlots(heard, Math.min(first, last - leastKnownHours), zone);
  const share = (hour: number) => shares[slotOf(hour, zone)] ?? 0;
  const gaps = gapsOf(heard, share);
  const longest = gaps.toSorted((a, b) => b - a)[gaps.length >= gapsToForgiveOne ? 1 : 0] ?? 0;
  const threshold = Math.max(leastMissing, timesLongestGap * longest);
  let hour = last;
  for (let missing = 0; missing < threshold && hour - last < longestSilenceHours; ) {
    hour += 1;
    missing += share(hour);
  }
  const between = heard.slice(1).map((each, index) => each - (heard[index] ?? each));
  return {
    silentFromMs: (hour + 1) * msPerHour,
    usualGapHours: between.toSorted((a, b) => a - b)[Math.floor(between.length / 2)] ?? hoursPerWeek,
    sendsAtWeekends: heard.some((each) => isWeekend(slotOf(each, zone))),
  };
}

/** The hour of the week by the zone's clock, from Thursday 00:00, with which 1970 began. */
function slotOf(hour: number, zone: Zone): number {
  const localHour = Math.floor(hour + zone.offsetSecondsAt(hour * msPerHour) / 3_600);
  return ((localHour % hoursPerWeek) + hoursPerWeek) % hoursPerWeek;
}

/** Thursday, Friday, then these two days. */
function isWeekend(slot: number): boolean {
  return slot >= 48 && slot < 96;
}

/** By slot, the share of the hours since `fromHour` in which it sent. */
function sharesOfSlots(heard: readonly number[], fromHour: number, zone: Zone): readonly number[] {
  const all = new Array<number>(hoursPerWeek).fill(0);
  const sent = new Array<number>(hoursPerWeek).fill(0);
  const count = (counts: number[], hour: number) => {
    const slot = slotOf(hour, zone);
    counts[slot] = (counts[slot] ?? 0) + 1;
  };
  for (let hour = fromHour; hour <= (heard.at(-1) ?? fromHour); hour += 1) count(all, hour);
  for (const hour of heard) count(sent, hour);
  return all.map((hours, slot) => (hours === 0 ? 0 : (sent[slot] ?? 0) / hours));
}

/** For each two successive hours with data, the number of expected hours between them. */
function gapsOf(heard: readonly number[], share: (hour: number) => number): readonly number[] {
  return heard.slice(1).map((next, index) => {
    let missing = 0;
    for (let hour = (heard[index] ?? next) + 1; hour < next; hour += 1) missing += share(hour);
    return missing;
  });
}

/** A rhythm as words: `every hour or more often`, `about every 3 days, never at weekends`. */
export function rhythmInWords({ usualGapHours: hours, sendsAtWeekends }: Rhythm): string {
  const days = Math.round(hours / 24);
  const often =
    hours <= 1
      ? "every hour or more often"
      : hours < 20
        ? `about every ${hours} hours`
        : days <= 1
          ? "about once a day"
          : days === 7
            ? "about once a week"
            : `about every ${days} days`;
  return days >= 7 || sendsAtWeekends ? often : `${often}, never at weekends`;
}
