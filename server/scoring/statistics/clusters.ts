/**
 * Standard errors of calibration when outcomes of one cluster are alike: users of one account, or one entity
 * at several cut-offs. Residuals are summed by cluster before they are squared (Liang and Zeger 1986,
 * "Longitudinal data analysis using generalized linear models", Biometrika 73), with the factor C / (C − 1)
 * for C clusters.
 */
import { degreesOf, type Sample } from "./difference.ts";
import { at } from "./vectors.ts";

/** An outcome beside its prediction. */
export interface Residual {
  readonly predicted: number;
  readonly label: boolean;
  /** Outcomes with the same number may be alike. */
  readonly cluster: number;
}

/** How much less a number of clustered outcomes says than as many independent ones. */
export interface Clustering extends Pick<Sample, "degrees"> {
  /** The variance of the sum of residuals, over that of independent ones; 1 or more. */
  readonly designEffect: number;
}

/** The clustering of residuals. An effect below 1 is chance and counts as 1; so does that of a single
 * cluster. */
export function clusteringOf(rows: readonly Residual[]): Clustering {
  const sizes = new Map<number, number>();
  for (const { cluster } of rows) sizes.set(cluster, (sizes.get(cluster) ?? 0) + 1);
  const independent = rows.reduce((sum, row) => sum + residualOf(row) ** 2, 0);
  const clustered = sumOfSquares(rows);
  return {
    designEffect: sizes.size < 2 || independent === 0 ? 1 : Math.max(1, clustered / independent),
    ...degreesOf([...sizes.values()].map((count) => ({ count, clusters: 1 }))),
  };
}

/** The standard error of ln(observed / expected) if every prediction were the true probability; null if all
 * are 0. */
export function biasError(
  predictions: readonly { readonly predicted: number }[],
  { designEffect }: Clustering,
): number | null {
  const expected = predictions.reduce((sum, { predicted }) => sum + predicted, 0);
  const variance = predictions.reduce((sum, { predicted }) => sum + predicted * (1 - predicted), 0);
  return expected === 0 ? null : Math.sqrt(designEffect * variance) / expected;
}

/** How the estimates of an intercept and a slope vary: their variances, and their covariance. */
export interface LineCovariance {
  readonly intercept: number;
  readonly slope: number;
  readonly both: number;
}

/**
 * The covariance of the intercept and the slope of a logistic regression on one variable: H⁻¹ G H⁻¹, where H
 * is the Hessian and G sums the squares of each cluster's score. A bootstrap that resamples clusters has the
 * same one, and is nearly normal when clusters are many (Kline and Santos 2012, "A score based approach to
 * wild bootstrap inference").
 * @param rows residuals from the regression's own predictions
 * @param xs the variable of each row
 * @returns null without spread in the variable
 */
export function lineCovariance(rows: readonly Residual[], xs: Float64Array): LineCovariance | null {
  const hessian = { intercepts: 0, mixed: 0, slopes: 0 };
  const scores = new Map<number, { intercept: number; slope: number }>();
  for (const [index, row] of rows.entries()) {
    const [x, weight, residual] = [at(xs, index), row.predicted * (1 - row.predicted), residualOf(row)];
    hessian.intercepts += weight;
    hessian.mixed += weight * x;
    hessian.slopes += weight * x * x;
    const score = scores.get(row.cluster) ?? { intercept: 0, slope: 0 };
    scores.set(row.cluster, {
      intercept: score.intercept + residual,
      slope: score.slope + residual * x,
    });
  }
  const determinant = hessian.intercepts * hessian.slopes - hessian.mixed ** 2;
  if (!(determinant > 1e-12 * hessian.intercepts * hessian.slopes)) return null;
  const factor = smallSample(scores.size) / determinant ** 2;
  const covariance = { intercept: 0, slope: 0, both: 0 };
  for (const { intercept, slope } of scores.values()) {
    // The determinant of H times H⁻¹, times the score of the cluster.
    const byIntercept = hessian.slopes * intercept - hessian.mixed * slope;
    const bySlope = hessian.intercepts * slope - hessian.mixed * intercept;
    covariance.intercept += factor * byIntercept ** 2;
    covariance.slope += factor * bySlope ** 2;
    covariance.both += factor * byIntercept * bySlope;
  }
  return covariance;
}

function residualOf({ predicted, label }: Residual): number {
  return Number(label) - predicted;
}

/** Σ over clusters of (Σ residuals)². */
function sumOfSquares(rows: readonly Residual[]): number {
  const sums = new Map<number, number>();
  for (const row of rows) sums.set(row.cluster, (sums.get(row.cluster) ?? 0) + residualOf(row));
  return smallSample(sums.size) * [...sums.values()].reduce((total, sum) => total + sum ** 2, 0);
}

function smallSample(clusters: number): number {
  return clusters < 2 ? 1 : clusters / (clusters - 1);
}
