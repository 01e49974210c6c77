/** Simulated sources with rhythms of their own, and how rhythms judge them: false alarms, and how soon a stop
 * is noticed. */
import { msPerHour, Zone } from "../../server/calendar/zone.ts";
import { rhythmOf } from "../../server/scoring/scores/rhythm.ts";
import { Random } from "../../simulation/random.ts";

const zone = new Zone("Europe/Paris");
const firstHour = Date.UTC(2020, 0, 6) / msPerHour;
const hoursPerYear = 8_766;
const keptHours = 8 * 168;
const shareOfShortGaps = 0.002;

/** An hour by the clock of Paris. */
interface LocalHour {
  readonly hour: number;
  /** Since 1970-01-01. */
  readonly day: number;
  /** From Monday, 0. */
  readonly weekday: number;
  readonly dayOfMonth: number;
}

/** Whether the source sends in an hour. It is called hour by hour. */
type Sends = (local: LocalHour) => boolean;

/** Expected items an hour, as a chance that there is one at least: a Poisson process. */
const poisson = (random: Random, perHour: number) => random.chance(1 - Math.exp(-perHour));
const daylight = (hour: number) => Math.exp(-((hour - 14) ** 2) / 18);
const isOffice = ({ hour, weekday }: LocalHour) => weekday < 5 && hour >= 9 && hour < 18;

/** Sources by what they are like. */
export const simulatedRhythms: Readonly<Record<string, (random: Random) => Sends>> = {
  "every minute": () => () => true,
  "a busy website": (random) => (local) =>
    poisson(random, (0.6 + 4 * daylight(local.hour)) * weekendShare(local)),
  "a small website": (random) => (local) =>
    poisson(random, (0.03 + 0.5 * daylight(local.hour)) * weekendShare(local)),
  "office hours": (random) => (local) => isOffice(local) && poisson(random, 3),
  "office hours, ten holidays a year": (random) => {
    const isHoliday = new Map<number, boolean>();
    return (local) => {
      const known = isHoliday.get(local.day) ?? random.chance(10 / 365);
      isHoliday.set(local.day, known);
      return !known && isOffice(local) && poisson(random, 3);
    };
  },
  "a nightly job": () => (local) => local.hour === 2,
  "a weekly report": () => (local) => local.weekday === 0 && local.hour === 8,
  "monthly invoices": () => (local) => local.dayOfMonth === 1 && local.hour >= 6 && local.hour < 9,
  "three a day, at any time": (random) => () => poisson(random, 3 / 24),
  "one a day, at any time": (random) => () => poisson(random, 1 / 24),
  "two a week, at any time": (random) => () => poisson(random, 2 / 168),
  "campaigns of a day or two, five days between": (random) => {
    let [left, isOn] = [0, false];
    return () => {
      if (left <= 0) {
        isOn = !isOn;
        left = random.exponential(isOn ? 36 : 120);
      }
      left -= 1;
      return isOn && poisson(random, 1);
    };
  },
};

function weekendShare({ weekday }: LocalHour): number {
  return weekday < 5 ? 1 : 0.35;
}

function localOf(utcHour: number): LocalHour {
  const local = Math.floor(utcHour + zone.offsetSecondsAt(utcHour * msPerHour) / 3_600);
  const day = Math.floor(local / 24);
  const dayOfMonth = new Date(day * 24 * msPerHour).getUTCDate();
  return { hour: local - day * 24, day, weekday: (day + 3) % 7, dayOfMonth };
}

/** How a rhythm is judged. */
export interface Judged {
  readonly falseAlarmsPerYear: number;
  /** While nothing was wrong, in hours a year. */
  readonly falseHoursPerYear: number;
  /** Days from a stop at a random moment until its detection, for half of the stops and for nine tenths. */
  readonly detectedDays: { readonly half: number; readonly most: number };
}

/** Judges a rhythm over so many years of each seed. */
export function judge(make: (random: Random) => Sends, seeds: number, years: number): Judged {
  const detected: { readonly days: number; readonly weight: number }[] = [];
  let [alarms, alarmHours] = [0, 0];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const random = new Random(77 * seed);
    const heard = heardHours(make(random), years);
    let oldest = 0;
    for (const [index, next] of heard.entries()) {
      const last = heard[index - 1];
      // One or two hours are no silence for any source: 3 expected hours have to be missing.
      const chance = next - (last ?? next) > 3 ? 1 : shareOfShortGaps;
      if (last === undefined || !random.chance(chance)) continue;
      while ((heard[oldest] ?? next) < last - keptHours) oldest += 1;
      const rhythm = rhythmOf(heard.slice(oldest, index), firstHour, zone);
      if (rhythm === undefined) continue;
      const silentFrom = rhythm.silentFromMs / msPerHour;
      if (silentFrom <= next) {
        alarms += 1;
        alarmHours += next - silentFrom;
      }
      // A stop falls into a gap in proportion to its length.
      detected.push({ days: (silentFrom - random.within(last, next)) / 24, weight: (next - last) / chance });
    }
  }
  detected.sort((a, b) => a.days - b.days);
  const all = detected.reduce((sum, { weight }) => sum + weight, 0);
  const quantile = (share: number) => {
    let before = 0;
    for (const { days, weight } of detected) {
      before += weight;
      if (before >= share * all) return days;
    }
    return Number.NaN;
  };
  return {
    falseAlarmsPerYear: alarms / seeds / years,
    falseHoursPerYear: alarmHours / seeds / years,
    detectedDays: { half: quantile(0.5), most: quantile(0.9) },
  };
}

function heardHours(sends: Sends, years: number): number[] {
  const hours: number[] = [];
  for (let hour = firstHour; hour < firstHour + years * hoursPerYear; hour += 1) {
    if (sends(localOf(hour))) hours.push(hour);
  }
  return hours;
}
