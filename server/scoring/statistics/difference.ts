/** Whether two groups differ: the interval of a difference of shares, and its significance when users share
 * accounts. */
import { studentProbability, studentT975 } from "./student.ts";
import { type Interval, normalQuantile975, wilson } from "./wilson.ts";

/** Hits among a count. Effective samples make them fractional. */
export interface Hits {
  readonly hits: number;
  readonly count: number;
}

/** A share whose variance may have been estimated from few clusters. */
export interface Sample extends Hits {
  /** Degrees of freedom of Student's t, whole; left out where the normal distribution is near enough. */
  readonly degrees?: number;
}

/** A cluster's part of a group: an account's users, and how many of them are hits. */
export interface ClusterHits extends Hits {
  /** Clusters with equal hits and count. */
  readonly clusters: number;
}

/**
 * The 95 % interval of the difference a − b of two independent shares, from their Wilson intervals (Newcombe
 * 1998, "Interval estimation for the difference between independent proportions", Statistics in Medicine 17,
 * method 10).
 */
export function newcombe(a: Sample, b: Sample): Interval {
  return ofDifference(a, shareInterval(a), b, shareInterval(b));
}

/** The same with another quantile than that of 95 %. */
export function newcombeAt(z: number, a: Hits, b: Hits): Interval {
  return ofDifference(a, wilson(a.hits, a.count, z), b, wilson(b.hits, b.count, z));
}

function ofDifference(a: Hits, first: Interval, b: Hits, second: Interval): Interval {
  const [p, q] = [shareOf(a), shareOf(b)];
  return {
    low: p - q - Math.hypot(p - first.low, second.high - q),
    high: p - q + Math.hypot(first.high - p, q - second.low),
  };
}

/** The 95 % interval of a share. */
export function shareInterval({ hits, count, degrees }: Sample): Interval {
  return wilson(hits, count, degrees === undefined ? normalQuantile975 : studentT975(degrees));
}

/** The two-sided p-value of the difference of two shares: the score test with the pooled share (Pearson's
 * χ²). */
export function differenceProbability(a: Sample, b: Sample): number {
  const pooled = (a.hits + b.hits) / (a.count + b.count);
  const variance = pooled * (1 - pooled) * (1 / a.count + 1 / b.count);
  return variance > 0 ? probabilityOf((shareOf(a) - shareOf(b)) / Math.sqrt(variance), a, b) : 1;
}

type OfClusters = Pick<Sample, "degrees">;

/** The two-sided p-value of the difference of two groups, in standard errors: the group with fewer clusters
 * decides. */
export function probabilityOf(errors: number, a: OfClusters, b: OfClusters): number {
  const degrees = Math.min(a.degrees ?? Number.POSITIVE_INFINITY, b.degrees ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(degrees) ? studentProbability(errors, degrees) : twoSided(errors);
}

function shareOf({ hits, count }: Hits): number {
  return count === 0 ? 0 : hits / count;
}

/** With fewer clusters a variance that is estimated from them is too uncertain for the normal
 * distribution. */
const fewClusters = 10;

/**
 * Degrees of freedom of a group with few clusters: their number − 1, at least 1. None for users without
 * clusters, and none from ten clusters on. Clusters of unequal size count as (Σ count)² / Σ count² equal
 * ones.
 */
export function degreesOf(clusters: readonly Pick<ClusterHits, "count" | "clusters">[]): OfClusters {
  const { count, squares } = sizesOf(clusters);
  const number = Math.floor(count ** 2 / squares);
  return squares > count && number < fewClusters ? { degrees: Math.max(1, number - 1) } : {};
}

function sizesOf(clusters: readonly Pick<ClusterHits, "count" | "clusters">[]) {
  let [count, squares] = [0, 0];
  for (const each of clusters) {
    count += each.clusters * each.count;
    squares += each.clusters * each.count ** 2;
  }
  return { count, squares };
}

/**
 * The sample of independent users with as much information as these clusters (Rao and Scott 1992, "A simple
 * method for the analysis of clustered binary data", Biometrics 48): hits and count, each divided by the
 * design effect, which is the variance of the share over clusters ÷ that of independent users. An effect
 * below 1, which is chance, counts as 1.
 *
 * One cluster, or a share of 0 or 1, has no variance to estimate. Then its users count as perfectly alike:
 * the effect is Σ count² / Σ count.
 */
export function effectiveSample(
  clusters: readonly ClusterHits[],
): Sample & { readonly designEffect: number } {
  const sum = (of: (each: ClusterHits) => number) =>
    clusters.reduce((total, each) => total + each.clusters * of(each), 0);
  const { count, squares } = sizesOf(clusters);
  const [hits, number] = [sum((each) => each.hits), sum(() => 1)];
  const share = shareOf({ hits, count });
  const residuals = sum((each) => (each.hits - each.count * share) ** 2);
  const independent = share * (1 - share) * count;
  const alike = count === 0 ? 1 : squares / count;
  const effect =
    number < 2 || independent === 0 ? alike : ((number / (number - 1)) * residuals) / independent;
  const designEffect = Math.max(1, effect);
  return { hits: hits / designEffect, count: count / designEffect, designEffect, ...degreesOf(clusters) };
}

/**
 * p-values that hold for a whole family of tests (Holm 1979, "A simple sequentially rejective multiple test
 * procedure"). The smallest is multiplied by their number, the next by one less, and none is below the one
 * before.
 */
export function holm(probabilities: readonly number[]): number[] {
  const order = probabilities.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const adjusted = new Array<number>(probabilities.length);
  let last = 0;
  for (const [rank, { p, index }] of order.entries()) {
    last = Math.max(last, Math.min(1, p * (probabilities.length - rank)));
    adjusted[index] = last;
  }
  return adjusted;
}

/** The probability of a standard normal value at least so far from 0, on either side: erfc(|z| / √2). */
export function twoSided(z: number): number {
  return erfc(Math.abs(z) / Math.SQRT2);
}

/** erfc(x) for x ≥ 0: to 2 by the series of erf (DLMF 7.6.2), beyond by the continued fraction (DLMF
 * 7.9.1). */
function erfc(x: number): number {
  if (x < 2) {
    let [term, sum] = [x, x];
    for (let n = 1; term > 1e-17 * sum; n += 1) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let fraction = x;
  for (let n = 60; n >= 1; n -= 1) fraction = x + n / 2 / fraction;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction);
}
