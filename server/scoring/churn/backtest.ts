/**
 * The back-test. At every cut-off all models and both baselines are trained on the data of then. They score
 * the entities that were active or new, and are evaluated by the outcomes. Predictions of all cut-offs are
 * pooled. The split is by time and never random: otherwise a model would learn from the future of the same
 * entities.
 */

import type { ScoredFeatures } from "../scores/state.ts";
import { lossOf, type Metrics, metricsOf, type Prediction } from "../statistics/metrics.ts";
import { mean } from "../statistics/vectors.ts";
import { fitHiatus, hiatusRisk } from "./baselines.ts";
import { type BgbbFit, fitBgbb } from "./bgbb-fit.ts";
import { type ChurnModel, type RidgeKind, type Rung, riskScorer, silenceBy } from "./churn-model.ts";
import type { FeatureGroup } from "./columns.ts";
import { countOutcomes, type OutcomeCounts } from "./departures.ts";
import { designFor } from "./design.ts";
import { repeated } from "./entered.ts";
import { allRows, isJudged, judgedRows, type Snapshot, type SnapshotRow } from "./snapshot.ts";
import { atOnce, type Steps } from "./steps.ts";
import {
  countData,
  replacingShareOfLoss,
  ridgeKinds,
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
  /** The groups of features that this rung had, where a new model has others. Equal in all folds. */
  readonly keptGroups?: readonly FeatureGroup[] | undefined;
}

export type ModelName =
  | `rung ${Exclude<Rung, 4 | 5 | 6>}`
  | "recency"
  | "hiatus"
  | "period end"
  | "base rate";

/** The name of a rung's model. */
export function modelOfRung(rung: Rung): ModelName {
  if (rung === 4) return "recency";
  if (rung === 5) return "period end";
  return rung === 6 ? "base rate" : `rung ${rung}`;
}

/** A model's mean log loss at one cut-off. */
export interface CutoffLoss {
  readonly cutoffDay: number;
  readonly count: number;
  readonly logLoss: number;
}

export interface ModelResult extends OutcomeCounts {
  readonly model: ModelName;
  /** Cut-offs at which it could be trained; the figures are of these. */
  readonly folds: number;
  readonly metrics: Metrics;
  /** The baselines' log losses on the very same rows. */
  readonly recencyLogLoss: number;
  readonly hiatusLogLoss: number;
  /** Left out if the baseline could not be trained at all of these cut-offs. */
  readonly periodEndLogLoss?: number;
  /** Log losses by cut-off: models are compared on the cut-offs that all of them have. Back-tests of earlier
   * releases lack them. */
  readonly byCutoff?: readonly CutoffLoss[];
  /** The metrics with the entities whose end is scheduled and would meet the churn target; left out where
   * there are no such entities. No gate reads them: a scheduled end is known, and not predicted. */
  readonly withCanceling?: OutcomeCounts & { readonly metrics: Omit<Metrics, "reliability"> };
}

export interface Backtest {
  readonly horizonDays: number;
  /** Cut-offs with labels of both classes to train on. */
  readonly folds: number;
  /** Only models that could be trained at least once. */
  readonly results: readonly ModelResult[];
  /** What the ridge regression of rung 3 was trained with at every cut-off, and is to be trained with: the
   * least log loss. Left out by back-tests of before. */
  readonly ridge?: RidgeKind;
  /** Whether every fit of BG/BB ended in the same place from all its starts. */
  readonly isConverged: boolean;
}

const models: readonly ModelName[] = [
  "rung 0",
  "rung 1",
  "rung 2",
  "rung 3",
  "recency",
  "hiatus",
  "period end",
] as const;

/**
 * Runs the back-test.
 * @param fits of snapshots that were fitted before; fits of other snapshots are added
 * @throws RangeError when a training snapshot's horizon had not ended on the day of scoring.
 */
export function backtest(
  folds: readonly Fold[],
  horizonDays: number,
  fits: Map<Snapshot, FittedSnapshot> = new Map(),
): Backtest {
  return atOnce(backtestSteps(folds, horizonDays, fits));
}

/** Runs the back-test in steps: a fit, a model, a model's figures. A step takes tenths of a second for 50,000
 * rows.
 * @param fits of snapshots that were fitted before; fits of other snapshots are added */
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
  const kinds = kindsOf(folds);
  const elected = electedKind(both, kinds);
  const predicted = both.map((fold) => withKind(fold, elected));
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
    ...(kinds[elected] !== undefined && { ridge: kinds[elected] }),
    isConverged: [...fits.values()].every(({ fit }) => fit.isConverged),
  };
}

export interface FittedSnapshot {
  readonly fit: BgbbFit;
  /** With the churned rows beside a sample. */
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
    bgbbRisk: silence.on(row.features),
    weight: (row.weight ?? 1) * (row.label ? churnedWeight : retainedWeight),
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
    design: designFor(
      fold.training[0]?.rows ?? [],
      fold.keyEvents,
      fold.scoring.isDeclared === true ? horizonDays : undefined,
    ),
    isDeclared: fold.scoring.isDeclared,
    kept: fold.kept,
    ridge: kindsOf([fold])[0],
  };
}

type RiskOf = (features: ScoredFeatures) => number;

/** The risks of the entities of a fold's cut-off by a model, with their outcomes. Entities whose end is
 * scheduled are left out. */
export function predictionsOf({ scoring }: Fold, riskOf: RiskOf): Prediction[] {
  return predicted(judgedRows(scoring), riskOf);
}

function predicted(rows: readonly SnapshotRow[], riskOf: RiskOf): Prediction[] {
  return rows.map(({ features, label, cluster }) => ({ predicted: riskOf(features), label, cluster }));
}

interface FoldPredictions {
  readonly cutoffDay: number;
  /** Rows of the cut-off that is judged, with entities whose end is scheduled. */
  readonly rows: readonly SnapshotRow[];
  /** In the order of the rows. The ridge regression is of the first kind. */
  readonly predictions: ReadonlyMap<ModelName, readonly Prediction[]>;
  /** Of the ridge regression by kind; empty where it could not be trained. */
  readonly kinds: readonly (readonly Prediction[])[];
}

function kindsOf(folds: readonly Fold[]): readonly RidgeKind[] {
  const [first] = folds;
  return ridgeKinds(first?.scoring.isDeclared === true, first?.keptGroups);
}

/** The place of the kind of ridge regression that is judged at all cut-offs, and serves: that of the least
 * log loss at all of them together. Groups that a model keeps stay unless those of a new one are 0.5 %
 * better. */
function electedKind(folds: readonly FoldPredictions[], kinds: readonly RidgeKind[]): number {
  const trained = folds.filter((fold) => fold.kinds.length > 0);
  const losses = kinds.map((_, kind) =>
    mean(
      pooledOf(
        "rung 3",
        trained.map((fold) => withKind(fold, kind)),
        isJudged,
      ).predictions.map(lossOf),
    ),
  );
  const least = Math.min(...losses);
  const keptLeast = Math.min(...losses.filter((_, at) => kinds[at]?.groups !== undefined));
  // Without a cut-off at which it could be trained there is no loss.
  return Math.max(0, losses.indexOf(least <= replacingShareOfLoss * keptLeast ? least : keptLeast));
}

function withKind(fold: FoldPredictions, kind: number): FoldPredictions {
  const own = fold.kinds[kind];
  return own === undefined ? fold : { ...fold, predictions: new Map([...fold.predictions, ["rung 3", own]]) };
}

/** Null when the training labels are of one class, or when there are no entities to score. */
function* predictFold(
  fold: Fold,
  fits: ReadonlyMap<Snapshot, FittedSnapshot>,
  horizonDays: number,
): Steps<FoldPredictions | null> {
  const training = trainingOf(fold, fits, horizonDays);
  const hiatus = fitHiatus(fold.training.flatMap((snapshot) => repeated(snapshot.rows)));
  const { cutoffDay } = fold.scoring;
  const rows = repeated(fold.scoring.rows);
  if (hiatus === null || !rows.some(isJudged)) return null;
  const predict = (riskOf: RiskOf) => predicted(rows, riskOf);
  const by = (model: ChurnModel) => {
    const score = riskScorer(model);
    return predict((features) => score(features).risk);
  };
  const trained = (yield* trainRungSteps(training)).filter(({ rung }) => rung !== 6);
  const predictions = new Map<ModelName, readonly Prediction[]>([
    ["hiatus", predict((features) => hiatusRisk(hiatus, features))],
    ...trained.map((model): [ModelName, Prediction[]] => [modelOfRung(model.rung), by(model)]),
  ]);
  const first = predictions.get("rung 3");
  const kinds = first === undefined ? [] : [first];
  for (const ridge of first === undefined ? [] : kindsOf([fold]).slice(1)) {
    yield;
    kinds.push(by(trainRidge({ ...training, ridge })));
  }
  return { cutoffDay, rows, predictions, kinds };
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
  const byCutoff = own.map((fold): CutoffLoss => {
    const { predictions } = pooledOf(model, [fold], isJudged);
    return {
      cutoffDay: fold.cutoffDay,
      count: predictions.length,
      logLoss: mean(predictions.map(lossOf)),
    };
  });
  return {
    model,
    folds: own.length,
    ...outcome,
    byCutoff: byCutoff.filter(({ count }) => count > 0),
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
