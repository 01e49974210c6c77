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
  const totals = totalsOf(observed);
  const objective = (point: Float64Array) => {
    const [alpha, beta] = [Math.exp(at(point, 0)), Math.exp(at(point, 1))];
    return -logLikelihood({ alpha, beta }, totals);
  };
  const { point, isConverged } = minimize(objective, new Float64Array(2), [bound, bound]);
  const isAtBound = point.some((value) => value <= bound.low || value >= bound.high);
  return { alpha: Math.exp(at(point, 0)), beta: Math.exp(at(point, 1)), isConverged, isAtBound };
}

/** All cohorts together, by periods: 52 cohorts of 52 weeks are 104 terms instead of 1,500. */
interface Totals {
  /** Members of all cohorts at the beginning. */
  readonly members: number;
  /** Members who left in period k. */
  readonly leaving: readonly number[];
  /** Members who were still there when their cohort had completed k periods, and is known no further. */
  readonly staying: readonly number[];
}

function totalsOf(cohorts: readonly (readonly number[])[]): Totals {
  const periods = Math.max(...cohorts.map((remaining) => remaining.length));
  const leaving = new Array<number>(periods).fill(0);
  const staying = new Array<number>(periods).fill(0);
  let members = 0;
  for (const remaining of cohorts) {
    const end = remaining.length - 1;
    members += remaining[0] ?? 0;
    staying[end] = (staying[end] ?? 0) + (remaining[end] ?? 0);
    for (let k = 1; k <= end; k++) {
      leaving[k] = (leaving[k] ?? 0) + (remaining[k - 1] ?? 0) - (remaining[k] ?? 0);
    }
  }
  return { members, leaving, staying };
}

/** Σ leaving in k · ln P(k) + Σ staying until k · ln S(k). */
function logLikelihood({ alpha, beta }: SbgParameters, { members, leaving, staying }: Totals): number {
  let sum = -members * lbeta(alpha, beta);
  for (const [k, count] of leaving.entries()) if (count > 0) sum += count * lbeta(alpha + 1, beta + k - 1);
  for (const [k, count] of staying.entries()) if (count > 0) sum += count * lbeta(alpha, beta + k);
  return sum;
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
