/**
 * Engagement, 0-100: how much an entity has used the product in the last 28 days, compared with the most
 * engaged tenth of the organization. 100 · (0.40 F + 0.20 V + 0.20 B + 0.20 R), where each part is in [0, 1].
 */

import { clamp } from "../statistics/vectors.ts";
import type { Features } from "./features.ts";

/** The values of full marks, fixed for a calendar month: a score changes only when its user's behaviour
 * does. */
export interface EngagementScale {
  /** 90th percentiles among entities active in the 28 days: active days, volume, distinct event names. */
  readonly activeDays: number;
  readonly volume: number;
  readonly eventNames: number;
  /** Days of silence after which the recency part has halved. */
  readonly halfLifeDays: number;
  /** A shorter tenure counts as this many days: one active day does not stand for a month of them. */
  readonly leastSeenDays: number;
  /** No use for a churn horizon is no engagement, outlook and momentum. Left out by scales of before: there
   * an account without use for 90 days had no engagement at all, and its health rose from 22 to 33. */
  readonly isZeroUnused?: true;
}

/** Whether an entity that was idle for so long counts as unused by a scale. */
export function isUnused(
  { idleDays }: Pick<Features, "idleDays">,
  { isZeroUnused }: EngagementScale,
  horizonDays: number,
): boolean {
  return isZeroUnused === true && idleDays >= horizonDays;
}

/** Points of each part; they add up to the score. */
export interface EngagementParts {
  readonly frequency: number;
  readonly volume: number;
  readonly breadth: number;
  readonly recency: number;
}

export interface Engagement {
  readonly score: number;
  readonly contributions: EngagementParts;
  /** Low in the first week, when it rests on a few days. */
  readonly confidence: "low" | "normal";
}

/** The most points of each part. */
export const mostPoints: EngagementParts = { frequency: 40, volume: 20, breadth: 20, recency: 20 };
/** Full marks are never cheaper than this, so that a sleepy organization has no champions. */
const leastScale = { activeDays: 4, volume: 10, eventNames: 3 };
/** `leastSeenDays` of a new scale. */
const leastSeenDays = 14;
const daysOfWeek = 7;
const windowDays = 28;

/** 90th percentiles, and the median gap between active days; null without entities. */
export interface UsageQuantiles {
  readonly activeDays: number | null;
  readonly volume: number | null;
  readonly eventNames: number | null;
  readonly medianGapDays: number | null;
}

/** Full marks from the quantiles of usage. */
export function scaleOf({ activeDays, volume, eventNames, medianGapDays }: UsageQuantiles): EngagementScale {
  return {
    activeDays: Math.max(leastScale.activeDays, activeDays ?? 0),
    volume: Math.max(leastScale.volume, volume ?? 0),
    eventNames: Math.max(leastScale.eventNames, eventNames ?? 0),
    halfLifeDays: medianGapDays === null ? daysOfWeek : clamp(medianGapDays, 1, 14),
    leastSeenDays,
    isZeroUnused: true,
  };
}

/**
 * F = min(1, active days · (28 / max(14, min(28, tenure))) / D90), V = min(1, ln(1+volume) / ln(1+E90)),
 * B = min(1, event names / K90), R = 2^(−idle / half-life). All are 0 without use for the churn horizon.
 */
export function engagementOf(features: Features, scale: EngagementScale, horizonDays: number): Engagement {
  const { tenureDays, activeDays28, volume28, eventNames28, idleDays } = features;
  const confidence = tenureDays < daysOfWeek ? "low" : "normal";
  if (isUnused(features, scale, horizonDays)) {
    return { score: 0, contributions: { frequency: 0, volume: 0, breadth: 0, recency: 0 }, confidence };
  }
  const seenDays = clamp(tenureDays, scale.leastSeenDays, windowDays);
  const contributions = {
    frequency:
      mostPoints.frequency * Math.min(1, (activeDays28 * (windowDays / seenDays)) / scale.activeDays),
    volume: mostPoints.volume * Math.min(1, Math.log1p(volume28) / Math.log1p(scale.volume)),
    breadth: mostPoints.breadth * Math.min(1, eventNames28 / scale.eventNames),
    recency: mostPoints.recency * 2 ** (-idleDays / scale.halfLifeDays),
  };
  const { frequency, volume, breadth, recency } = contributions;
  return { score: frequency + volume + breadth + recency, contributions, confidence };
}

export interface AccountEngagement {
  readonly score: number;
  readonly contributions: { readonly members: number; readonly activeShare: number };
}

/** The inputs of an account's engagement. */
export interface MemberEngagement {
  /** The mean engagement of the members active in 28 days; 0 when there are none. */
  readonly meanEngagement: number;
  /** Members active in 28 days, and in 90. */
  readonly active28: number;
  readonly active90: number;
  /** Whether the account was not used for the churn horizon: `isUnused`. */
  readonly isUnused: boolean;
}

/**
 * An account's engagement: .6 of the mean engagement of its members active in 28 days and .4 of 100 · the
 * active share, the share of the members active in 90 days that were active in 28. 0 without use for the
 * churn horizon. Null without members active in 90 days by a scale of before.
 */
export function accountEngagementOf({
  meanEngagement,
  active28,
  active90,
  isUnused: hasNoUse,
}: MemberEngagement): AccountEngagement | null {
  if (hasNoUse) return { score: 0, contributions: { members: 0, activeShare: 0 } };
  if (active90 === 0) return null;
  const contributions = { members: 0.6 * meanEngagement, activeShare: (40 * active28) / active90 };
  return { score: contributions.members + contributions.activeShare, contributions };
}
