/**
 * The back-test. At every cut-off all models and both baselines are trained on the data of then. They score the
 * entities that were active or new, and are evaluated by the outcomes. Predictions of all cut-offs are pooled. The
 * split is by time and never random: otherwise a model would learn from the future of the same entities.
 */

import type { ScoredFeatures } from "../scores/state.ts";
import { lossOf, type Metrics, metricsOf, type Prediction } from "../statistics/metrics.ts";
import { mean } from "../statistics/vectors.ts";
import { fitHiatus, hiatusRisk, periodEndBaseline, recencyBaseline } from "./baselines.ts";
import { type BgbbFit, fitBgbb } from "./bgbb-fit.ts";
import { type Rung, riskScorer, silenceBy } from "./churn-model.ts";
import type { FeatureGroup } from "./columns.ts";
import { countOutcomes, type OutcomeCounts } from "./departures.ts";
import { designFor, hasOtherGroups } from "./design.ts";
import { allRows, isJudged, judgedRows, type Snapshot, type SnapshotRow } from "./snapshot.ts";
import { atOnce, type Steps } from "./steps.ts";
import {
  countData,
  replacingShareOfLoss,
  type TrainingInput,
  type TrainingRow,
  trainRidge,
  trainRungSteps,
} from "./train.ts";

/** Snapshots may be shared between folds; each is fitted once. */
export interface Fold {
  readonly scoring: Snapshot;
  /** The newest first; the horizon of each has ended by the day of scoring. */
  readonly training: readonly Snapshot[];
  /** Events that have columns however rare they are. */
  readonly keyEvents?: readonly string[] | undefined;
  /** The rung that served and was proven before. */
  readonly kept?: Rung | undefined;
  /** The groups of features that this rung had, where a new model has others. */
  readonly keptGroups?: readonly FeatureGroup[] | undefined;
}

export type ModelName = `rung ${Rung}` | "recency" | "hiatus" | "period end";

export interface ModelResult extends OutcomeCounts {
  readonly model: ModelName;
  /** Cut-offs at which it could be trained; the figures are of these. */
  readonly folds: number;
  readonly metrics: Metrics;
  /** The baselines' log losses on the very same rows. */
  readonly recencyLogLoss: number;
  readonly hiatusLogLoss: number;
  /** Left out unless the baseline could be trained at the same cut-offs. */
  readonly periodEndLogLoss?: number;
  /** The same with the entities whose end is scheduled, with a target that is met by it. Left out where there were none. No gate
   * looks at it: such an end is known, and not predicted. */
  readonly withCanceling?: OutcomeCounts & { readonly metrics: Omit<Metrics, "reliability"> };
}

export interface Backtest {
  readonly horizonDays: number;
  /** Cut-offs with labels of both classes to train on. */
  readonly folds: number;
  /** Only models that could be trained at least once. */
  readonly results: readonly ModelResult[];
  /** Whether the ridge regression keeps the groups of features that it had: with others it is not 0.5 % better. Left out where it had
   * the same. */
  readonly keepsGroups?: boolean;
  /** Whether every fit of BG/BB ended in the same place from all its starts. */
  readonly isConverged: boolean;
}

const models: readonly ModelName[] = [
  ...(["rung 0", "rung 1", "rung 2", "rung 3", "recency", "hiatus", "period end"] as const),
];

/**
 * Runs the back-test.
 * @param fits of snapshots that were fitted before; those of others are added
 * @throws RangeError when a training snapshot's horizon had not ended on the day of scoring.
 */
export function backtest(
  folds: readonly Fold[],
  horizonDays: number,
  fits: Map<Snapshot, FittedSnapshot> = new Map(),
): Backtest {
  return atOnce(backtestSteps(folds, horizonDays, fits));
}

/** The same in steps: a fit, a model, a model's figures. Each takes tenths of a second for 50,000 rows.
 * @param fits of snapshots that were fitted before; those of others are added */
export function* backtestSteps(
  folds: readonly Fold[],
  horizonDays: number,
  fits: Map<Snapshot, FittedSnapshot> = new Map(),
): Steps<Backtest> {
  const both: FoldPredictions[] = [];
  for (const fold of folds) {
    for (const { cutoffDay } of fold.training) {
      if (cutoffDay + horizonDays > fold.scoring.cutoffDay) {
        throw new RangeError(
          `the labels of day ${cutoffDay} were not known on day ${fold.scoring.cutoffDay}`,
        );
      }
    }
    for (const snapshot of [fold.scoring, ...fold.training]) {
      if (fits.has(snapshot)) continue;
      fits.set(snapshot, yield* fitSnapshot(snapshot, horizonDays));
    }
    const predictions = yield* predictFold(fold, fits, horizonDays);
    if (predictions !== null) both.push(predictions);
  }
  const keepsGroups = isKeptAsGood(both);
  const predicted = keepsGroups === true ? both.map(withKept) : both;
  const results: ModelResult[] = [];
  for (const model of models) {
    const result = resultOf(model, predicted, horizonDays);
    yield;
    if (result !== null) results.push({ ...result, ...withCanceling(model, predicted, horizonDays) });
    yield;
  }
  return {
    horizonDays,
    folds: predicted.length,
    results,
    ...(keepsGroups !== undefined && { keepsGroups }),
    isConverged: [...fits.values()].every(({ fit }) => fit.isConverged),
  };
}

export interface FittedSnapshot {
  readonly fit: BgbbFit;
  /** With the churned ones beside a sample. */
  readonly rows: readonly TrainingRow[];
}

/** Fits BG/BB to a snapshot that has no fit, and gives its rows the risks by that fit. In steps of a fit. */
export function* fitSnapshot(snapshot: Snapshot, horizonDays: number): Steps<FittedSnapshot> {
  const fit = snapshot.fit ?? fitBgbb(snapshot.cells);
  yield;
  const silence = silenceBy(horizonDays, fit.parameters);
  const { churnedWeight = 1, retainedWeight = 1 } = snapshot.beside ?? {};
  const rows = allRows(snapshot).map((row) => ({
    ...row,
    bgbbRisk: silence(row.features.cell),
    weight: row.label ? churnedWeight : retainedWeight,
  }));
  yield;
  return { fit, rows };
}

/** The training data of a fold, as it was known at the cut-off.
 * @throws RangeError when the snapshot of the cut-off was not fitted */
export function trainingOf(
  fold: Fold,
  fits: ReadonlyMap<Snapshot, FittedSnapshot>,
  horizonDays: number,
): TrainingInput {
  const scoring = fits.get(fold.scoring);
  if (scoring === undefined) throw new RangeError(`day ${fold.scoring.cutoffDay} was not fitted`);
  const training = fold.training.flatMap((snapshot) => fits.get(snapshot) ?? []);
  const rows = training.flatMap((snapshot) => snapshot.rows);
  return {
    horizonDays,
    counts: countData(fold.scoring.cells, rows, horizonDays),
    bgbb: scoring.fit.parameters,
    rows,
    design: designFor(fold.training[0]?.rows ?? [], fold.keyEvents),
    isDeclared: fold.scoring.isDeclared,
    kept: fold.kept,
  };
}

type RiskOf = (features: ScoredFeatures) => number;

/** The risks of the entities of a fold's cut-off by a model, with their outcomes. Those whose end is scheduled are left out. */
export function predictionsOf({ scoring }: Fold, riskOf: RiskOf): Prediction[] {
  return predicted(judgedRows(scoring), riskOf);
}

function predicted(rows: readonly SnapshotRow[], riskOf: RiskOf): Prediction[] {
  return rows.map(({ features, label, cluster }) => ({ predicted: riskOf(features), label, cluster }));
}

interface FoldPredictions {
  /** Of the cut-off that is judged, those whose end is scheduled included. */
  readonly rows: readonly SnapshotRow[];
  /** In the order of the rows. */
  readonly predictions: ReadonlyMap<ModelName, readonly Prediction[]>;
  /** Of the ridge regression with the groups of features that it had. Undefined where these are no other ones. */
  readonly kept?: readonly Prediction[];
}

/** Whether the groups of features that the ridge regression had stay, by the log loss at all cut-offs together. Undefined where it has no others. */
function isKeptAsGood(folds: readonly FoldPredictions[]): boolean | undefined {
  const compared = folds.filter(({ kept }) => kept !== undefined);
  if (compared.length === 0) return undefined;
  const lossOn = (those: readonly FoldPredictions[]) =>
    mean(pooledOf("rung 3", those, isJudged).predictions.map(lossOf));
  return lossOn(compared) > replacingShareOfLoss * lossOn(compared.map(withKept));
}

function withKept({ rows, predictions, kept }: FoldPredictions): FoldPredictions {
  return {
    rows,
    predictions: kept === undefined ? predictions : new Map([...predictions, ["rung 3", kept]]),
  };
}

/** Null when the training labels are of one class, or when there are no entities to score. */
function* predictFold(
  fold: Fold,
  fits: ReadonlyMap<Snapshot, FittedSnapshot>,
  horizonDays: number,
): Steps<FoldPredictions | null> {
  const training = trainingOf(fold, fits, horizonDays);
  const sample = fold.training.flatMap(({ rows }) => rows);
  const recency = recencyBaseline(sample);
  const hiatus = fitHiatus(sample);
  const periodEnd = periodEndBaseline(sample);
  const { rows } = fold.scoring;
  if (recency === null || hiatus === null || !rows.some(isJudged)) return null;
  yield;
  const rungs = yield* trainRungSteps(training);
  const predict = (riskOf: RiskOf) => predicted(rows, riskOf);
  const predictions = new Map<ModelName, readonly Prediction[]>([
    ["recency", predict(recency)],
    ["hiatus", predict((features) => hiatusRisk(hiatus, features))],
    ...(periodEnd === null ? [] : [["period end", predict(periodEnd)] as const]),
    ...rungs.map((model): [ModelName, Prediction[]] => {
      const score = riskScorer(model);
      return [`rung ${model.rung}`, predict((features) => score(features).risk)];
    }),
  ]);
  const { design, counts } = training;
  const own = predictions.get("rung 3");
  if (fold.keptGroups === undefined || own === undefined) return { rows, predictions };
  if (!hasOtherGroups(design, counts.churnedLabels, fold.keptGroups)) return { rows, predictions, kept: own };
  yield;
  const kept = riskScorer(trainRidge({ ...training, groups: fold.keptGroups }));
  return { rows, predictions, kept: predict((features) => kept(features).risk) };
}

function resultOf(
  model: ModelName,
  folds: readonly FoldPredictions[],
  horizonDays: number,
): ModelResult | null {
  const own = folds.filter(({ predictions }) => predictions.has(model));
  const pooled = (name: ModelName) => pooledOf(name, own, isJudged).predictions;
  const outcome = outcomeOf(pooledOf(model, own, isJudged), horizonDays);
  if (outcome === null) return null;
  const logLoss = (name: ModelName) => mean(pooled(name).map(lossOf));
  return {
    model,
    folds: own.length,
    ...outcome,
    recencyLogLoss: logLoss("recency"),
    hiatusLogLoss: logLoss("hiatus"),
    ...(own.every(({ predictions }) => predictions.has("period end")) && {
      periodEndLogLoss: logLoss("period end"),
    }),
  };
}

function withCanceling(
  model: ModelName,
  folds: readonly FoldPredictions[],
  horizonDays: number,
): Pick<ModelResult, "withCanceling"> {
  const own = folds.filter(({ predictions }) => predictions.has(model));
  if (own.every(({ rows }) => rows.every(isJudged))) return {};
  const outcome = outcomeOf(
    pooledOf(model, own, () => true),
    horizonDays,
  );
  if (outcome === null) return {};
  const { reliability: _, ...metrics } = outcome.metrics;
  return { withCanceling: { ...outcome, metrics } };
}

/** Rows of cut-offs, and a model's predictions of them in the same order. */
interface Pooled {
  readonly rows: readonly SnapshotRow[];
  readonly predictions: readonly Prediction[];
}

function pooledOf(
  model: ModelName,
  folds: readonly FoldPredictions[],
  isTaken: (row: SnapshotRow) => boolean,
): Pooled {
  return {
    rows: folds.flatMap(({ rows }) => rows.filter(isTaken)),
    predictions: folds.flatMap(({ rows, predictions }) =>
      (predictions.get(model) ?? []).filter((_, index) => {
        const row = rows[index];
        return row !== undefined && isTaken(row);
      }),
    ),
  };
}

function outcomeOf({ rows, predictions }: Pooled, horizonDays: number) {
  const metrics = metricsOf(predictions);
  return metrics === null ? null : { metrics, ...countOutcomes(rows, horizonDays) };
}
