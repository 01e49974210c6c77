/** The base rate as it was observed: the share that churned within the horizon from past cut-off dates. */

import type { Outages } from "../scores/observed-days.ts";
import { type ClusterHits, effectiveSample, shareInterval } from "../statistics/difference.ts";
import type { Interval } from "../statistics/wilson.ts";
import { daysBetween, hasKnownOutcomes, maxFolds } from "./folds.ts";
import { judgedRows, type Snapshot } from "./snapshot.ts";

/** Outcomes of all cut-offs together, with the 95 % interval of their share. */
export interface ObservedBaseRate extends Interval {
  readonly cutoffs: number;
  /** Entities at cut-offs. */
  readonly count: number;
  readonly churned: number;
  readonly rate: number;
}

/**
 * The cut-offs whose outcomes are known, the newest first. They are at least a horizon apart, so that no
 * departure counts twice. Unlike the cut-offs of a back-test, they need no training before them.
 */
export function baseRateDays(
  firstDay: number,
  endDay: number,
  horizonDays: number,
  outages: Outages = [],
): number[] {
  const stepDays = Math.max(daysBetween, horizonDays);
  return Array.from({ length: maxFolds }, (_, index) => endDay - horizonDays - index * stepDays).filter(
    (day) => day > firstDay && hasKnownOutcomes(day, horizonDays, outages),
  );
}

/** The base rate of these cut-offs; null without any entity. A cut-off without entities does not count. */
export function observedBaseRate(snapshots: readonly Snapshot[]): ObservedBaseRate | null {
  const rows = snapshots.flatMap(judgedRows);
  if (rows.length === 0) return null;
  const count = rows.length;
  const churned = rows.filter(({ label }) => label).length;
  const clusters = new Map<number, ClusterHits>();
  for (const { label, cluster } of rows) {
    const own = clusters.get(cluster) ?? { hits: 0, count: 0, clusters: 1 };
    clusters.set(cluster, { ...own, hits: own.hits + Number(label), count: own.count + 1 });
  }
  return {
    cutoffs: snapshots.filter((snapshot) => judgedRows(snapshot).length > 0).length,
    count,
    churned,
    rate: churned / count,
    ...shareInterval(effectiveSample([...clusters.values()])),
  };
}
