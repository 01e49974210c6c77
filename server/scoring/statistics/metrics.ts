/**
 * How good predicted probabilities are. A prediction is always the probability of a label that is 1 when the
 * event happened. Undefined figures, such as an AUC without both classes, are null.
 *
 * Within equal predictions the order of the rows would decide the bins, so labels of equal predictions are
 * first replaced by their mean: no figure depends on the order of rows.
 */
import { biasError, type Clustering, clusteringOf, type LineCovariance, lineCovariance } from "./clusters.ts";
import { shareInterval } from "./difference.ts";
import { solveLogistic } from "./irls.ts";
import { uniformFrom } from "./random.ts";
import { logistic, logit } from "./special.ts";
import { at, clamp, mean } from "./vectors.ts";
import type { Interval } from "./wilson.ts";

export interface Prediction {
  readonly predicted: number;
  /** Whether it happened: here, no activity within the horizon. */
  readonly label: boolean;
  /** Of the account, or else of the entity: outcomes with the same number may be alike. Without one, of the
   * row. */
  readonly cluster?: number;
}

export interface Metrics {
  readonly count: number;
  readonly baseRate: number;
  readonly meanPrediction: number;
  /** The probability that an outcome that happened was predicted higher than an outcome that did not; ties
   * count half. */
  readonly auc: number | null;
  /** The mean of −ln(probability of the actual outcome), probabilities clipped to 1e-6. */
  readonly logLoss: number;
  /** The mean of (prediction − label)². */
  readonly brier: number;
  /** 1 − Brier score / that of always saying the base rate. */
  readonly brierSkill: number | null;
  /** Expected calibration error: the mean of |mean prediction − rate| over ten bins of equal counts. */
  readonly ece: number;
  /** The ECE of a perfect model with these predictions: the mean of 200 draws of labels. */
  readonly eceFloor: number;
  /** Of the logistic regression of labels on the predictions' log-odds; perfect are 1 and 0 (Cox 1958). */
  readonly calibrationSlope: number | null;
  readonly calibrationIntercept: number | null;
  /** The standard error of the slope, with clusters. */
  readonly calibrationSlopeError: number | null;
  /** The covariance of that intercept and slope, with clusters. Left out by earlier versions. */
  readonly calibrationCovariance?: LineCovariance | null;
  /** The standard error of ln(base rate / mean prediction), with clusters. */
  readonly biasError: number | null;
  /** The rate among the tenth with the highest predictions, over the base rate. */
  readonly topDecileLift: number | null;
  readonly reliability: readonly ReliabilityBin[];
}

export interface ReliabilityBin {
  readonly count: number;
  readonly meanPrediction: number;
  readonly rate: number;
  /** The rate's 95 % interval, with clusters. */
  readonly interval: Interval;
}

const clippedTo = 1e-6;
const binCount = 10;
const draws = 200;
const seed = 1;

/** A prediction with the actual rate among all rows with that prediction. */
interface TieShared {
  readonly predicted: number;
  readonly rate: number;
}

/** All the figures for a list of predictions; null when it is empty. */
export function metricsOf(predictions: readonly Prediction[]): Metrics | null {
  if (predictions.length === 0) return null;
  const rows = sortAndShareTies(predictions);
  const baseRate = mean(rows.map(({ rate }) => rate));
  const hasBoth = baseRate > 0 && baseRate < 1;
  const brier = mean(predictions.map(({ predicted, label }) => (predicted - Number(label)) ** 2));
  const bins = equalCountBins(rows);
  const clustered = predictions.map(({ cluster, ...row }, index) => ({
    ...row,
    cluster: cluster ?? -1 - index,
  }));
  const line = hasBoth ? calibrationLine(clustered) : null;
  const clustering = clusteringOf(clustered);
  return {
    count: rows.length,
    baseRate,
    meanPrediction: mean(rows.map(({ predicted }) => predicted)),
    auc: hasBoth ? areaUnderCurve(rows, baseRate) : null,
    logLoss: mean(predictions.map(lossOf)),
    brier,
    brierSkill: hasBoth ? 1 - brier / (baseRate * (1 - baseRate)) : null,
    ece: errorOf(bins) / rows.length,
    eceFloor: drawnError(rows) / rows.length,
    calibrationSlope: line?.slope ?? null,
    calibrationIntercept: line?.intercept ?? null,
    calibrationSlopeError: line?.covariance ? Math.sqrt(line.covariance.slope) : null,
    calibrationCovariance: line?.covariance ?? null,
    biasError: biasError(clustered, clustering),
    topDecileLift: hasBoth ? topDecileRate(rows) / baseRate : null,
    reliability: bins.map((bin) => reliabilityOf(bin, clustering)),
  };
}

/** The AUC alone, of predictions on any scale; null without both classes. */
export function aucOf(predictions: readonly Prediction[]): number | null {
  const rows = sortAndShareTies(predictions);
  const baseRate = rows.length === 0 ? 0 : mean(rows.map(({ rate }) => rate));
  return baseRate > 0 && baseRate < 1 ? areaUnderCurve(rows, baseRate) : null;
}

/** −ln of the probability of the actual outcome. */
export function lossOf({ predicted, label }: Prediction): number {
  return -Math.log(clamp(label ? predicted : 1 - predicted, clippedTo, 1 - clippedTo));
}

function sortAndShareTies(predictions: readonly Prediction[]): TieShared[] {
  const rows: TieShared[] = [];
  for (const tie of ties(predictions.toSorted((a, b) => a.predicted - b.predicted))) {
    const rate = mean(tie.map(({ label }) => Number(label)));
    for (const { predicted } of tie) rows.push({ predicted, rate });
  }
  return rows;
}

/** Runs of equal predictions in a sorted list. */
function* ties<Row extends { readonly predicted: number }>(sorted: readonly Row[]): Generator<Row[]> {
  let tie: Row[] = [];
  for (const row of sorted) {
    if (tie[0] !== undefined && tie[0].predicted !== row.predicted) {
      yield tie;
      tie = [];
    }
    tie.push(row);
  }
  if (tie.length > 0) yield tie;
}

/** The AUC by the rank sum of the outcomes that happened (Mann and Whitney 1947), where ties get the mean of
 * their ranks. */
function areaUnderCurve(rows: readonly TieShared[], baseRate: number): number {
  const positives = baseRate * rows.length;
  const negatives = rows.length - positives;
  let rank = 0;
  let rankSum = 0;
  for (const tie of ties(rows)) {
    const meanRank = rank + (tie.length + 1) / 2;
    for (const { rate } of tie) rankSum += rate * meanRank;
    rank += tie.length;
  }
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** Ten bins, lowest predictions first, whose counts differ by one at most; fewer if there are fewer rows. */
function equalCountBins(rows: readonly TieShared[]): TieShared[][] {
  return Array.from({ length: binCount }, (_, bin) =>
    rows.slice(binEdge(bin, rows.length), binEdge(bin + 1, rows.length)),
  ).filter((bin) => bin.length > 0);
}

/** The number of rows in the bins before this one. */
function binEdge(bin: number, count: number): number {
  return Math.round((bin * count) / binCount);
}

/** Σ over bins of count · |mean prediction − rate|. */
function errorOf(bins: readonly (readonly TieShared[])[]): number {
  return bins.reduce(
    (sum, bin) => sum + Math.abs(bin.reduce((gap, { predicted, rate }) => gap + predicted - rate, 0)),
    0,
  );
}

/** The mean of `errorOf` when labels are drawn from the predictions, whose ties share their labels here,
 * too. */
function drawnError(rows: readonly TieShared[]): number {
  const uniform = uniformFrom(seed);
  const runs = [...ties(rows)].map((tie) => ({ predicted: tie[0]?.predicted ?? 0, count: tie.length }));
  let error = 0;
  for (let draw = 0; draw < draws; draw++) {
    let [bin, row, gap] = [0, 0, 0];
    for (const { predicted, count } of runs) {
      let drawn = 0;
      for (let index = 0; index < count; index++) if (uniform() < predicted) drawn += 1;
      const gapOfRow = predicted - drawn / count;
      const end = row + count;
      while (row < end) {
        const edge = binEdge(bin + 1, rows.length);
        const within = Math.min(end, edge) - row;
        gap += within * gapOfRow;
        row += within;
        if (row < edge) break;
        error += Math.abs(gap);
        [bin, gap] = [bin + 1, 0];
      }
    }
  }
  return error / draws;
}

interface CalibrationLine {
  readonly slope: number;
  readonly intercept: number;
  readonly covariance: LineCovariance | null;
}

function calibrationLine(predictions: readonly Required<Prediction>[]): CalibrationLine {
  const xs = Float64Array.from(predictions, ({ predicted }) =>
    logit(clamp(predicted, clippedTo, 1 - clippedTo)),
  );
  const { weights } = solveLogistic({
    rows: Array.from(xs, (x) => Float64Array.of(1, x)),
    targets: predictions.map(({ label }) => Number(label)),
    penalties: [0, 0],
  });
  const [intercept, slope] = [at(weights, 0), at(weights, 1)];
  const fitted = predictions.map(({ label, cluster }, index) => ({
    label,
    cluster,
    predicted: logistic(intercept + slope * at(xs, index)),
  }));
  return { intercept, slope, covariance: lineCovariance(fitted, xs) };
}

function topDecileRate(rows: readonly TieShared[]): number {
  return mean(rows.slice(-Math.ceil(rows.length / 10)).map(({ rate }) => rate));
}

function reliabilityOf(bin: readonly TieShared[], { designEffect, ...degrees }: Clustering): ReliabilityBin {
  const rate = mean(bin.map((row) => row.rate));
  return {
    count: bin.length,
    meanPrediction: mean(bin.map(({ predicted }) => predicted)),
    rate,
    interval: shareInterval({
      hits: (rate * bin.length) / designEffect,
      count: bin.length / designEffect,
      ...degrees,
    }),
  };
}
