/**
 * Records of version 0.1.0. Their scores stay as they are, and are explained by the rules that made them.
 * There BG/BB could have parameters of its own for each value of a trait, "by segment", engagement took a
 * tenure for at least 7 days, risks had the same bands whatever the base rate, and outages counted as idle
 * days.
 */
import { currentSettings, type StoredSettings } from "../../ledger/stores/settings.ts";
import type { ModelName, ModelResult } from "../churn/backtest.ts";
import { type ChurnModel, numbersOfModel, traitsOfModel } from "../churn/churn-model.ts";
import type { OutcomeCounts } from "../churn/departures.ts";
import type { Choice } from "../churn/ladder.ts";
import type { ModelTraits } from "../queries/lists/stored-score.ts";
import type { EngagementScale } from "../scores/engagement.ts";
import type { Features } from "../scores/features.ts";
import { absoluteRiskScale, type RiskScale } from "../scores/risk-scale.ts";
import { settingsKey } from "../scores/settings.ts";
import type { Metrics } from "../statistics/metrics.ts";
import { excludedOfKey } from "./population.ts";
import type { ModelBody, RunBody, ScaleBody, SegmentsOfRun } from "./record-bodies.ts";

type OlderModel = ChurnModel & { readonly segments?: SegmentsOfRun };
type OlderScale = Omit<EngagementScale, "leastSeenDays"> & Partial<EngagementScale>;
type OlderChoice = Omit<Choice, "isProvisional"> & Partial<Choice> & { readonly segmentTrait?: string };
/** Without standard errors, and with as many departures as labels. */
type OlderResult = Omit<ModelResult, "model" | "metrics" | keyof OutcomeCounts> &
  Partial<OutcomeCounts> & {
    readonly model: string;
    readonly metrics: Omit<Metrics, "calibrationSlopeError" | "biasError"> & Partial<Metrics>;
  };

/** A run as it was stored, perhaps by version 0.1.0. */
export type StoredRun = Omit<
  RunBody,
  "settings" | "outages" | "model" | "choice" | "riskScale" | "backtest" | "segments" | "scale"
> & {
  readonly settings: StoredSettings;
  readonly outages?: RunBody["outages"];
  readonly model: OlderModel | null;
  readonly scale: { readonly scale: OlderScale };
  readonly choice: OlderChoice;
  readonly riskScale?: RiskScale;
  readonly backtest: Omit<RunBody["backtest"], "results"> & { readonly results: readonly OlderResult[] };
};

/** A weekly training as it was stored, perhaps by version 0.1.0. */
export type StoredModel = Omit<ModelBody, "rungs" | "backtest"> & {
  readonly rungs: readonly OlderModel[];
  readonly backtest: StoredRun["backtest"];
};

/** A scale as it was stored, perhaps by version 0.1.0. */
export type StoredScale = Omit<ScaleBody, "scale"> & StoredRun["scale"];

/** A run of any version. The back-test's figures of the rung that served are those of its segments, if it had
 * some. */
export function runOfStored(stored: StoredRun): RunBody {
  const { settings, model, choice, backtest, scale, ...body } = stored;
  const { segmentTrait, ...chosen } = choice;
  const name = `rung ${choice.rung}`;
  const results =
    segmentTrait === undefined
      ? backtest.results
      : backtest.results
          .filter((result) => result.model !== name)
          .map((result) => (result.model === `${name} by segment` ? { ...result, model: name } : result));
  const current = currentSettings(settings);
  const common = {
    ...body,
    settings: current,
    settingsKey: `${settingsKey(current)} ${excludedOfKey(body.settingsKey)}`,
    outages: body.outages ?? [],
    choice: { isProvisional: false, ...chosen },
    riskScale: body.riskScale ?? absoluteRiskScale,
    scale: scaleOfStored(scale),
    backtest: { ...backtest, results: resultsOfStored(results) },
  };
  if (model?.segments === undefined) return { ...common, model };
  const { segments, ...pooled } = model;
  return { ...common, model: pooled, segments };
}

/** A scale of any version. */
export function scaleOfStored<Stored extends StoredRun["scale"]>({ scale, ...rest }: Stored) {
  return { ...rest, scale: { leastSeenDays: 7, ...scale } };
}

/** A training of any version, with the rungs that can still serve. */
export function modelOfStored({ rungs, backtest, ...body }: StoredModel): ModelBody {
  return {
    ...body,
    rungs: rungs.filter(({ segments }) => segments === undefined),
    backtest: { ...backtest, results: resultsOfStored(backtest.results) },
  };
}

function resultsOfStored(results: readonly OlderResult[]): ModelResult[] {
  return results.filter(isOfModel).map(({ metrics, ...result }) => {
    const departures = Math.round(metrics.count * metrics.baseRate);
    return {
      departures,
      involuntary: 0,
      retained: metrics.count - departures,
      ...result,
      metrics: { calibrationSlopeError: null, biasError: null, ...metrics },
    };
  });
}

function isOfModel(result: OlderResult): result is OlderResult & { readonly model: ModelName } {
  return !result.model.endsWith(" by segment");
}

/** The traits that a run's model looks at, in the order in which its scores store them. */
export function traitsOfRun({ model, segments }: RunBody): ModelTraits {
  const traits =
    segments === undefined
      ? traitsOfModel(model)
      : segments.values.map(({ value }) => ({ trait: segments.trait, value }));
  return { traits, numbers: numbersOfModel(model) };
}

/** The model that gave an entity its score. @param isChurned the churned went by the model's own
 * parameters */
export function modelOfEntity(
  { model, segments }: RunBody,
  { traits }: Features,
  isChurned: boolean,
): ChurnModel | null {
  const own = segments?.values.find(({ value }) => value === traits[segments.trait]);
  return model === null || own === undefined || isChurned ? model : { ...model, bgbb: own.parameters };
}
