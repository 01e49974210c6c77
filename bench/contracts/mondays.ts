/** Simulated contracts as a service sees them on its Mondays: snapshots, weekly trainings and risks. */
import { msPerDay } from "../../server/calendar/zone.ts";
import {
  type Backtest,
  backtest,
  type FittedSnapshot,
  fitSnapshot,
} from "../../server/scoring/churn/backtest.ts";
import type { Cell } from "../../server/scoring/churn/bgbb.ts";
import { type CountedCell, fitBgbb } from "../../server/scoring/churn/bgbb-fit.ts";
import { riskScorer, silenceBy } from "../../server/scoring/churn/churn-model.ts";
import { clippedLogOdds } from "../../server/scoring/churn/columns.ts";
import { designFor } from "../../server/scoring/churn/design.ts";
import { planFolds, trainingDaysFor } from "../../server/scoring/churn/folds.ts";
import { type Choice, chooseRung, type Incumbent, incumbentOf } from "../../server/scoring/churn/ladder.ts";
import { allRows, type Snapshot, type SnapshotRow } from "../../server/scoring/churn/snapshot.ts";
import { atOnce } from "../../server/scoring/churn/steps.ts";
import { countData, trainRungs } from "../../server/scoring/churn/train.ts";
import { isCanceling } from "../../server/scoring/scores/billing.ts";
import type { ScoredFeatures } from "../../server/scoring/scores/state.ts";
import { mean } from "../../server/scoring/statistics/vectors.ts";
import { Contracts } from "../../test/simulation/contracts/contracts.ts";
import { type AccountAt, accountAt, type ContractRow, horizonDays } from "./lives.ts";

/** The day after the log is a Monday, and so is the first day of each of the simulation's months of 28
 * days. */
const endDay = Date.UTC(2026, 5, 15) / msPerDay;
const weeks = 104;

/** A simulated company: accounts with contracts, on each Monday of two years whose outcome is known. */
export interface Company {
  readonly firstDay: number;
  /** By day. */
  readonly snapshots: ReadonlyMap<number, Snapshot>;
  /** The true probability of an end within the horizon, by day and account, on the first days of the
   * simulation's months. */
  readonly truth: ReadonlyMap<number, ReadonlyMap<number, number>>;
  /** The Mondays on which it is scored, the newest last. */
  readonly mondays: readonly number[];
  /** Events that have columns however rare they are; none unless given. */
  readonly keyEvents?: readonly string[];
}

/** Simulates a company. @param scoredWeeks its last Mondays, with known outcomes */
export function companyOf(options: { seed: number; accounts: number }, scoredWeeks: number): Company {
  const contracts = new Contracts({ ...options, weeks, endDay });
  const { firstDay } = contracts;
  const days: number[] = [];
  for (let day = endDay - horizonDays; day >= firstDay + 112; day -= 7) days.unshift(day);
  const lives = Array.from({ length: options.accounts }, (_, number) => accountAt(contracts, number, days));
  const { snapshots, truth } = snapshotsOf(days, lives);
  return { firstDay, snapshots, truth, mondays: days.slice(-scoredWeeks) };
}

/** The snapshots of these days, and the true probabilities where accounts have them. @param lives each
 * account on each of the days */
export function snapshotsOf(
  days: readonly number[],
  lives: readonly (readonly AccountAt[])[],
): Pick<Company, "snapshots" | "truth"> {
  const read = days.map((day) => ({
    day,
    cells: new Map<string, CountedCell>(),
    userCells: new Map<string, CountedCell>(),
    rows: [] as (ContractRow & { readonly entity: number })[],
  }));
  for (const [number, life] of lives.entries()) {
    for (const [index, { cell, userCells, row }] of life.entries()) {
      const on = read[index];
      if (on === undefined) continue;
      if (cell !== null) count(on.cells, cell);
      for (const each of userCells) count(on.userCells, each);
      if (row !== undefined) on.rows.push({ entity: number + 1, ...row });
    }
  }
  return {
    snapshots: new Map(read.map((on) => [on.day, snapshotOf(on)])),
    truth: new Map(
      read.map(({ day, rows }) => [
        day,
        new Map(rows.flatMap(({ entity, endProbability: p }) => (p === null ? [] : [[entity, p]]))),
      ]),
    ),
  };
}

function count(cells: Map<string, CountedCell>, { x, t, n }: Cell): void {
  const key = `${x} ${t} ${n}`;
  cells.set(key, { x, t, n, count: (cells.get(key)?.count ?? 0) + 1 });
}

function snapshotOf(on: {
  readonly day: number;
  readonly cells: ReadonlyMap<string, CountedCell>;
  readonly userCells: ReadonlyMap<string, CountedCell>;
  readonly rows: readonly (ContractRow & { readonly entity: number })[];
}): Snapshot {
  const cells = [...on.cells.values()];
  const ofUser = silenceBy(horizonDays, fitBgbb([...on.userCells.values()]).parameters);
  const rows = on.rows.map(({ features, memberCells, label, entity }): SnapshotRow => {
    const logOdds = memberCells.map((user) => clippedLogOdds(ofUser.on(user)));
    const members = features.members && {
      ...features.members,
      meanRiskLogOdds: logOdds.length === 0 ? null : mean(logOdds),
    };
    return {
      features: { ...features, members },
      label,
      entity,
      cutoffDay: on.day,
      cluster: -entity,
      isInvoluntary: false,
      isCanceling: isCanceling(features.billing),
    };
  });
  return { cutoffDay: on.day, isDeclared: true, cells, fit: fitBgbb(cells), rows };
}

/** What a service has after the training of a Monday. */
export interface Week {
  readonly choice: Choice;
  readonly backtest: Backtest;
  /** Departures in the data of training. */
  readonly departures: number;
  /** Null without a model. */
  readonly riskOf: ((features: ScoredFeatures) => number) | null;
  readonly incumbent: Incumbent | null;
}

/** Trains as of a Monday, as the service does. @param before what served the week before */
export function trainedOn(company: Company, monday: number, before: Incumbent | null): Week {
  const at = (day: number) => {
    const snapshot = company.snapshots.get(day);
    if (snapshot === undefined) throw new RangeError(`there is no snapshot of day ${day}`);
    return snapshot;
  };
  const training = trainingDaysFor(monday, company.firstDay, horizonDays).map(at);
  const scoring = at(monday);
  const kept = before?.passed === true ? before : undefined;
  const { keyEvents } = company;
  const fits = new Map<Snapshot, FittedSnapshot>();
  const judged = backtest(
    planFolds(company.firstDay, monday, horizonDays).map((fold) => ({
      scoring: at(fold.cutoffDay),
      training: fold.trainingDays.map(at),
      kept: kept?.rung,
      keyEvents,
    })),
    horizonDays,
    fits,
  );
  const counts = countData(scoring.cells, training.flatMap(allRows), horizonDays);
  const rungs = trainRungs({
    horizonDays,
    counts,
    isDeclared: true,
    kept: kept?.rung,
    ridge: judged.ridge,
    bgbb: (scoring.fit ?? fitBgbb(scoring.cells)).parameters,
    rows: training.flatMap((each) => (fits.get(each) ?? atOnce(fitSnapshot(each, horizonDays))).rows),
    design: designFor(training[0]?.rows ?? [], keyEvents, horizonDays),
  });
  const names = rungs.map(({ rung }) => rung);
  const choice = chooseRung(counts, judged, names, before, true);
  const model = rungs.find(({ rung }) => rung === choice.rung) ?? null;
  const score = model && riskScorer(model);
  return {
    choice,
    backtest: judged,
    departures: counts.churnedLabels,
    riskOf: score && ((features) => score(features).risk),
    // All groups of features are there from the first Monday on.
    incumbent: incumbentOf(choice, judged),
  };
}
