/**
 * Churn risk: P(no engagement event in [T, T+H)), by the rung of the ladder that serves. A model is plain data; a
 * scorer turns features into a risk and says, in log-odds that add up, what it comes from.
 */

import { daysPerPeriod, windowPeriods } from "../scores/features.ts";
import type { ScoredFeatures } from "../scores/state.ts";
import {
  type Contributions,
  contributionOf,
  noContributions,
  type RidgeModel,
  ridgeContributions,
  ridgeLogOdds,
} from "../statistics/logistic.ts";
import { calibrate, type Platt } from "../statistics/platt.ts";
import { logistic, logit } from "../statistics/special.ts";
import { at, clamp } from "../statistics/vectors.ts";
import { Bgbb, type BgbbParameters, type Cell } from "./bgbb.ts";
import {
  bgbbColumn,
  clippedLogOdds,
  type DesignColumn,
  type FeatureGroup,
  type TraitValue,
} from "./columns.ts";
import { columnsNamed, type Design, rowOf } from "./design.ts";

/** 0 prior, 1 BG/BB, 2 BG/BB with Platt calibration, 3 ridge logistic regression. */
export type Rung = 0 | 1 | 2 | 3;

interface AnyModel {
  readonly horizonDays: number;
  readonly bgbb: BgbbParameters;
  /** The log-odds of the entity that contributions are compared with. */
  readonly referenceLogOdds: number;
  /** For churned entities: the calibration of BG/BB's silence on the outcomes of earlier ones; raw without it. */
  readonly churnedPlatt?: Platt;
}

export type ChurnModel =
  | (AnyModel & { readonly rung: 0 | 1 })
  | (AnyModel & { readonly rung: 2; readonly platt: Platt })
  | (AnyModel & { readonly rung: 3; readonly design: Design; readonly ridge: RidgeModel });

export interface RiskScore {
  readonly risk: number;
  /** In log-odds: with the model's reference they add up to logit(risk). */
  readonly contributions: Contributions;
  /** Of the single events that the model counts, the one with the largest part in `mix`. Null without one. */
  readonly decisiveEvent: string | null;
}

/** BG/BB tables that are long enough for every cell of the window and this horizon. */
export function tablesFor(parameters: BgbbParameters, horizonDays: number): Bgbb {
  return new Bgbb(parameters, windowPeriods + Math.ceil(horizonDays / daysPerPeriod));
}

/** The probability of silence over the horizon. */
export function silenceOver(horizonDays: number, tables: Bgbb, cell: Cell): number {
  return tables.silentProbability(cell, horizonDays / daysPerPeriod);
}

/** The log-odds of BG/BB's risk; finite where rounding makes the risk one. */
export function bgbbLogOdds(risk: number): number {
  return logit(clamp(risk, 1e-12, 1 - 1e-12));
}

/** The values of traits that a model looks at: only the third rung does. */
export function traitsOfModel(model: ChurnModel | null): readonly TraitValue[] {
  return model?.rung === 3 ? model.design.traits : [];
}

/** The numeric traits that a model looks at. */
export function numbersOfModel(model: ChurnModel | null): readonly string[] {
  return model?.rung === 3 ? (model.design.numbers ?? []) : [];
}

/** The events that a model counts one by one. */
export function eventsOfModel(model: ChurnModel | null): readonly string[] {
  return model?.rung === 3 ? (model.design.events ?? []) : [];
}

/** The groups of features that a model has; undefined for the rungs without. */
export function groupsOfModel(model: ChurnModel | null): readonly FeatureGroup[] | undefined {
  if (model?.rung !== 3) return undefined;
  const columns = columnsNamed(
    model.design,
    model.ridge.columns.map(({ name }) => name),
  );
  return [...new Set(columns.map(({ featureGroup }) => featureGroup))];
}

type Silence = (cell: Cell) => number;

/** The probability of silence over the horizon as a function of the cell; make it once and use it for all. */
export function silenceBy(horizonDays: number, parameters: BgbbParameters): Silence {
  const tables = tablesFor(parameters, horizonDays);
  return (cell) => silenceOver(horizonDays, tables, cell);
}

/** A function that scores entities by this model; make it once and use it for all of them. */
export function riskScorer(model: ChurnModel): (features: ScoredFeatures) => RiskScore {
  const silence = silenceBy(model.horizonDays, model.bgbb);
  if (model.rung === 3) {
    const columns = columnsNamed(
      model.design,
      model.ridge.columns.map(({ name }) => name),
    );
    return (features) => ridgeScore(model, columns, features, silence);
  }
  return ({ cell }) => bgbbScore(model, cell, silence);
}

/**
 * The probability that a churned entity comes back within the horizon. It is one minus BG/BB's probability of
 * silence, calibrated on the churned: their returns differ from those of active entities.
 */
export function returnProbability({ bgbb, horizonDays, churnedPlatt }: ChurnModel, cell: Cell): number {
  const silence = silenceBy(horizonDays, bgbb)(cell);
  if (churnedPlatt === undefined) return 1 - silence;
  return logistic(-calibrate(churnedPlatt, bgbbLogOdds(silence)));
}

/** The history as of its last active period: all later periods are silent. */
function beforeSilence({ x, t }: Cell): Cell {
  return { x, t, n: t };
}

function bgbbScore(model: Exclude<ChurnModel, { rung: 3 }>, cell: Cell, silence: Silence): RiskScore {
  const bgbbRisk = silence(cell);
  const active = bgbbLogOdds(silence(beforeSilence(cell)));
  const now = bgbbLogOdds(bgbbRisk);
  const calibrated = model.rung === 2 ? calibrate(model.platt, now) : now;
  return {
    // Not through log-odds and back: the same history has to have the same risk to the last digit.
    risk: model.rung === 2 ? logistic(calibrated) : bgbbRisk,
    decisiveEvent: null,
    contributions: {
      ...noContributions,
      silence: now - active,
      frequency: active - model.referenceLogOdds,
      calibration: calibrated - now,
    },
  };
}

/** BG/BB's own column speaks for silence and for frequency: it is divided as on the rungs below. */
function ridgeScore(
  { ridge }: ChurnModel & { rung: 3 },
  columns: readonly DesignColumn[],
  features: ScoredFeatures,
  silence: Silence,
): RiskScore {
  const row = rowOf(columns, { features, bgbbRisk: silence(features.cell) });
  const risk = logistic(ridgeLogOdds(ridge, row));
  const contributions = ridgeContributions(ridge, row);
  const decisiveEvent = decisiveEventOf(ridge, columns, row, contributions.mix);
  const column = ridge.columns.find(({ name }) => name === bgbbColumn);
  if (column === undefined || column.standardDeviation === 0) return { risk, contributions, decisiveEvent };
  const active = clippedLogOdds(silence(beforeSilence(features.cell)));
  const frequency = (column.weight * (active - column.mean)) / column.standardDeviation;
  return {
    ...{ risk, decisiveEvent },
    contributions: {
      ...contributions,
      silence: contributions.silence - frequency,
      frequency: contributions.frequency + frequency,
    },
  };
}

/** The event whose column moves `mix` the most, in its own direction; null when that is no event's column. */
function decisiveEventOf(
  { columns: fitted }: RidgeModel,
  columns: readonly DesignColumn[],
  row: Float64Array,
  mix: number,
): string | null {
  let [event, largest]: [string | null, number] = [null, 0];
  for (const [index, column] of fitted.entries()) {
    if (column.group !== "mix") continue;
    const part = Math.sign(mix) * contributionOf(column, at(row, index));
    if (part > largest) [event, largest] = [columns[index]?.event ?? null, part];
  }
  return event;
}
