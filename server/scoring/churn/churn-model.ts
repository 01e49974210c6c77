/**
 * Churn risk: P(no engagement event in [T, T+H)), by the rung of the ladder that serves. A model is plain
 * data; a scorer turns features into a risk and says, in log-odds that add up, what it comes from.
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
import type { DesignColumn, FeatureGroup, TraitValue } from "./columns.ts";
import { columnsNamed, type Design, rowOf } from "./design.ts";

/** Steps of the ladder: 0 prior, 1 BG/BB, 2 BG/BB with Platt calibration, 3 ridge logistic regression. Beside
 * it, as baselines that serve while nothing beats them: 4 recency, 5 days to the end of the period, 6 the
 * base rate. Records have these numbers. */
export type Rung = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** Whether a rung is a baseline. */
export function isBaseline(rung: Rung): rung is 4 | 5 | 6 {
  return rung >= 4;
}

interface AnyModel {
  readonly horizonDays: number;
  readonly bgbb: BgbbParameters;
  /** The log-odds of the entity that contributions are compared with. */
  readonly referenceLogOdds: number;
  /** For churned entities: the calibration of BG/BB's silence on the outcomes of earlier churned entities;
   * without it the silence is raw. */
  readonly churnedPlatt?: Platt;
  /** Whether BG/BB counts by the day between whole periods. Models of earlier releases lack it. */
  readonly isByDay?: true;
}

export type ChurnModel =
  | (AnyModel & { readonly rung: 0 | 1 })
  | (AnyModel & { readonly rung: 2; readonly platt: Platt })
  | RidgeChurnModel;

/** Baselines are logistic regressions on one fact, or on none. */
export type RidgeChurnModel = AnyModel & {
  readonly rung: 3 | 4 | 5 | 6;
  readonly design: Design;
  readonly ridge: RidgeModel;
};

/** Whether a model is a logistic regression on columns. */
export function isRidge(model: ChurnModel | null): model is RidgeChurnModel {
  return model !== null && model.rung >= 3;
}

export interface RiskScore {
  readonly risk: number;
  /** In log-odds: with the model's reference they add up to logit(risk). */
  readonly contributions: Contributions;
  /** The single event with the largest part in `mix`; null if no event counts. */
  readonly decisiveEvent: string | null;
}

/** BG/BB tables that are long enough for every cell of the window, one silent period more, and this
 * horizon. */
export function tablesFor(parameters: BgbbParameters, horizonDays: number): Bgbb {
  return new Bgbb(parameters, windowPeriods + 1 + Math.ceil(horizonDays / daysPerPeriod));
}

/** The probability of silence over the horizon, of a history in whole periods. */
function silenceOver(horizonDays: number, tables: Bgbb, cell: Cell): number {
  return tables.silentProbability(cell, horizonDays / daysPerPeriod);
}

/** A history in whole periods, and the days since the last activity. */
export interface DatedCell extends Cell {
  readonly idleDays: number;
}

/** Days of silence in the period of the last activity at which the history in whole periods is exact: the
 * middle day. */
export const middleDayOfPeriod = 3;

/** Days from the middle of the period of the last activity to its day: from −3 to 3. */
function daysFromMiddle(idleDays: number): number {
  return ((idleDays - 1) % daysPerPeriod) - middleDayOfPeriod;
}

/**
 * The probability of silence over the horizon, between whole periods by the day: ln(risk) is interpolated to
 * the history with one silent period more or less. By whole periods alone the risk jumped on the day on which
 * a period became silent: on simulated contracts from .15 to .41, where .20 and .26 left. In the period of
 * the newest day there is none before.
 */
export function silenceBetween(horizonDays: number, tables: Bgbb, { idleDays, ...cell }: DatedCell): number {
  const here = silenceOver(horizonDays, tables, cell);
  const days = daysFromMiddle(idleDays);
  if (days === 0 || (days < 0 && cell.n === cell.t)) return here;
  const near = silenceOver(horizonDays, tables, { ...cell, n: cell.n + Math.sign(days) });
  return here * (near / here) ** (Math.abs(days) / daysPerPeriod);
}

/** The log-odds of BG/BB's risk; finite where rounding makes the risk one. */
export function bgbbLogOdds(risk: number): number {
  return logit(clamp(risk, 1e-12, 1 - 1e-12));
}

/** The values of traits that a model reads: only regressions read traits. */
export function traitsOfModel(model: ChurnModel | null): readonly TraitValue[] {
  return isRidge(model) ? model.design.traits : [];
}

/** The numeric traits that a model reads. */
export function numbersOfModel(model: ChurnModel | null): readonly string[] {
  return isRidge(model) ? (model.design.numbers ?? []) : [];
}

/** The events that a model counts one by one. */
export function eventsOfModel(model: ChurnModel | null): readonly string[] {
  return isRidge(model) ? (model.design.events ?? []) : [];
}

/** What a ridge regression is trained with, beside its data. */
export interface RidgeKind {
  /** λ. */
  readonly penalty: number;
  /** Groups of features; all that the data has unless given. */
  readonly groups?: readonly FeatureGroup[] | undefined;
}

/** The groups of features that a model has; undefined unless it is of rung 3. */
export function groupsOfModel(model: ChurnModel | null): readonly FeatureGroup[] | undefined {
  if (model?.rung !== 3) return undefined;
  const columns = columnsNamed(
    model.design,
    model.ridge.columns.map(({ name }) => name),
  );
  return [...new Set(columns.map(({ featureGroup }) => featureGroup))];
}

interface Silence {
  /** By whole periods. */
  readonly of: (cell: Cell) => number;
  /** By the day. */
  readonly on: (history: Pick<ScoredFeatures, "cell" | "idleDays">) => number;
}

/** The probability of silence over the horizon as a function of the history; make it once and use it for
 * all. */
export function silenceBy(horizonDays: number, parameters: BgbbParameters): Silence {
  const tables = tablesFor(parameters, horizonDays);
  return {
    of: (cell) => silenceOver(horizonDays, tables, cell),
    on: ({ cell, idleDays }) => silenceBetween(horizonDays, tables, { ...cell, idleDays }),
  };
}

/** The silence as the model counts it, by whole periods or by the day: old scores are explained as they were
 * computed. */
function silenceOf({ horizonDays, bgbb, isByDay }: ChurnModel): Silence {
  const silence = silenceBy(horizonDays, bgbb);
  return isByDay === true ? silence : { ...silence, on: ({ cell }) => silence.of(cell) };
}

/** A function that scores entities by this model; make it once and use it for all of them. */
export function riskScorer(model: ChurnModel): (features: ScoredFeatures) => RiskScore {
  const silence = silenceOf(model);
  if (isRidge(model)) {
    const columns = columnsNamed(
      model.design,
      model.ridge.columns.map(({ name }) => name),
    );
    return (features) => ridgeScore(model, columns, features, silence);
  }
  return (features) => bgbbScore(model, features, silence);
}

/**
 * The probability that a churned entity comes back within the horizon. It is one minus BG/BB's probability of
 * silence, calibrated on the churned: their returns differ from those of active entities.
 */
export function returnProbability(
  model: ChurnModel,
  history: Pick<ScoredFeatures, "cell" | "idleDays">,
): number {
  const { churnedPlatt } = model;
  const silence = silenceOf(model).on(history);
  if (churnedPlatt === undefined) return 1 - silence;
  return logistic(-calibrate(churnedPlatt, bgbbLogOdds(silence)));
}

function bgbbScore(
  model: Exclude<ChurnModel, RidgeChurnModel>,
  features: ScoredFeatures,
  silence: Silence,
): RiskScore {
  const bgbbRisk = silence.on(features);
  const now = bgbbLogOdds(bgbbRisk);
  const calibrated = model.rung === 2 ? calibrate(model.platt, now) : now;
  return {
    // Not through log-odds and back: the same history has to have the same risk to the last digit.
    risk: model.rung === 2 ? logistic(calibrated) : bgbbRisk,
    decisiveEvent: null,
    contributions: { ...noContributions, use: now - model.referenceLogOdds, other: calibrated - now },
  };
}

function ridgeScore(
  { ridge }: RidgeChurnModel,
  columns: readonly DesignColumn[],
  features: ScoredFeatures,
  silence: Silence,
): RiskScore {
  const row = rowOf(columns, { features, bgbbRisk: silence.on(features) });
  const contributions = ridgeContributions(ridge, columns, row);
  const decisiveEvent = decisiveEventOf(ridge, columns, row, contributions.mix);
  return { risk: logistic(ridgeLogOdds(ridge, row)), contributions, decisiveEvent };
}

/** The event whose column moves `mix` the most, in its own direction; null when that is no event's column. */
function decisiveEventOf(
  { columns: fitted }: RidgeModel,
  columns: readonly DesignColumn[],
  row: Float64Array,
  mix: number,
): string | null {
  let [event, largest]: [string | null, number] = [null, 0];
  for (const [index, { group, event: counted = null }] of columns.entries()) {
    const column = fitted[index];
    if (group !== "mix" || column === undefined) continue;
    const part = Math.sign(mix) * contributionOf(column, at(row, index));
    if (part > largest) [event, largest] = [counted, part];
  }
  return event;
}
