/** Trains and evaluates the model of contracts. The split is by time: it is trained on earlier cut-offs,
 * every 14 days as in the service, and evaluated on those of later months. */
import { msPerDay } from "../../server/calendar/zone.ts";
import { baselineModel } from "../../server/scoring/churn/baselines.ts";
import { type Cell, priorParameters } from "../../server/scoring/churn/bgbb.ts";
import { type CountedCell, fitBgbb } from "../../server/scoring/churn/bgbb-fit.ts";
import { riskScorer, silenceBy } from "../../server/scoring/churn/churn-model.ts";
import { clippedLogOdds, type DesignInput, type FeatureGroup } from "../../server/scoring/churn/columns.ts";
import { countOutcomes, type Outcome } from "../../server/scoring/churn/departures.ts";
import { columnsOf, designFor, rowOf } from "../../server/scoring/churn/design.ts";
import { trainingDaysFor } from "../../server/scoring/churn/folds.ts";
import { ridgeKinds } from "../../server/scoring/churn/train.ts";
import { isCanceling } from "../../server/scoring/scores/billing.ts";
import { fitRidge, ridgeLogOdds } from "../../server/scoring/statistics/logistic.ts";
import { type Metrics, metricsOf, type Prediction } from "../../server/scoring/statistics/metrics.ts";
import { logistic } from "../../server/scoring/statistics/special.ts";
import { mean } from "../../server/scoring/statistics/vectors.ts";
import { Contracts } from "../../test/simulation/contracts/contracts.ts";
import { withSeatsAndPulses } from "./judged.ts";
import { accountAt, type ContractRow, horizonDays } from "./lives.ts";

/** Months of 28 days: without training, as the longest feature looks back so far; of training; of
 * evaluation. */
const [warmUpMonths, trainingMonths, testMonths] = [4, 13, 13];
const weeks = 4 * (warmUpMonths + trainingMonths + testMonths);
/** 17 June 2026. */
const endDay = Date.UTC(2026, 5, 17) / msPerDay;

/** A row with everything that its columns need. */
export interface PreparedRow extends DesignInput, Outcome {
  readonly endProbability: number | null;
}

/** The rows of running contracts. */
export interface ContractData {
  /** Of every second week of the months of training. */
  readonly training: readonly PreparedRow[];
  /** Of the months after them. Empty unless asked for. */
  readonly test: readonly PreparedRow[];
}

/** Simulates accounts and reads their rows. @param isJudged with seats and pulses, and the ends that only they
 * announce */
export function contractData(
  {
    seed,
    accounts,
    isJudged = false,
  }: { readonly seed: number; readonly accounts: number; readonly isJudged?: boolean },
  withTest: boolean,
): ContractData {
  const contracts = new Contracts({ seed, accounts, weeks, endDay });
  const testDays = Array.from({ length: withTest ? testMonths : 0 }, (_, month) => testDay(contracts, month));
  const trainingDays = trainingDaysFor(testDay(contracts, 0), contracts.firstDay, horizonDays).reverse();
  const cutoffs = [...trainingDays, ...testDays].map((day) => new Cutoff(day));
  const days = cutoffs.map(({ day }) => day);
  for (let number = 0; number < accounts; number += 1) {
    const simulated = accountAt(contracts, number, days);
    const lives = isJudged
      ? withSeatsAndPulses({ seed, number }, simulated, { firstDay: contracts.firstDay, days: 7 * weeks })
      : simulated;
    for (const [index, at] of lives.entries()) cutoffs[index]?.add(number, at);
  }
  const prepared = cutoffs.map((cutoff) => cutoff.prepared());
  return {
    training: prepared.slice(0, trainingDays.length).flat(),
    test: prepared.slice(trainingDays.length).flat(),
  };
}

function testDay({ firstDay }: Contracts, month: number): number {
  return firstDay + (warmUpMonths + trainingMonths + month) * horizonDays;
}

/** The entities of a cut-off day. */
class Cutoff {
  readonly day: number;
  readonly #rows: (ContractRow & { readonly entity: number })[] = [];
  readonly #accounts = new Map<number, CountedCell>();
  readonly #users = new Map<number, CountedCell>();

  constructor(day: number) {
    this.day = day;
  }

  add(entity: number, { cell, userCells, row }: ReturnType<typeof accountAt>[number]): void {
    if (cell !== null) count(this.#accounts, cell);
    for (const each of userCells) count(this.#users, each);
    if (row !== undefined) this.#rows.push({ entity, ...row });
  }

  /** With the risks by BG/BB, whose fits are of this day. */
  prepared(): PreparedRow[] {
    const silence = silenceBy(horizonDays, fitBgbb([...this.#accounts.values()]).parameters);
    const ofUser = silenceBy(horizonDays, fitBgbb([...this.#users.values()]).parameters);
    return this.#rows.map(({ features, memberCells, ...row }) => {
      const logOdds = memberCells.map((cell) => clippedLogOdds(ofUser.on(cell)));
      const members = features.members && {
        ...features.members,
        meanRiskLogOdds: logOdds.length === 0 ? null : mean(logOdds),
      };
      const ofThen = { cutoffDay: this.day, bgbbRisk: silence.on(features) };
      return { ...row, ...ofThen, features: { ...features, members } };
    });
  }
}

function count(cells: Map<number, CountedCell>, { x, t, n }: Cell): void {
  const key = (x * 32 + t) * 32 + n;
  cells.set(key, { x, t, n, count: (cells.get(key)?.count ?? 0) + 1 });
}

export type Risk = (row: PreparedRow) => number;

/** Trains the ridge on all columns, or without a group of them. The rows are in order of their cut-offs. */
export function trainContracts(rows: readonly PreparedRow[], without?: FeatureGroup): Risk {
  const lastDay = rows.at(-1)?.cutoffDay;
  const design = designFor(
    rows.filter(({ cutoffDay }) => cutoffDay === lastDay),
    [],
    horizonDays,
  );
  const columns = columnsOf(design).filter(({ featureGroup }) => featureGroup !== without);
  const valuesOf = (row: PreparedRow) => rowOf(columns, row);
  const ridge = fitRidge(
    columns,
    rows.map(valuesOf),
    rows.map(({ label }) => label),
    undefined,
    ridgeKinds(true)[0]?.penalty,
  );
  return (row) => logistic(ridgeLogOdds(ridge, valuesOf(row)));
}

/** The model that looks at idle days alone. @throws RangeError when labels are of one class */
export function trainIdleOnly(rows: readonly PreparedRow[]): Risk {
  const baseline = baselineModel(4, { horizonDays, bgbb: priorParameters, rows });
  if (baseline === null) throw new RangeError("all labels are the same");
  const score = riskScorer(baseline);
  return ({ features }) => score(features).risk;
}

/** The rows whose end is not scheduled yet: only these are predicted. */
export function withoutCanceling(rows: readonly PreparedRow[]): PreparedRow[] {
  return rows.filter(({ features }) => !isCanceling(features.billing));
}

/** The contracts that ended in the rows' horizons, each counted once. */
export function departuresIn(rows: readonly PreparedRow[]): number {
  return countOutcomes(rows, horizonDays).departures;
}

/** The true probability of a row of the months of evaluation. @throws RangeError for another row */
export function trueProbability({ endProbability }: PreparedRow): number {
  if (endProbability === null) throw new RangeError("the cut-off is no first day of a month");
  return endProbability;
}

/** The figures of a model. @throws RangeError without departures */
export function evaluate(risk: Risk, rows: readonly PreparedRow[]): Metrics & { readonly auc: number } {
  const predictions = rows.map((row): Prediction => ({ predicted: risk(row), label: row.label }));
  const metrics = metricsOf(predictions);
  if (metrics === null || metrics.auc === null) throw new RangeError("there is no departure to predict");
  return { ...metrics, auc: metrics.auc };
}
