/**
 * The shifted beta-geometric model of retention (Fader and Hardie 2007, "How to Project Customer Retention",
 * Journal of Interactive Marketing 21(1)): each member of a cohort leaves after a period with a probability θ of
 * their own, θ ~ Beta(α, β). Those who stay are those who leave less, so retention rises with age.
 *
 *     share left after k periods  S(k) = B(α, β+k) / B(α, β) = (β)_k / (α+β)_k
 *     share leaving in period k   P(k) = S(k−1) − S(k) = B(α+1, β+k−1) / B(α, β)
 *     retention rate              r(k) = S(k) / S(k−1) = (β+k−1) / (α+β+k−1)
 */
import { minimize } from "./optimize.ts";
import { lbeta } from "./special.ts";
import { at } from "./vectors.ts";

export interface SbgParameters {
  readonly alpha: number;
  readonly beta: number;
}

export interface SbgFit extends SbgParameters {
  readonly isConverged: boolean;
  /** A parameter at the end of its range: the curve has no shape of this family, as when nobody leaves. */
  readonly isAtBound: boolean;
}

/** ln α and ln β stay within the range of the BG/BB model's sizes. */
const bound = { low: -4.6, high: 6.9 };
/** Fewer complete periods draw any curve. */
const leastPeriods = 5;

/**
 * Fits cohorts together by maximum likelihood. A cohort is the count (or share) of members still there after 0, 1,
 * 2 … complete periods, and must not rise. Null when no cohort has five complete periods, or nobody to begin with.
 */
export function fitSbg(cohorts: readonly (readonly number[])[]): SbgFit | null {
  const observed = cohorts.filter(([first = 0]) => first > 0);
  if (!observed.some((remaining) => remaining.length > leastPeriods)) return null;
  const objective = (point: Float64Array) => {
    const [alpha, beta] = [Math.exp(at(point, 0)), Math.exp(at(point, 1))];
    return -observed.reduce((sum, remaining) => sum + logLikelihood({ alpha, beta }, remaining), 0);
  };
  const { point, isConverged } = minimize(objective, new Float64Array(2), [bound, bound]);
  const isAtBound = point.some((value) => value <= bound.low || value >= bound.high);
  return { alpha: Math.exp(at(point, 0)), beta: Math.exp(at(point, 1)), isConverged, isAtBound };
}

/** Σ leaving in k · ln P(k) + remaining at the end · ln S(end). */
function logLikelihood({ alpha, beta }: SbgParameters, remaining: readonly number[]): number {
  const ends = remaining.length - 1;
  let sum = (remaining[ends] ?? 0) * lbeta(alpha, beta + ends);
  for (const [k, left] of remaining.entries()) {
    if (k > 0) sum += ((remaining[k - 1] ?? left) - left) * lbeta(alpha + 1, beta + k - 1);
  }
  return sum - (remaining[0] ?? 0) * lbeta(alpha, beta);
}

/** The shares of a cohort still there after 0, 1 … `periods` periods. */
export function projectSbg({ alpha, beta }: SbgParameters, periods: number): number[] {
  const shares = [1];
  for (let k = 1; k <= periods; k++) {
    shares.push((shares[k - 1] ?? 1) * retentionRate({ alpha, beta }, k));
  }
  return shares;
}

/** The share of those there after k − 1 periods who are there after k; k is at least 1. */
export function retentionRate({ alpha, beta }: SbgParameters, k: number): number {
  return (beta + k - 1) / (alpha + beta + k - 1);
}
