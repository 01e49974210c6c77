/** `rekindle backtest` */
import type { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import {
  type Backtest,
  backtest,
  type Choice,
  chooseRung,
  countData,
  type Fold,
  type FoldDays,
  foldsAt,
  planFolds,
  readFolds,
} from "../../server/scoring/scoring.ts";
import { type LoadedLog, loadLog, organization } from "../backtest/log.ts";
import { type BacktestOptions, backtestOptions } from "../backtest/options.ts";
import { printJson, printTables, type Report } from "../backtest/report.ts";
import { withTemporaryWarehouse } from "../backtest/warehouse.ts";
import { ImportFile } from "../import/file.ts";
import { readingOf } from "../import/options.ts";
import { openRows } from "../import/source.ts";
import { Progress } from "../progress.ts";

export function backtestCommand(): Command {
  return backtestOptions().action(async (path: string, options: BacktestOptions) => {
    const { score, account, json } = options;
    if (score === "account" && account === undefined) {
      throw new Refusal("--score account needs to know the accounts: give --account COLUMN.");
    }
    const report = await run(path, options);
    if (json) printJson(report);
    else printTables(report);
  });
}

function run(path: string, options: BacktestOptions): Promise<Report> {
  const file = new ImportFile(path);
  // Only CSV has a delimiter, so the option implies CSV for any file name.
  const reading = readingOf(file, options.delimiter === undefined ? options : { format: "csv", ...options });
  return withTemporaryWarehouse(async (warehouse) => {
    const { horizon: horizonDays, everyone, score: kind, timezone: zone, header } = options;
    const rows = openRows(reading, file.bytes);
    const source = { rows, columns: columnsOf(options), header, zone };
    const log = await withProgress("rows", (progress) =>
      loadLog(warehouse, source, (done) => progress.show({ done, fraction: rows.fractionRead() })),
    );
    if (log.rows === 0) throw new Refusal("no row has a user: there is nothing to back-test.");
    const days = foldDays(log, options);
    const population = { organization, kind, settings: {}, zone };
    const folds = await withProgress("days", (progress) => {
      const onProgress = (fraction: number) => progress.show({ step: "computing", done: 0, fraction });
      return readFolds(warehouse, population, days, { horizonDays, everyone, onProgress });
    });
    const result = backtest(folds, horizonDays);
    return { log, options, folds: days, result, choice: chooseAsOf(folds.at(-1), result, horizonDays) };
  });
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

function columnsOf({ entity, time, account, event }: BacktestOptions) {
  return { entity, time, ...(account !== undefined && { account }), ...(event !== undefined && { event }) };
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
function chooseAsOf(fold: Fold | undefined, result: Backtest, horizonDays: number): Choice {
  const rows = fold?.training.flatMap((snapshot) => snapshot.rows) ?? [];
  return chooseRung(countData(fold?.scoring.cells ?? [], rows, horizonDays), result);
}
