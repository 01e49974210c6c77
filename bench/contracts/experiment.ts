/** Trains and evaluates the model of contracts. The split is by time: it is trained on earlier cut-offs. */
import { msPerDay } from "../../server/calendar/calendar.ts";
import { recencyBaseline } from "../../server/scoring/churn/baselines.ts";
import type { Cell } from "../../server/scoring/churn/bgbb.ts";
import { type CountedCell, fitBgbb } from "../../server/scoring/churn/bgbb-fit.ts";
import { silenceBy } from "../../server/scoring/churn/churn-model.ts";
import { clippedLogOdds, type DesignInput, type FeatureGroup } from "../../server/scoring/churn/columns.ts";
import { columnsOf, designFor, rowOf } from "../../server/scoring/churn/design.ts";
import { isCanceling } from "../../server/scoring/scores/billing.ts";
import { fitRidge, ridgeLogOdds } from "../../server/scoring/statistics/logistic.ts";
import { type Metrics, metricsOf, type Prediction } from "../../server/scoring/statistics/metrics.ts";
import { logistic } from "../../server/scoring/statistics/special.ts";
import { mean } from "../../server/scoring/statistics/vectors.ts";
import { Contracts } from "../../simulation/contracts/contracts.ts";
import { accountAt, type ContractRow, horizonDays } from "./lives.ts";

/** Months of 28 days: without training, as the longest feature looks back so far; of training; of evaluation. */
const [warmUpMonths, trainingMonths, testMonths] = [4, 13, 13];
const weeks = 4 * (warmUpMonths + trainingMonths + testMonths);
/** 17 June 2026. */
const endDay = Date.UTC(2026, 5, 17) / msPerDay;

/** A row with everything that its columns need. */
export interface PreparedRow extends DesignInput {
  readonly label: boolean;
  readonly endProbability: number;
}

/** The rows of running contracts: of the months of training, and of those after them. */
export interface ContractData {
  readonly training: readonly PreparedRow[];
  /** Empty unless asked for. */
  readonly test: readonly PreparedRow[];
}

/** Simulates accounts and reads their rows. */
export function contractData(
  { seed, accounts }: { readonly seed: number; readonly accounts: number },
  withTest: boolean,
): ContractData {
  const contracts = new Contracts({ seed, accounts, weeks, endDay });
  const months = trainingMonths + (withTest ? testMonths : 0);
  const cutoffs = Array.from({ length: months }, (_, month) => new Cutoff(dayOfMonth(contracts, month)));
  const days = cutoffs.map(({ day }) => day);
  for (let number = 0; number < accounts; number += 1) {
    for (const [month, at] of accountAt(contracts, number, days).entries()) cutoffs[month]?.add(at);
  }
  const prepared = cutoffs.map((cutoff) => cutoff.prepared());
  return {
    training: prepared.slice(0, trainingMonths).flat(),
    test: prepared.slice(trainingMonths).flat(),
  };
}

function dayOfMonth({ firstDay }: Contracts, month: number): number {
  return firstDay + (warmUpMonths + month) * horizonDays;
}

/** The entities of a cut-off day. */
class Cutoff {
  readonly day: number;
  readonly #rows: ContractRow[] = [];
  readonly #accounts = new Map<number, CountedCell>();
  readonly #users = new Map<number, CountedCell>();

  constructor(day: number) {
    this.day = day;
  }

  add({ cell, userCells, row }: ReturnType<typeof accountAt>[number]): void {
    if (cell !== null) count(this.#accounts, cell);
    for (const each of userCells) count(this.#users, each);
    if (row !== undefined) this.#rows.push(row);
  }

  /** With the risks by BG/BB, whose fits are of this day. */
  prepared(): PreparedRow[] {
    const silence = silenceBy(horizonDays, fitBgbb([...this.#accounts.values()]).parameters);
    const ofUser = silenceBy(horizonDays, fitBgbb([...this.#users.values()]).parameters);
    return this.#rows.map(({ features, memberCells, ...row }) => {
      const logOdds = memberCells.map((cell) => clippedLogOdds(ofUser(cell)));
      const members = features.members && {
        ...features.members,
        meanRiskLogOdds: logOdds.length === 0 ? null : mean(logOdds),
      };
      return { ...row, features: { ...features, members }, bgbbRisk: silence(features.cell) };
    });
  }
}

function count(cells: Map<number, CountedCell>, { x, t, n }: Cell): void {
  const key = (x * 32 + t) * 32 + n;
  cells.set(key, { x, t, n, count: (cells.get(key)?.count ?? 0) + 1 });
}

export type Risk = (row: PreparedRow) => number;

/** Trains the ridge on all groups of features, or without one. */
export function trainContracts(rows: readonly PreparedRow[], without?: FeatureGroup): Risk {
  const columns = columnsOf(designFor(rows)).filter(({ featureGroup }) => featureGroup !== without);
  const valuesOf = (row: PreparedRow) => rowOf(columns, row);
  const ridge = fitRidge(
    columns,
    rows.map(valuesOf),
    rows.map(({ label }) => label),
  );
  return (row) => logistic(ridgeLogOdds(ridge, valuesOf(row)));
}

/** The model that looks at idle days alone. @throws RangeError when labels are of one class */
export function trainIdleOnly(rows: readonly PreparedRow[]): Risk {
  const baseline = recencyBaseline(rows);
  if (baseline === null) throw new RangeError("all labels are the same");
  return ({ features }) => baseline(features);
}

/** The rows whose end is not scheduled yet: only these are predicted. */
export function withoutCanceling(rows: readonly PreparedRow[]): PreparedRow[] {
  return rows.filter(({ features }) => !isCanceling(features.billing));
}

/** The contracts that ended in the rows' horizons. These do not overlap, so none is counted twice. */
export function departuresIn(rows: readonly PreparedRow[]): number {
  return rows.filter(({ label }) => label).length;
}

/** The figures of a model. @throws RangeError without departures */
export function evaluate(risk: Risk, rows: readonly PreparedRow[]): Metrics & { readonly auc: number } {
  const predictions = rows.map((row): Prediction => ({ predicted: risk(row), label: row.label }));
  const metrics = metricsOf(predictions);
  if (metrics === null || metrics.auc === null) throw new RangeError("there is no departure to predict");
  return { ...metrics, auc: metrics.auc };
}
