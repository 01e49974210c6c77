/** Whether health bands tell the churned from the others: a trend test over what happened to each band.
 * Pure. */
import type { HealthBand } from "./health.ts";

/** How many were in a health band, and churned within their horizon. */
export interface BandOutcome {
  readonly healthBand: HealthBand;
  readonly count: number;
  readonly churned: number;
}

/** From the healthiest on. */
const ordered: readonly HealthBand[] = ["healthy", "watch", "at_risk"];
/** With fewer departures nothing is said. */
const leastDepartures = 30;
/** One-sided, at .1. */
const leastZ = 1.2816;
/** Bands that fail so many trainings running are led by churn risk. */
const failuresUntilRiskLeads = 2;

/**
 * Whether the share that churned rises from healthy over watch to at risk: the Cochran-Armitage test,
 * one-sided at .1. Null below 30 departures, and where all are in one band or all churned.
 */
export function bandsSeparate(outcomes: readonly BandOutcome[]): boolean | null {
  const bands = outcomes.flatMap(({ healthBand, count, churned }) => {
    const place = ordered.indexOf(healthBand);
    return place < 0 ? [] : [{ place, count, churned }];
  });
  const sumOf = (of: (band: (typeof bands)[number]) => number) =>
    bands.reduce((sum, band) => sum + of(band), 0);
  const [all, churned] = [sumOf(({ count }) => count), sumOf((band) => band.churned)];
  if (churned < leastDepartures || churned === all) return null;
  const rate = churned / all;
  const trend = sumOf(({ place, count, churned: left }) => place * (left - count * rate));
  const meanPlace = sumOf(({ place, count }) => place * count) / all;
  const spread = sumOf(({ place, count }) => count * (place - meanPlace) ** 2);
  if (spread === 0) return null;
  return trend / Math.sqrt(rate * (1 - rate) * spread) >= leastZ;
}

/** In how many trainings running the bands have failed. @param before the number of the training before */
export function bandFailures(outcomes: readonly BandOutcome[], before: number): number {
  const separate = bandsSeparate(outcomes);
  if (separate === null) return before;
  return separate ? 0 : before + 1;
}

/** Whether lists and cards lead with churn risk. @param failures trainings running in which the bands
 * failed */
export function riskLeads(failures = 0): boolean {
  return failures >= failuresUntilRiskLeads;
}
