/** MRR that is expected to be lost within the churn horizon, with an interval. */
import { draws, type Interval, indicesOfLargest, middleOf, normalFrom } from "./drawn.ts";

/** An account, or a user without one. */
export interface Exposure {
  /** In minor units. */
  readonly mrr: number;
  /** A probability. 0 and 1 are certain: a scheduled end is no prediction. */
  readonly churnRisk: number;
}

/** A correction of risks: logistic(intercept + slope · log-odds). */
export interface Recalibration {
  readonly slope: number;
  readonly intercept: number;
}

/** The calibration of a back-test, with the variances of its slope and intercept, and their covariance. */
export interface Calibration extends Recalibration {
  readonly covariance: { readonly slope: number; readonly intercept: number; readonly both: number };
}

/** Draws of the back-test's bootstrap, which is taken as normal: 1,000 lines around the one of the
 * back-test. */
export function drawnRecalibrations(
  { slope, intercept, covariance }: Calibration,
  uniform: () => number,
): Recalibration[] {
  const bySlope = Math.sqrt(covariance.slope);
  // The part of the intercept that follows from the slope, and the rest (Cholesky).
  const shared = bySlope === 0 ? 0 : covariance.both / bySlope;
  const own = Math.sqrt(Math.max(0, covariance.intercept - shared ** 2));
  return Array.from({ length: draws }, () => {
    const [first, second] = [normalFrom(uniform), normalFrom(uniform)];
    return { slope: slope + bySlope * first, intercept: intercept + shared * first + own * second };
  });
}

export interface RevenueAtRisk {
  /** The MRR of all accounts. */
  readonly mrr: number;
  /** The sum of churn risk × MRR. */
  readonly expectedLoss: number;
  /** The middle 90 % of what may be lost. */
  readonly interval: Interval;
}

const part = 0.9;
/** Accounts that are drawn one by one, those with the largest variance. The sum of all others is drawn as
 * normal, with its skewness: an account with much MRR and a low risk has little variance. */
const drawnAlone = 256;
/** Log-odds of small accounts are rounded to knots of this distance, linearly, which changes a risk by .00003
 * at most. */
const knotDistance = 0.05;
const maxLogOdds = 14;
const knots = Math.round((2 * maxLogOdds) / knotDistance) + 1;

/** Churn risk × MRR, in minor units. */
export function expectedLossOf({ mrr, churnRisk }: Exposure): number {
  return mrr * churnRisk;
}

/**
 * The expected loss of accounts together. The interval has two parts: which accounts leave, and how well the
 * model is calibrated. Each of 1,000 draws takes one recalibration and then draws the accounts that leave.
 * @param recalibrations draws from the back-test; without any, risks count as calibrated
 * @param uniform numbers in [0, 1) from a seed
 */
export function revenueAtRisk(
  exposures: readonly Exposure[],
  recalibrations: readonly Recalibration[],
  uniform: () => number,
): RevenueAtRisk {
  const uncertain = exposures.filter(({ mrr, churnRisk }) => mrr > 0 && churnRisk > 0 && churnRisk < 1);
  const certain = exposures.reduce((sum, { mrr, churnRisk }) => sum + (churnRisk >= 1 ? mrr : 0), 0);
  const variances = Float64Array.from(
    uncertain,
    ({ mrr, churnRisk }) => mrr ** 2 * churnRisk * (1 - churnRisk),
  );
  const alone = new Set(indicesOfLargest(variances, drawnAlone));
  const large = [...alone].flatMap((index) => uncertain[index] ?? []);
  const largeLogOdds = large.map(logOddsOf);
  const small = smallOnes(uncertain.filter((_, index) => !alone.has(index)));
  const drawn = new Float64Array(draws);
  for (let draw = 0; draw < draws; draw++) {
    const { slope, intercept } = recalibrations[Math.floor(uniform() * recalibrations.length)] ?? identity;
    const recalibrated = (logOdds: number) => 1 / (1 + Math.exp(-intercept - slope * logOdds));
    let lost = certain + lossOfSmall(small, recalibrated, uniform);
    for (const [index, { mrr }] of large.entries()) {
      if (uniform() < recalibrated(largeLogOdds[index] ?? 0)) lost += mrr;
    }
    drawn[draw] = lost;
  }
  return {
    mrr: exposures.reduce((sum, { mrr }) => sum + mrr, 0),
    expectedLoss: exposures.reduce((sum, exposure) => sum + expectedLossOf(exposure), 0),
    interval: middleOf(drawn, part),
  };
}

const identity: Recalibration = { slope: 1, intercept: 0 };

function logOddsOf({ churnRisk }: Exposure): number {
  const logOdds = Math.log(churnRisk / (1 - churnRisk));
  return Math.min(maxLogOdds, Math.max(-maxLogOdds, logOdds));
}

/** Sums of accounts by their log-odds, each shared by the two nearest knots. */
interface Small {
  readonly mrr: Float64Array;
  readonly squares: Float64Array;
  readonly cubes: Float64Array;
  readonly total: number;
}

function smallOnes(exposures: readonly Exposure[]): Small {
  const sums = () => new Float64Array(knots);
  const small = { mrr: sums(), squares: sums(), cubes: sums(), total: 0 };
  const add = (knot: number, share: number, mrr: number) => {
    if (share === 0) return;
    small.mrr[knot] = (small.mrr[knot] ?? 0) + share * mrr;
    small.squares[knot] = (small.squares[knot] ?? 0) + share * mrr ** 2;
    small.cubes[knot] = (small.cubes[knot] ?? 0) + share * mrr ** 3;
  };
  for (const exposure of exposures) {
    const place = (logOddsOf(exposure) + maxLogOdds) / knotDistance;
    const below = Math.floor(place);
    add(below, 1 - (place - below), exposure.mrr);
    add(below + 1, place - below, exposure.mrr);
    small.total += exposure.mrr;
  }
  return small;
}

/** One draw of the sum of accounts that are too many and too small to be drawn one by one. */
function lossOfSmall(
  { mrr, squares, cubes, total }: Small,
  recalibrated: (logOdds: number) => number,
  uniform: () => number,
): number {
  if (total === 0) return 0;
  let [mean, variance, third] = [0, 0, 0];
  for (let knot = 0; knot < knots; knot++) {
    const sum = mrr[knot] ?? 0;
    if (sum === 0) continue;
    const risk = recalibrated(knot * knotDistance - maxLogOdds);
    mean += sum * risk;
    const spread = risk * (1 - risk);
    variance += (squares[knot] ?? 0) * spread;
    third += (cubes[knot] ?? 0) * spread * (1 - 2 * risk);
  }
  // The first terms of Cornish and Fisher (1938): the third moment moves a quantile by skewness · (z² − 1) /
  // 6.
  const normal = normalFrom(uniform);
  const skewed = variance === 0 ? 0 : ((third / variance) * (normal ** 2 - 1)) / 6;
  return Math.min(total, Math.max(0, mean + Math.sqrt(variance) * normal + skewed));
}
