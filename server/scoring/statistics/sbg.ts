/**
 * The shifted beta-geometric model of retention (Fader and Hardie 2007, "How to Project Customer Retention",
 * Journal of Interactive Marketing 21(1)): each member of a cohort leaves after a period with a probability θ
 * of their own, θ ~ Beta(α, β). Those who stay are those who leave less, so retention rises with age.
 *
 *     share left after k periods  S(k) = B(α, β+k) / B(α, β) = (β)_k / (α+β)_k
 *     share leaving in period k   P(k) = S(k−1) − S(k) = B(α+1, β+k−1) / B(α, β) = α (β)_{k−1} / (α+β)_k
 *     retention rate              r(k) = S(k) / S(k−1) = (β+k−1) / (α+β+k−1)
 *
 * with the rising factorials (a)_k = a (a+1) … (a+k−1).
 */
import { minimize } from "./optimize.ts";
import { logRisingFactorials } from "./special.ts";
import { at } from "./vectors.ts";
import { type Interval, normalQuantile975 } from "./wilson.ts";

export interface SbgParameters {
  readonly alpha: number;
  readonly beta: number;
}

export interface SbgFit extends SbgParameters {
  readonly isConverged: boolean;
  /** A parameter at the end of its range: the curve has no shape of this family, as when no member leaves. */
  readonly isAtBound: boolean;
  /** Of the estimates of ln α and ln β, from the curvature of the likelihood; null where it has no
   * maximum. */
  readonly covariance: Covariance | null;
}

interface Covariance {
  readonly alpha: number;
  readonly beta: number;
  readonly both: number;
}

/** A share with its 95 % interval, this many periods after the cohort's own. */
export interface ShareAt extends Interval {
  readonly period: number;
  readonly share: number;
}

/** ln α and ln β stay within the range of the BG/BB model's sizes. */
const bound = { low: -4.6, high: 6.9 };
/** Fewer complete periods draw any curve. */
const leastPeriods = 5;

/**
 * Fits cohorts together by maximum likelihood. A cohort is the count (or share) of members still there after
 * 0, 1, 2 … complete periods, and must not rise. Null when no cohort has five complete periods, or any
 * members.
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
  return {
    alpha: Math.exp(at(point, 0)),
    beta: Math.exp(at(point, 1)),
    isConverged,
    isAtBound,
    covariance: covarianceAt(objective, at(point, 0), at(point, 1)),
  };
}

/** The inverse of the objective's second derivatives, by central differences. */
function covarianceAt(objective: (point: Float64Array) => number, a: number, b: number): Covariance | null {
  const step = 1e-3;
  const value = (alongA: number, alongB: number) =>
    objective(Float64Array.of(a + alongA * step, b + alongB * step));
  const here = value(0, 0);
  const ofA = (value(1, 0) - 2 * here + value(-1, 0)) / step ** 2;
  const ofB = (value(0, 1) - 2 * here + value(0, -1)) / step ** 2;
  const mixed = (value(1, 1) - value(1, -1) - value(-1, 1) + value(-1, -1)) / (4 * step ** 2);
  const determinant = ofA * ofB - mixed ** 2;
  if (!(ofA > 0 && determinant > 0)) return null;
  return { alpha: ofB / determinant, beta: ofA / determinant, both: -mixed / determinant };
}

/** All cohorts together, by periods: 52 cohorts of 52 weeks are 104 terms instead of 1,500. */
interface Totals {
  /** Members who left in period k. */
  readonly leaving: readonly number[];
  /** Members who were still there after k complete periods, the last known one of their cohort. */
  readonly staying: readonly number[];
}

function totalsOf(cohorts: readonly (readonly number[])[]): Totals {
  const periods = Math.max(...cohorts.map((remaining) => remaining.length));
  const leaving = new Array<number>(periods).fill(0);
  const staying = new Array<number>(periods).fill(0);
  for (const remaining of cohorts) {
    const end = remaining.length - 1;
    staying[end] = (staying[end] ?? 0) + (remaining[end] ?? 0);
    for (let k = 1; k <= end; k++) {
      leaving[k] = (leaving[k] ?? 0) + (remaining[k - 1] ?? 0) - (remaining[k] ?? 0);
    }
  }
  return { leaving, staying };
}

/** Σ leaving in k · ln P(k) + Σ staying until k · ln S(k). */
function logLikelihood({ alpha, beta }: SbgParameters, { leaving, staying }: Totals): number {
  const ofBeta = logRisingFactorials(beta, staying.length);
  const ofBoth = logRisingFactorials(alpha + beta, staying.length);
  let sum = 0;
  for (let k = 1; k < staying.length; k++) {
    sum += (leaving[k] ?? 0) * (Math.log(alpha) + at(ofBeta, k - 1) - at(ofBoth, k));
    sum += (staying[k] ?? 0) * (at(ofBeta, k) - at(ofBoth, k));
  }
  return sum;
}

/** The shares of a cohort still there after 0, 1 … `periods` periods. */
export function projectSbg({ alpha, beta }: SbgParameters, periods: number): number[] {
  const shares = [1];
  for (let k = 1; k <= periods; k++) {
    shares.push((shares[k - 1] ?? 1) * ((beta + k - 1) / (alpha + beta + k - 1)));
  }
  return shares;
}

/**
 * The shares from an observed one on: share · S(k) / S(k₀), so that a projection begins where the data ends.
 * Intervals are on the scale of logarithms. They combine the observed share's own interval and that of the
 * estimates (the delta method) as independent ones: the observed share weighs little in the fit.
 */
export function projectFrom(fit: SbgFit, from: ShareAt, periods: number): ShareAt[] {
  const step = 1e-4;
  const decline = (logAlpha: number, logBeta: number) => {
    const shares = projectSbg({ alpha: Math.exp(logAlpha), beta: Math.exp(logBeta) }, periods);
    return shares.map((share) => Math.log(share / (shares[from.period] ?? 1)));
  };
  const [a, b] = [Math.log(fit.alpha), Math.log(fit.beta)];
  const declines = decline(a, b);
  const slopes = (up: number[], down: number[]) =>
    up.map((value, k) => (value - (down[k] ?? 0)) / (2 * step));
  const byA = slopes(decline(a + step, b), decline(a - step, b));
  const byB = slopes(decline(a, b + step), decline(a, b - step));
  const ofShare = ((Math.log(from.high) - Math.log(Math.max(from.low, 1e-9))) / (2 * normalQuantile975)) ** 2;
  const { alpha, beta, both } = fit.covariance ?? { alpha: 0, beta: 0, both: 0 };
  return declines.slice(from.period).map((logDecline, index) => {
    const [da, db] = [byA[from.period + index] ?? 0, byB[from.period + index] ?? 0];
    const variance = ofShare + da ** 2 * alpha + db ** 2 * beta + 2 * da * db * both;
    const share = from.share * Math.exp(logDecline);
    const factor = Math.exp(normalQuantile975 * Math.sqrt(Math.max(0, variance)));
    return { period: from.period + index, share, low: share / factor, high: Math.min(1, share * factor) };
  });
}
