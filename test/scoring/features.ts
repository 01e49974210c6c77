/** The features of one entity from its log: what `server/scoring/queries/feature-query.ts` is compared
 * with. */
import type { Cell } from "../../server/scoring/churn/bgbb.ts";
import {
  adoptionDays,
  daysPerPeriod,
  type FactsBeside,
  type FeatureSettings,
  type Features,
  maxCountPerDay,
  weeksOfSlope,
  windowPeriods,
} from "../../server/scoring/scores/features.ts";
import { daysWithin, type Outages, observedCutoff } from "../../server/scoring/scores/observed-days.ts";

/** How often an entity did one event on one day. */
export interface DayEvent {
  readonly day: number;
  readonly event: string;
  readonly count: number;
}

const windowDays = daysPerPeriod * windowPeriods;

/** No fact beside an entity's own events. */
export const noFacts: FactsBeside = {
  hasLeft: false,
  traits: {},
  numbers: {},
  planIdleDays: null,
  account: null,
  members: null,
  billing: null,
};

/**
 * The features of one entity as of `cutoffDay`, from its events in the order of their days. Null when no
 * engagement event is before that day.
 */
export function featuresOf(
  log: readonly DayEvent[],
  cutoffDay: number,
  settings: FeatureSettings = {},
  about: Partial<FactsBeside> = {},
): Features | null {
  const end = observedCutoff(cutoffDay, settings.outages);
  const past = log
    .filter(({ day, event }) => day < cutoffDay && settings.passiveEvents?.has(event) !== true)
    .map((each) => ({ ...each, day: observedDay(each.day, settings.outages) }));
  const days = distinct(past.map(({ day }) => day));
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return null;
  const activeWithin = (newest: number, oldest: number) =>
    days.filter((day) => day >= end - oldest && day < end - newest).length;
  const recent = past.filter(({ day }) => day >= end - 28);
  const volume = (sum: number, { event, count }: DayEvent) =>
    sum + (settings.weights?.get(event) ?? 1) * Math.min(count, maxCountPerDay);
  return {
    idleDays: end - last,
    tenureDays: end - first,
    activeDays28: activeWithin(0, 28),
    activeDaysPrevious28: activeWithin(28, 56),
    activeDays84: activeWithin(0, 84),
    activeDaysByWeek: Array.from({ length: weeksOfSlope }, (_, week) =>
      activeWithin(daysPerPeriod * week, daysPerPeriod * (week + 1)),
    ),
    volume28: recent.reduce(volume, 0),
    eventNames28: new Set(recent.map(({ event }) => event)).size,
    eventCounts28: countsOf(recent, settings.countedEvents),
    meanGapDays: days.length === 1 ? end - first : (last - first) / (days.length - 1),
    gapVariability: gapVariabilityOf(days.filter((day) => day >= end - windowDays)),
    hasSingleActiveDay: days.length === 1,
    cell: cellOf(days, end),
    adoption: adoptionOf(past, end, settings.keyEvents ?? []),
    keyEventIdleDays: keyEventIdleDaysOf(past, end, settings.keyEvents ?? []),
    ...noFacts,
    ...about,
  };
}

/**
 * The history in periods of seven days that end with T, in the window of 26 weeks. Period 0 is that of the
 * first activity in the window, which need not be the first ever. So n is at most 25, the likelihood is of
 * the periods after it, and years of habit before the window do not outweigh present behaviour. (Counting n
 * from the first day ever raised the log loss on the git log from .395 to .440.) Null when the window has no
 * activity.
 */
export function cellOf(activeDays: readonly number[], cutoffDay: number): Cell | null {
  const periodsAgo = activeDays
    .filter((day) => day < cutoffDay)
    .map((day) => Math.floor((cutoffDay - 1 - day) / daysPerPeriod))
    .filter((ago) => ago < windowPeriods);
  if (periodsAgo.length === 0) return null;
  const n = Math.max(...periodsAgo);
  return { x: new Set(periodsAgo).size - 1, t: n - Math.min(...periodsAgo), n };
}

/** Values without equal neighbours. */
function distinct(sorted: readonly number[]): number[] {
  return sorted.filter((day, index) => day !== sorted[index - 1]);
}

function adoptionOf(
  past: readonly DayEvent[],
  cutoffDay: number,
  keyEvents: readonly string[],
): number | null {
  if (keyEvents.length === 0) return null;
  const used = new Set(past.filter(({ day }) => day >= cutoffDay - adoptionDays).map(({ event }) => event));
  return keyEvents.filter((event) => used.has(event)).length / keyEvents.length;
}

function keyEventIdleDaysOf(
  past: readonly DayEvent[],
  cutoffDay: number,
  keyEvents: readonly string[],
): number | null {
  const last = past.findLast(({ day, event }) => day >= cutoffDay - windowDays && keyEvents.includes(event));
  return last === undefined ? null : cutoffDay - last.day;
}

function countsOf(
  events: readonly DayEvent[],
  counted: readonly string[] | undefined,
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { event, count } of events) {
    if (counted === undefined || counted.includes(event)) counts.set(event, (counts.get(event) ?? 0) + count);
  }
  return Object.fromEntries(counts);
}

/** @param days distinct, in their order */
function gapVariabilityOf(days: readonly number[]): number | null {
  const gaps = days.slice(1).map((day, index) => day - (days[index] ?? 0));
  if (gaps.length < 2) return null;
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  return Math.sqrt(variance) / mean;
}

/** The observed day of a calendar day: its number without the outage days until then. */
export function observedDay(day: number, outages: Outages = []): number {
  return day - daysWithin(outages, Number.NEGATIVE_INFINITY, day + 1);
}
