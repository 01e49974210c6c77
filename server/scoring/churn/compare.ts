/**
 * The worth of each group of features: the ridge regression is trained again without it, at the cut-offs of a
 * back-test.
 */
import { type Metrics, metricsOf, type Prediction } from "../statistics/metrics.ts";
import { type Backtest, type FittedSnapshot, type Fold, predictionsOf, trainingOf } from "./backtest.ts";
import { riskScorer } from "./churn-model.ts";
import { type FeatureGroup, featureGroups } from "./columns.ts";
import { columnsIn } from "./design.ts";
import type { Snapshot } from "./snapshot.ts";
import { shortagesOf, trainRidge } from "./train.ts";

/** The ridge regression without a group of features. */
export interface WithoutGroup {
  readonly group: FeatureGroup;
  readonly metrics: Metrics;
}

/**
 * The figures without each group in turn, of the cut-offs at which the ridge regression could be trained.
 * Groups that have no column there, such as traits without any trait, are left out.
 * @param fits of all snapshots, from the back-test's
 */
export function compareGroups(
  folds: readonly Fold[],
  { horizonDays, ridge }: Pick<Backtest, "horizonDays" | "ridge">,
  fits: ReadonlyMap<Snapshot, FittedSnapshot>,
): WithoutGroup[] {
  const predictions = new Map<FeatureGroup, Prediction[]>(featureGroups.map((group) => [group, []]));
  const seen = new Set<FeatureGroup>();
  for (const fold of folds) {
    const training = { ...trainingOf(fold, fits, horizonDays), ridge };
    const { design, counts, isDeclared } = training;
    if (shortagesOf(3, counts, isDeclared).length > 0) continue;
    for (const { featureGroup } of columnsIn(design, ridge?.groups)) seen.add(featureGroup);
    // A cut-off at which a group has no column counts, too: all groups are judged on the same rows.
    for (const [group, own] of predictions) {
      const score = riskScorer(trainRidge(training, group));
      for (const one of predictionsOf(fold, (features) => score(features).risk)) own.push(one);
    }
  }
  return featureGroups.flatMap((group) => {
    const metrics = seen.has(group) ? metricsOf(predictions.get(group) ?? []) : null;
    return metrics === null ? [] : [{ group, metrics }];
  });
}
