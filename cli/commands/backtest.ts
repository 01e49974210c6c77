/** `rekindle backtest` */
import type { Command } from "commander";
import type { ChurnTarget } from "../../contract/api/churn-targets.ts";
import { Refusal } from "../../contract/refusal.ts";
import { ImportFile } from "../../server/features/imports/reading/file.ts";
import { openRows } from "../../server/features/imports/reading/source.ts";
import {
  type Backtest,
  backtest,
  type FittedSnapshot,
  type Fold,
  trainingOf,
} from "../../server/scoring/churn/backtest.ts";
import { compareGroups } from "../../server/scoring/churn/compare.ts";
import {
  type FoldDays,
  foldsAt,
  foldsWithKnownOutcomes,
  planFolds,
} from "../../server/scoring/churn/folds.ts";
import { type Choice, chooseRung } from "../../server/scoring/churn/ladder.ts";
import type { Snapshot } from "../../server/scoring/churn/snapshot.ts";
import { countData } from "../../server/scoring/churn/train.ts";
import { spansWithoutDepartures } from "../../server/scoring/queries/departure-days.ts";
import { readFolds } from "../../server/scoring/queries/snapshots.ts";
import { outagesBefore } from "../../server/scoring/run/population.ts";
import { refuseWithoutPayers } from "../backtest/billing.ts";
import { type LoadedLog, loadLog, maxNames, organization } from "../backtest/log.ts";
import {
  type BacktestOptions,
  backtestOptions,
  refuseContradictions,
  targetOfOptions,
} from "../backtest/options.ts";
import { printJson, printTables, type Report } from "../backtest/report.ts";
import { loadTraits } from "../backtest/traits.ts";
import { withTemporaryWarehouse } from "../backtest/warehouse.ts";
import { readingOf } from "../import/options.ts";
import { Progress } from "../progress.ts";

export function backtestCommand(): Command {
  return backtestOptions().action(async (path: string, options: BacktestOptions) => {
    refuseContradictions(options);
    const report = await run(path, options);
    if (options.json) printJson(report);
    else printTables(report);
  });
}

async function run(path: string, options: BacktestOptions): Promise<Report> {
  const file = new ImportFile(path);
  // Only CSV has a delimiter, so the option implies CSV for any file name.
  const reading = await readingOf(
    file,
    options.delimiter === undefined ? options : { format: "csv", ...options },
  );
  return withTemporaryWarehouse(async (warehouse) => {
    const { horizon: horizonDays, everyone, score: kind, timezone: zone, header, compare } = options;
    const rows = openRows(reading, file.bytes);
    const source = { rows, columns: columnsOf(options), header, zone };
    const log = await withProgress("rows", (progress) =>
      loadLog(warehouse, source, (done) => progress.show({ done, fraction: rows.fractionRead() })),
    );
    if (log.rows === 0) throw new Refusal("no row has a user: there is nothing to back-test.");
    if (log.rows === log.billingEvents) {
      throw new Refusal("no row is activity of a user: a back-test needs it beside billing events.");
    }
    const target = targetOfOptions(options);
    if (target.by === "event") refuseUnknownEvents(target, log);
    if (target.by === "subscription") await refuseWithoutPayers(warehouse, organization, kind);
    const { traits: path } = options;
    const traits = path === undefined ? null : await loadTraits(warehouse, { path, zone, kind }, log);
    const outages = await outagesBefore(warehouse, organization, log.endDay);
    const population = { organization, kind, settings: { target, outages }, zone };
    const withoutDepartures = await spansWithoutDepartures(warehouse, population, log.endDay);
    const unknown = [...outages, ...withoutDepartures];
    const days = foldsWithKnownOutcomes(foldDays(log, options), horizonDays, unknown);
    const folds = await withProgress("days", (progress) => {
      const onProgress = (fraction: number) => progress.show({ step: "computing", done: 0, fraction });
      return readFolds(warehouse, population, days, { horizonDays, everyone, onProgress });
    });
    const fits = new Map<Snapshot, FittedSnapshot>();
    const result = backtest(folds, horizonDays, fits);
    const without = compare ? compareGroups(folds, result, fits) : null;
    const choice = chooseAsOf(folds.at(-1), result, fits, horizonDays);
    return { log, outages, withoutDepartures, traits, target, options, folds: days, result, without, choice };
  });
}

/** @throws Refusal when the log has no event of a name of the target */
function refuseUnknownEvents(
  { event, undoneBy }: Extract<ChurnTarget, { by: "event" }>,
  { events }: LoadedLog,
): void {
  const unknown = [event, ...(undoneBy === null ? [] : [undoneBy])].find(
    (name) => !events.has(name) && events.size < maxNames,
  );
  if (unknown === undefined) return;
  const named = [...events].slice(0, 30).map((name) => JSON.stringify(name));
  throw new Refusal(`no event is named ${JSON.stringify(unknown)}; there are ${named.join(", ")}.`);
}

async function withProgress<Result>(
  unit: string,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  const progress = new Progress(unit);
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
}

function columnsOf({ entity, time, account, event, properties }: BacktestOptions) {
  return {
    entity,
    time,
    ...(account !== undefined && { account }),
    ...(event !== undefined && { event }),
    ...(properties !== undefined && { properties }),
  };
}

function foldDays({ firstDay, endDay }: LoadedLog, options: BacktestOptions): FoldDays[] {
  const { horizon: horizonDays, cutoffs, firstCutoff, cutoffStep } = options;
  if (firstCutoff === undefined) return planFolds(firstDay, endDay, horizonDays, cutoffs, cutoffStep);
  const cutoffDays = Array.from({ length: cutoffs }, (_, index) => firstCutoff + index * cutoffStep);
  return foldsAt(
    cutoffDays.filter((cutoffDay) => cutoffDay + horizonDays <= endDay),
    firstDay,
    horizonDays,
  );
}

/** The model that would serve with the data of the last cut-off. */
function chooseAsOf(
  fold: Fold | undefined,
  result: Backtest,
  fits: ReadonlyMap<Snapshot, FittedSnapshot>,
  horizonDays: number,
): Choice {
  const counts =
    fold === undefined ? countData([], [], horizonDays) : trainingOf(fold, fits, horizonDays).counts;
  return chooseRung(counts, result, undefined, null, fold?.scoring.isDeclared);
}
