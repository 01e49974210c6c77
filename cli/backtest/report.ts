/** Reports how good the models were: as a table, or as JSON for a program. */
import { type ChurnTarget, churnMeans } from "../../contract/api/churn-targets.ts";
import { formatDay } from "../../server/calendar/days.ts";
import type { Backtest, ModelResult } from "../../server/scoring/churn/backtest.ts";
import type { WithoutGroup } from "../../server/scoring/churn/compare.ts";
import { type FoldDays, leastLogDays } from "../../server/scoring/churn/folds.ts";
import { type Choice, failuresOf } from "../../server/scoring/churn/ladder.ts";
import { canServe, nameOfModel, nameOfRung } from "../../server/scoring/churn/model-names.ts";
import type { Outages } from "../../server/scoring/scores/observed-days.ts";
import { printLine, printTable } from "../print.ts";
import type { LoadedLog } from "./log.ts";
import type { BacktestOptions } from "./options.ts";
import type { LoadedTraits } from "./traits.ts";

/** The result of a back-test. */
export interface Report {
  readonly log: LoadedLog;
  /** Days without data that its rhythm does not explain. */
  readonly outages: Outages;
  /** Days on which departures by a declared target should have come and none has. */
  readonly withoutDepartures: Outages;
  /** Null without a file of traits. */
  readonly traits: LoadedTraits | null;
  readonly target: ChurnTarget;
  readonly options: BacktestOptions;
  readonly folds: readonly FoldDays[];
  readonly result: Backtest;
  /** The ridge regression without each group of features; null when that was not asked for. */
  readonly without: readonly WithoutGroup[] | null;
  /** As of the last cut-off. */
  readonly choice: Choice;
}

/** A model's figures; null where there is none. */
interface Figures {
  readonly name: string;
  /** Predictions: models are trained at different cut-offs. */
  readonly n: number;
  readonly auc: number | null;
  readonly logLoss: number;
  readonly brier: number;
  readonly ece: number;
  readonly slope: number | null;
  /** Of the tenth with the highest risks. */
  readonly lift: number | null;
}

/** Prints one line of JSON; notes for people go to standard error. */
export function printJson(report: Report): void {
  const { result, options } = report;
  const judged = judgedOf(result);
  const models =
    judged === null
      ? []
      : [
          ...result.results.map(figuresOf),
          ...(report.without ?? []).map(figuresWithout),
          alwaysTheBaseRate(judged),
        ];
  const answer = {
    horizonDays: options.horizon,
    n: judged?.n ?? 0,
    baseRate: judged?.baseRate ?? null,
    models,
    ...(report.target.by === "subscription" && endsOf(result, judged)),
    shipped: shippedName(report.choice),
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  const notes = [...notesOnRows(report), ...(judged === null ? [missingOf(report)] : [])];
  for (const note of notes) process.stderr.write(`${note}\n`);
}

/** Prints a table, the chosen model and the reason for it. */
export function printTables(report: Report): void {
  const { result, choice } = report;
  const say = (line = "") => process.stdout.write(`${line}\n`);
  for (const line of [...headOf(report), ...notesOnRows(report)]) say(line);
  const judged = judgedOf(result);
  if (judged === null) {
    say(`\n${missingOf(report)}`);
    return;
  }
  say(`${judged.n} scored, of whom ${(100 * judged.baseRate).toFixed(1)} % churned\n`);
  const rows = result.results.map((one) => [
    ...cellsOf(figuresOf(one)),
    String(one.metrics.count),
    digits(one.metrics.baseRate),
    verdictOf(one),
  ]);
  const base = [...cellsOf(alwaysTheBaseRate(judged)), String(judged.n), digits(judged.baseRate), ""];
  printTable([...figureNames, "n", "base rate", "good enough"], [...rows, base]);
  if (judged.involuntary > 0) {
    say(`${judged.involuntary} of ${judged.departures} departures were by failed payments`);
  }
  if (judged.withCanceling !== null) printWithCanceling(result, judged.withCanceling);
  say(`\nships: ${shippedName(choice)}; ${choice.why}`);
  for (const one of result.results.filter(({ model }) => canServe(model))) {
    for (const failure of failuresOf(one)) say(`${nameOfModel(one.model)}: ${failure}`);
  }
  for (const { what, have, need } of choice.next?.missing ?? []) {
    say(`${nameOfRung(choice.next?.rung ?? null)} lacks ${words[what]}: ${have} of ${need}`);
  }
  if (!result.isConverged) say("a fit of BG/BB ended in different places from different starts");
  if (report.without !== null) printWithout(report.without, result);
}

const figureNames = ["model", "AUC", "log loss", "Brier", "ECE", "slope", "lift"];

/** Entities whose end was scheduled are in no figure above. */
function printWithCanceling(result: Backtest, { n, baseRate }: CountedRows): void {
  process.stdout.write("\n");
  printLine(
    `with those whose end was scheduled, ${n} scored, of whom ${(100 * baseRate).toFixed(1)} % churned:`,
  );
  printTable(figureNames, withCancelingOf(result, { n, baseRate }).models.map(cellsOf));
}

/** The worth of a group: how much worse the model is without it. */
function printWithout(without: readonly WithoutGroup[], { results }: Backtest): void {
  const all = results.find(({ model }) => model === "rung 3");
  if (all === undefined || without.length === 0) {
    process.stdout.write("\n");
    printLine("no cut-off has enough data for logistic: no group of features can be left out");
    return;
  }
  process.stdout.write("\n");
  const { metrics } = all;
  const rows = without.map(({ group, metrics: { auc, logLoss } }) => [
    group,
    digits(auc, 4),
    signed(auc === null || metrics.auc === null ? null : auc - metrics.auc),
    digits(logLoss, 4),
    signed(logLoss - metrics.logLoss),
  ]);
  printTable(
    ["logistic without", "AUC", "change", "log loss", "change"],
    [["nothing", digits(metrics.auc, 4), "", digits(metrics.logLoss, 4), ""], ...rows],
  );
}

function signed(value: number | null): string {
  if (value === null) return "-";
  return `${value < 0 ? "" : "+"}${value.toFixed(4)}`;
}

const words = {
  entities: "entities seen in 26 weeks",
  entitiesWithThreePeriods: "entities with three weeks of history",
  churnedLabels: "entities that churned",
  retainedLabels: "entities that stayed",
} as const;

/** Only a proven model ships. A service without a back-test would begin with BG/BB, marked as unproven. */
function shippedName({ rung, isProven }: Choice): string {
  return (isProven ? nameOfRung(rung) : null) ?? "none";
}

interface CountedRows {
  readonly n: number;
  readonly baseRate: number;
}

interface JudgedRows extends CountedRows {
  readonly departures: number;
  readonly involuntary: number;
  /** With those whose end was scheduled; null where there were none. */
  readonly withCanceling: CountedRows | null;
}

function judgedOf({ results }: Backtest): JudgedRows | null {
  const recency = results.find(({ model }) => model === "recency");
  if (recency === undefined) return null;
  const { metrics, departures, involuntary, withCanceling } = recency;
  const counted = ({ count: n, baseRate }: Pick<ModelResult["metrics"], "count" | "baseRate">) => ({
    n,
    baseRate,
  });
  return {
    ...counted(metrics),
    departures,
    involuntary,
    withCanceling: withCanceling === undefined ? null : counted(withCanceling.metrics),
  };
}

/** Of subscriptions: departures, those by failed payments, and the figures with scheduled ends. */
function endsOf(result: Backtest, judged: JudgedRows | null) {
  const { departures = 0, involuntary = 0, withCanceling = null } = judged ?? {};
  return {
    departures,
    involuntaryDepartures: involuntary,
    withCanceling: withCanceling && withCancelingOf(result, withCanceling),
  };
}

function withCancelingOf({ results }: Backtest, counted: CountedRows) {
  const models = results.flatMap(({ model, withCanceling }) =>
    withCanceling === undefined ? [] : [namedFigures(nameOfModel(model), withCanceling.metrics)],
  );
  return { ...counted, models };
}

function figuresOf({ model, metrics }: ModelResult): Figures {
  return namedFigures(nameOfModel(model), metrics);
}

function figuresWithout({ group, metrics }: WithoutGroup): Figures {
  return namedFigures(`logistic-without-${group}`, metrics);
}

function namedFigures(name: string, metrics: Omit<ModelResult["metrics"], "reliability">): Figures {
  const { auc, logLoss, brier, ece, calibrationSlope: slope, topDecileLift: lift } = metrics;
  return { name, n: metrics.count, auc, logLoss, brier, ece, slope, lift };
}

/** The prediction without any model: all entities have the same risk. It has no slope and no ranking. */
function alwaysTheBaseRate({ n, baseRate: rate }: CountedRows): Figures {
  const hasBoth = rate > 0 && rate < 1;
  const logLoss = hasBoth ? -(rate * Math.log(rate) + (1 - rate) * Math.log1p(-rate)) : 0;
  return {
    name: "base",
    n,
    auc: hasBoth ? 0.5 : null,
    logLoss,
    brier: rate * (1 - rate),
    ece: 0,
    slope: null,
    lift: hasBoth ? 1 : null,
  };
}

function verdictOf(result: ModelResult): string {
  if (!canServe(result.model)) return "";
  return failuresOf(result).length === 0 ? "yes" : "no";
}

function cellsOf({ name, auc, logLoss, brier, ece, slope, lift }: Figures): string[] {
  return [
    name,
    ...[auc, logLoss, brier, ece].map((value) => digits(value)),
    digits(slope, 2),
    digits(lift, 2),
  ];
}

function headOf({ log, target, options, folds }: Report): string[] {
  const { rows, billingEvents, entities, accounts, firstDay, endDay } = log;
  const of = options.account === undefined ? "" : ` at ${accounts} accounts`;
  const span = `${formatDay(firstDay)} to ${formatDay(endDay - 1)}`;
  const cutoffs = folds.map(({ cutoffDay }) => formatDay(cutoffDay));
  const when = cutoffs.length === 0 ? "" : `, from ${cutoffs[0]} to ${cutoffs.at(-1)}`;
  return [
    `${rows} events of ${entities} users${of}, ${span}`,
    ...(billingEvents === 0 ? [] : [`${billingEvents} of them are billing events`]),
    `churned: ${churnedIn(target, options.horizon)}; ${cutoffs.length} cut-offs${when}`,
  ];
}

function churnedIn(target: ChurnTarget, horizonDays: number): string {
  return target.by === "silence"
    ? `silent for ${horizonDays} days`
    : `${churnMeans(target, horizonDays)}, within ${horizonDays} days`;
}

function notesOnRows({
  log: { rowsWithoutEntity, leftOutHeader },
  outages,
  withoutDepartures,
  traits,
  options,
}: Report): string[] {
  const others = traits?.linesWithoutEvents ?? 0;
  return [
    ...(rowsWithoutEntity > 0 ? [`${rowsWithoutEntity} rows without a user are left out`] : []),
    ...(leftOutHeader ? ["the first row has no time and was taken for a header"] : []),
    ...(others > 0
      ? [`${others} lines of traits are of ${options.score}s without events, and are left out`]
      : []),
    ...withoutDepartures.map(
      ({ from, to }) =>
        `nobody left from ${formatDay(from)} to ${formatDay(to - 1)}, though departures came regularly before: cut-offs that predict these days are dropped`,
    ),
    ...outages.map(
      ({ from, to }) =>
        `no data came from ${formatDay(from)} to ${formatDay(to - 1)}: these days are in no count of days, and cut-offs that predict them are dropped`,
    ),
  ];
}

/** Why there are no figures. */
function missingOf({ log, options, folds }: Report): string {
  const { horizon, firstCutoff } = options;
  const days = log.endDay - log.firstDay;
  const need = leastLogDays(horizon);
  if (days < need) {
    return `Not enough data: the log covers ${days} days, and a horizon of ${horizon} days takes ${need}, for features, training and evaluation.`;
  }
  if (folds.length === 0 && firstCutoff !== undefined) {
    const [from, to] = [log.firstDay + need - horizon, log.endDay - horizon].map(formatDay);
    return `Not enough data: the requested cut-off dates do not fit: they may be between ${from} and ${to}.`;
  }
  return `Not enough data: at none of the ${folds.length} cut-offs were there training users who left, training users who stayed, and users to score.`;
}

function digits(value: number | null, count = 3): string {
  return value === null ? "-" : value.toFixed(count);
}
