/** The contents of scoring's records: runs, models, scales and snapshots. */
import type { Settings } from "../../../contract/settings.ts";
import type { Backtest } from "../churn/backtest.ts";
import type { ObservedBaseRate } from "../churn/base-rate.ts";
import type { BgbbParameters } from "../churn/bgbb.ts";
import type { BgbbFit } from "../churn/bgbb-fit.ts";
import type { ChurnModel } from "../churn/churn-model.ts";
import type { ArmRows } from "../churn/entered.ts";
import type { Choice } from "../churn/ladder.ts";
import type { DataCounts } from "../churn/train.ts";
import type { UsualBehaviour } from "../queries/scale-query.ts";
import type { Outages } from "../scores/observed-days.ts";
import type { RiskScale } from "../scores/risk-scale.ts";

/** BG/BB's parameters by the values of one trait. Entities with another value, or none, go by the model's
 * own. */
export interface SegmentsOfRun {
  readonly trait: string;
  readonly values: readonly { readonly value: string; readonly parameters: BgbbParameters }[];
}

/** A finished run for one kind of entity: everything that its scores follow from, besides their features. */
export interface RunBody {
  /** Its rows of scores have this version, or the higher version of a run that was cut off. */
  readonly rowsVersion: number;
  readonly settings: Settings;
  readonly settingsKey: string;
  /** The days that its counts of days leave out. */
  readonly outages: Outages;
  /** The declared outages among them, by `declaredKey`. */
  readonly declaredOutages: string;
  readonly scale: UsualBehaviour;
  /** The day of the scale. */
  readonly scaleDay: number;
  /** Null when no model is good enough. */
  readonly model: ChurnModel | null;
  /** Of a run by version 0.1.0. */
  readonly segments?: SegmentsOfRun;
  readonly bgbb: {
    readonly parameters: BgbbParameters;
    readonly isConverged: boolean;
    readonly isAtBound: boolean;
  };
  readonly choice: Choice;
  /** Fixed with the model: the base rate is that of its back-test. */
  readonly riskScale: RiskScale;
  readonly counts: DataCounts;
  /** The day as of which rungs were trained and back-tested. */
  readonly trainedDay: number;
  readonly backtest: Backtest;
  /** As of `trainedDay`, of a declared churn target. Left out before there was one. */
  readonly observedBaseRate?: ObservedBaseRate | null;
  /** As in `ModelBody`. */
  readonly arms?: ArmRows | undefined;
  /** On `trainedDay`: the first of the days on which a declared departure should have come and did not; null
   * while departures come. */
  readonly noDeparturesFrom?: number | null;
  /** As of `trainedDay`: in how many trainings running the health bands did not separate. Left out by runs of
   * before. */
  readonly bandFailures?: number;
  /** Whether its model was not trained yet: the same run is done again after the first training. */
  readonly awaitsTraining?: boolean;
  readonly entities: number;
  readonly scored: number;
  /** When scores of this day under these settings were first shown to users. */
  readonly firstPublishedAtMs: number;
  readonly finishedAtMs: number;
  readonly tookMs: number;
}

/** Rungs, as trained on what was known on a day. */
export interface ModelBody {
  readonly settingsKey: string;
  /** The declared outages of its training, by `declaredKey`. */
  readonly declaredOutages: string;
  readonly rungs: readonly ChurnModel[];
  readonly churnedLabels: number;
  readonly retainedLabels: number;
  /** The fit of BG/BB to the cells of that day: where the fits of the week begin. */
  readonly bgbb: BgbbParameters;
  readonly backtest: Backtest;
  /** Rows of training of those who were in experiments; left out where nobody was. */
  readonly arms?: ArmRows | undefined;
  /** These three as in `RunBody`. */
  readonly observedBaseRate?: ObservedBaseRate | null;
  readonly noDeparturesFrom?: number | null;
  readonly bandFailures?: number;
}

/** A training that is not kept yet. */
export type TrainedRungs = Omit<ModelBody, "settingsKey" | "declaredOutages">;

/** A scale that was measured, and the settings that it was measured under. */
export type ScaleBody = UsualBehaviour & Pick<ModelBody, "settingsKey" | "declaredOutages">;

/** BG/BB as it was fitted to the cells of a snapshot. `settingsKey` is a hash of these cells. */
export interface FitBody extends Pick<ModelBody, "settingsKey"> {
  readonly fit: BgbbFit;
}

/** A finished snapshot. */
export interface SnapshotBody {
  /** Its rows have this version. */
  readonly rowsVersion: number;
  /** Names everything that is set and that its rows depend on. */
  readonly settingsKey: string;
}
