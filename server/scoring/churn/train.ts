/** Trains every rung of the ladder for which there is enough data. */

import type { ScoredFeatures } from "../scores/state.ts";
import { fitRidge, usualPenalty } from "../statistics/logistic.ts";
import { type CountedLabels, fitPlatt } from "../statistics/platt.ts";
import { mean, weightedMean } from "../statistics/vectors.ts";
import { baselineModel } from "./baselines.ts";
import { type BgbbParameters, priorParameters } from "./bgbb.ts";
import type { CountedCell } from "./bgbb-fit.ts";
import {
  bgbbLogOdds,
  type ChurnModel,
  isBaseline,
  type RidgeChurnModel,
  type RidgeKind,
  type Rung,
  silenceBy,
} from "./churn-model.ts";
import type { FeatureGroup } from "./columns.ts";
import { countOutcomes, keptShareOfLeast, type Outcome } from "./departures.ts";
import { columnsIn, type Design, rowOf } from "./design.ts";
import { atOnce, type Steps } from "./steps.ts";

/** An entity that was scored at an earlier cut-off, with its outcome. */
export interface TrainingRow extends Outcome {
  readonly features: ScoredFeatures;
  /** BG/BB's risk by the fit of the row's own cut-off, as it would have been predicted then. */
  readonly bgbbRisk: number;
  /** How many entities the row stands for; one unless given. */
  readonly weight?: number;
}

export interface DataCounts {
  /** Seen in the window of 26 weeks. */
  readonly entities: number;
  /** Entities with three full periods since the first activity. */
  readonly entitiesWithThreePeriods: number;
  /** Departures, each counted once. */
  readonly churnedLabels: number;
  /** Entities that stayed at one cut-off or more, each counted once. */
  readonly retainedLabels: number;
}

/** A missing requirement: how much there is, and how much is needed. */
export interface Shortage {
  readonly what: keyof DataCounts;
  readonly have: number;
  readonly need: number;
}

/** Of the rungs that predict silence. Departures by a declared target say themselves whether there are
 * enough. */
const leastEntities = 60;
const leastLabelsOfEachClass: Readonly<Record<Rung, number>> = {
  0: 0,
  1: 0,
  2: 50,
  3: 100,
  4: 50,
  5: 50,
  6: 0,
};
/** Departures, and entities that stayed. */
const leastDeclaredLabels = 30;
/** Another kind of model, of another rung or with other groups of features, replaces the serving model if its
 * log loss is at most this share of the serving model's: 0.5 % better. */
export const replacingShareOfLoss = 0.995;
/** The rungs that are trained. The lower ones predict silence, and no declared departure; the end of a period
 * is of subscriptions. */
export function rungsFor(isDeclared: boolean): readonly Rung[] {
  return isDeclared ? [3, 4, 5, 6] : [0, 1, 2, 3, 4, 6];
}

/** λ of a declared target: the first until a back-test says which has the least log loss. With 30 to 150
 * departures 40 was best on three simulated companies, and 160 on the project's own. */
const declaredPenalties = [40, 10, 160];

/** The kinds of ridge regression that a back-test compares. @param keptGroups of the model that served: those
 * kinds come first */
export function ridgeKinds(isDeclared: boolean, keptGroups?: readonly FeatureGroup[]): readonly RidgeKind[] {
  const penalties = isDeclared ? declaredPenalties : [usualPenalty];
  const kinds = penalties.map((penalty): RidgeKind => ({ penalty }));
  if (keptGroups === undefined) return kinds;
  return [...penalties.map((penalty) => ({ penalty, groups: keptGroups })), ...kinds];
}

/** The rungs that a back-test may elect. Rung 0 says 35 % for every newcomer: it is back-tested, and gives no
 * churn risk. Rung 6 takes over from what failed: no back-test can prove what others are measured by. */
export function servingRungs(isDeclared: boolean): readonly Rung[] {
  return rungsFor(isDeclared).filter((rung) => rung !== 0 && rung !== 6);
}

/** Missing data of a rung; empty when it can be trained. Always empty for rung 0.
 * @param isKept whether it served and was proven before: then it needs less */
export function shortagesOf(rung: Rung, counts: DataCounts, isDeclared = false, isKept = false): Shortage[] {
  if (rung === 0) return [];
  const least = (need: number) => Math.ceil(isKept ? keptShareOfLeast * need : need);
  const labels = least(isDeclared ? leastDeclaredLabels : leastLabelsOfEachClass[rung]);
  const needs: DataCounts = {
    entities: isDeclared ? 0 : least(leastEntities),
    entitiesWithThreePeriods: isDeclared ? 0 : least(Math.ceil(Math.max(leastEntities, counts.entities) / 2)),
    churnedLabels: labels,
    retainedLabels: labels,
  };
  const names = ["entities", "entitiesWithThreePeriods", "churnedLabels", "retainedLabels"] as const;
  return names
    .map((what) => ({ what, have: counts[what], need: needs[what] }))
    .filter(({ have, need }) => have < need);
}

/** Counts the training data. */
export function countData(
  cells: readonly CountedCell[],
  outcomes: readonly Outcome[],
  horizonDays: number,
): DataCounts {
  const entities = (of: readonly CountedCell[]) => of.reduce((sum, { count }) => sum + count, 0);
  const { departures, retained } = countOutcomes(outcomes, horizonDays);
  return {
    entities: entities(cells),
    entitiesWithThreePeriods: entities(cells.filter(({ n }) => n >= 3)),
    churnedLabels: departures,
    retainedLabels: retained,
  };
}

export interface TrainingInput {
  readonly horizonDays: number;
  readonly counts: DataCounts;
  /** The fit on all entities seen in the window. */
  readonly bgbb: BgbbParameters;
  readonly rows: readonly TrainingRow[];
  /** From the entities of one cut-off, since rows repeat entities. */
  readonly design: Design;
  /** Entities that were churned at the cut-offs, by the fits of that time. Entities that stayed silent are
   * positive. */
  readonly churned?: readonly CountedLabels[];
  /** Whether labels are of a declared churn target. */
  readonly isDeclared?: boolean | undefined;
  /** The rung that served and was proven before. */
  readonly kept?: Rung | undefined;
  /** The first of `ridgeKinds` unless given. */
  readonly ridge?: RidgeKind | undefined;
}

/** The rungs that can be trained, from the lowest. */
export function trainRungs(input: TrainingInput): ChurnModel[] {
  return atOnce(trainRungSteps(input));
}

/** Trains the rungs that can be trained, from the lowest, a rung a step. */
export function* trainRungSteps(input: TrainingInput): Steps<ChurnModel[]> {
  const { counts, isDeclared = false, kept } = input;
  const trained: ChurnModel[] = [];
  // A back-test has the baselines at every cut-off.
  for (const rung of rungsFor(isDeclared).filter(
    (each) => isBaseline(each) || shortagesOf(each, counts, isDeclared, each === kept).length === 0,
  )) {
    const model = trainRung(rung, input);
    if (model !== null) trained.push(model);
    yield;
  }
  return trained;
}

/** The calibration for the churned; left out with fewer labels of each class than the second rung needs. */
function calibrationOfChurned(churned: readonly CountedLabels[]): Pick<ChurnModel, "churnedPlatt"> {
  const least = leastLabelsOfEachClass[2];
  const silent = churned.reduce((sum, { positives }) => sum + positives, 0);
  const returned = churned.reduce((sum, { negatives }) => sum + negatives, 0);
  return silent < least || returned < least ? {} : { churnedPlatt: fitPlatt(churned) };
}

function trainRung(rung: Rung, input: TrainingInput): ChurnModel | null {
  const { horizonDays, bgbb, rows, churned = [] } = input;
  if (rung === 3) return { ...trainRidge(input), ...calibrationOfChurned(churned) };
  if (isBaseline(rung)) {
    const model = baselineModel(rung, input, weightsOf(rows));
    return model && { ...model, ...calibrationOfChurned(churned) };
  }
  const parameters = rung === 0 ? priorParameters : bgbb;
  const logOdds = rows.map(({ bgbbRisk }) => bgbbLogOdds(bgbbRisk));
  const newcomer = silenceBy(horizonDays, parameters).of({ x: 0, t: 0, n: 0 });
  const weights = weightsOf(rows);
  const referenceLogOdds = rows.length === 0 ? bgbbLogOdds(newcomer) : weightedMean(logOdds, weights);
  const common = { horizonDays, bgbb: parameters, referenceLogOdds, isByDay: true } as const;
  if (rung !== 2) return { ...common, rung };
  const platt = fitPlatt(
    rows.map(({ bgbbRisk, label }, index) => {
      const weight = weights[index] ?? 1;
      const logOdds = bgbbLogOdds(bgbbRisk);
      return { logOdds, positives: label ? weight : 0, negatives: label ? 0 : weight };
    }),
  );
  return { ...common, rung, platt, ...calibrationOfChurned(churned) };
}

/** The rows' weights with a mean of 1: penalties are held by as many rows as were read, and not as these
 * stand for. */
function weightsOf(rows: readonly TrainingRow[]): number[] {
  const weights = rows.map(({ weight = 1 }) => weight);
  const meanWeight = mean(weights);
  return weights.map((weight) => weight / meanWeight);
}

/** The ridge regression on the columns of the design, as the kind has it.
 * @param without a group of features that is left out. No model that serves leaves one out */
export function trainRidge(
  {
    horizonDays,
    bgbb,
    rows,
    design,
    isDeclared = false,
    ridge: kind = ridgeKinds(isDeclared)[0],
  }: Pick<TrainingInput, "horizonDays" | "bgbb" | "rows" | "design" | "isDeclared" | "ridge">,
  without?: FeatureGroup,
): RidgeChurnModel & { readonly rung: 3 } {
  const columns = columnsIn(design, kind?.groups).filter(({ featureGroup }) => featureGroup !== without);
  const ridge = fitRidge(
    columns.map(({ name, group }) => ({ name, group })),
    rows.map((row) => rowOf(columns, row)),
    rows.map(({ label }) => label),
    weightsOf(rows),
    kind?.penalty,
  );
  return { rung: 3, horizonDays, bgbb, isByDay: true, design, ridge, referenceLogOdds: ridge.intercept };
}
