/** Which days a back-test scores and trains at. */
import { daysWithin, type Outages } from "../scores/observed-days.ts";

export interface FoldDays {
  /** Entities are scored as of this day, and evaluated by their activity in the horizon from it. */
  readonly cutoffDay: number;
  /** Earlier cut-offs whose horizon has ended by `cutoffDay`, the newest first. */
  readonly trainingDays: readonly number[];
}

export const daysBetween = 28;
/** Every second Monday of 52 weeks. Six cut-offs 28 days apart gave a log loss of .368 instead of .364 on the
 * git log. */
const trainingCutoffs: TrainingCutoffs = { atMost: 26, stepDays: 14 };
/**
 * The longest feature looks back 84 days. 28 more make sure that not all entities are new. Inferred: any
 * limit from 98 to 125 days gives the published figure for recency alone on CDNOW, .771; no limit gives .815.
 */
const leastHistoryDays = 112;
export const leastFolds = 4;
export const maxFolds = 12;

interface TrainingCutoffs {
  readonly atMost: number;
  readonly stepDays: number;
}

/**
 * The cut-offs to train at for scoring at `cutoffDay`: 26, 14 days apart, back from the last whose labels are
 * known. None is within 112 days of the log's first day; there may be none.
 */
export function trainingDaysFor(
  cutoffDay: number,
  firstDay: number,
  horizonDays: number,
  { atMost, stepDays } = trainingCutoffs,
): number[] {
  return Array.from({ length: atMost }, (_, i) => cutoffDay - horizonDays - i * stepDays).filter(
    (day) => day >= firstDay + leastHistoryDays,
  );
}

const calibrationCutoffs = 6;

/** The cut-offs at which the calibration of the churned is trained: the newest six of these, 28 days apart.
 * Returns change within a year: trained on all of it, the calibration has a slope of .78 on the git log
 * instead of .9. */
export function calibrationDaysOf(trainingDays: readonly number[]): number[] {
  const [newest = 0] = trainingDays;
  return trainingDays.filter((day) => (newest - day) % daysBetween === 0).slice(0, calibrationCutoffs);
}

/** The folds at these cut-offs, without folds that have no cut-off to train at. */
export function foldsAt(cutoffDays: readonly number[], firstDay: number, horizonDays: number): FoldDays[] {
  return cutoffDays
    .map((cutoffDay) => ({ cutoffDay, trainingDays: trainingDaysFor(cutoffDay, firstDay, horizonDays) }))
    .filter(({ trainingDays }) => trainingDays.length > 0);
}

/**
 * The folds of a back-test of a log that began on `firstDay` and is complete before `endDay`. They are 28
 * days apart, back from the end: all that have a cut-off to train at, but not more than `atMost`. In the
 * order of time.
 */
export function planFolds(
  firstDay: number,
  endDay: number,
  horizonDays: number,
  atMost: number = maxFolds,
  stepDays: number = daysBetween,
): FoldDays[] {
  const backFromEnd = Array.from({ length: atMost }, (_, i) => endDay - horizonDays - i * stepDays);
  return foldsAt(backFromEnd.reverse(), firstDay, horizonDays);
}

/** Days that a log has to cover before there is one cut-off that can be trained and judged. */
export function leastLogDays(horizonDays: number): number {
  return leastHistoryDays + 2 * horizonDays;
}

/** Whether the outcomes of a cut-off are known: no outage is among the days of the horizon from it. Otherwise
 * entities seem to have left, and a declared churn may not have been sent. */
export function hasKnownOutcomes(cutoffDay: number, horizonDays: number, outages: Outages): boolean {
  return daysWithin(outages, cutoffDay, cutoffDay + horizonDays) === 0;
}

/** The folds that are left when cut-offs without known outcomes are dropped. */
export function foldsWithKnownOutcomes(
  folds: readonly FoldDays[],
  horizonDays: number,
  outages: Outages,
): FoldDays[] {
  const isKnown = (day: number) => hasKnownOutcomes(day, horizonDays, outages);
  return folds
    .filter(({ cutoffDay }) => isKnown(cutoffDay))
    .map(({ cutoffDay, trainingDays }) => ({ cutoffDay, trainingDays: trainingDays.filter(isKnown) }))
    .filter(({ trainingDays }) => trainingDays.length > 0);
}
