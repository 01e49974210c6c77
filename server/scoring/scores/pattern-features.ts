/**
 * Features of a snapshot that no score has yet: how regular an entity is, and which events it does. Like `featuresOf`, this is the
 * reference of the warehouse's result. A test compares the two on random logs.
 */
import { type DayEvent, daysPerPeriod, type FeatureSettings, windowPeriods } from "./features.ts";
import { observedCutoff, observedDay } from "./observed-days.ts";

export interface PatternFeatures {
  /** Distinct active days in each of the last twelve weeks, the newest first: the slope of activity follows from them. */
  readonly activeDaysByWeek: readonly number[];
  /** The standard deviation of the days between successive active days of 26 weeks, divided by their mean; null with fewer
   * than two such gaps. */
  readonly gapVariability: number | null;
  /** Days since the last key event of 26 weeks; null without any. */
  readonly keyEventIdleDays: number | null;
  /** How often each counted event was done in 28 days. Events that were not done are missing. */
  readonly eventCounts28: Readonly<Record<string, number>>;
}

export const weeksOfSlope = 12;

/** @param log in the order of days @param counted names of events */
export function patternFeaturesOf(
  log: readonly DayEvent[],
  cutoffDay: number,
  settings: FeatureSettings,
  counted: readonly string[],
): PatternFeatures {
  const { outages, passiveEvents, keyEvents = [] } = settings;
  const end = observedCutoff(cutoffDay, outages);
  const past = log
    .filter(({ day, event }) => day < cutoffDay && passiveEvents?.has(event) !== true)
    .map((one) => ({ ...one, daysAgo: end - observedDay(one.day, outages) }))
    .filter(({ daysAgo }) => daysAgo <= daysPerPeriod * windowPeriods);
  const days = [...new Set(past.map(({ daysAgo }) => daysAgo))].sort((a, b) => a - b);
  const keyDays = past.filter(({ event }) => keyEvents.includes(event)).map(({ daysAgo }) => daysAgo);
  const counts = new Map<string, number>();
  for (const { event, count, daysAgo } of past) {
    if (daysAgo <= 28 && counted.includes(event)) counts.set(event, (counts.get(event) ?? 0) + count);
  }
  return {
    activeDaysByWeek: Array.from(
      { length: weeksOfSlope },
      (_, week) => days.filter((daysAgo) => Math.floor((daysAgo - 1) / daysPerPeriod) === week).length,
    ),
    gapVariability: variabilityOf(days.slice(1).map((day, index) => day - (days[index] ?? 0))),
    keyEventIdleDays: keyDays.length === 0 ? null : Math.min(...keyDays),
    eventCounts28: Object.fromEntries(counts),
  };
}

function variabilityOf(gaps: readonly number[]): number | null {
  if (gaps.length < 2) return null;
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  return Math.sqrt(variance) / mean;
}
