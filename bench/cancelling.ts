/**
 * What a company with few cancellations gets, week by week: whether it has a churn risk, how good it is
 * forward, and whether what the page promises came true. Companies are simulated contracts that train, judge
 * and choose a model on each Monday as the service does. Log losses are ratios to that of the base rate in
 * hindsight, and excess AUCs to that of the true probability on the same rows.
 *
 *   nice -n 15 cli/with-bun bench/cancelling.ts [accounts, 300] [first seed, 101] [seeds, 3] [Mondays, 8]
 *
 * A company of 600 accounts and 8 Mondays takes about 70 s of processor time.
 */

import { modelOfRung } from "../server/scoring/churn/backtest.ts";
import { entropyOf } from "../server/scoring/churn/ladder.ts";
import { nameOfRung } from "../server/scoring/churn/model-names.ts";
import { judgedRows } from "../server/scoring/churn/snapshot.ts";
import { metricsOf, type Prediction } from "../server/scoring/statistics/metrics.ts";
import { mean } from "../server/scoring/statistics/vectors.ts";
import { companyOf, trainedOn, type Week } from "./contracts/mondays.ts";

const [accounts = 300, firstSeed = 101, seeds = 3, weeks = 8] = [300, 101, 3, 8].map((usual, at) =>
  Number(process.argv[at + 2] ?? usual),
);
/** A tenth of the entities is flagged, as the page has it. */
const flaggedShare = 0.1;

const known = <Value>(values: readonly (Value | null)[]) => values.flatMap((value) => value ?? []);
const results = Array.from({ length: seeds }, (_, index) => resultOf(firstSeed + index));
const overall = (of: (result: (typeof results)[number]) => number | null) => {
  const values = known(results.map(of));
  return values.length === 0 ? "-" : mean(values).toFixed(3);
};
console.log(`
figure, mean of ${seeds} companies of ${accounts} accounts
companies with a churn risk on the last Monday   ${results.filter(({ last }) => last !== null).length} of ${seeds}
Mondays without one after one that had it        ${results.reduce((sum, { lost }) => sum + lost, 0)} of ${seeds * weeks}
log loss of the back-test, of the base rate's    ${overall(({ judgedLoss }) => judgedLoss)}
log loss forward, of the base rate's             ${overall(({ loss }) => loss)}
AUC of the back-test                             ${overall(({ judgedAuc }) => judgedAuc)}
AUC forward                                      ${overall(({ auc }) => auc)}
excess AUC forward, of the true probability's    ${overall(({ excess }) => excess)}
of 100 flagged leave, as the page says           ${overall(({ promised }) => promised)}
of 100 flagged left                              ${overall(({ happened }) => happened)}
`);

function resultOf(seed: number) {
  const startedMs = performance.now();
  const company = companyOf({ seed, accounts }, weeks);
  const trained: Week[] = [];
  const [all, flagged]: [Prediction[], Prediction[]] = [[], []];
  const [onMonths, byTruth]: [Prediction[], Prediction[]] = [[], []];
  for (const monday of company.mondays) {
    const week = trainedOn(company, monday, trained.at(-1)?.incumbent ?? null);
    trained.push(week);
    const snapshot = company.snapshots.get(monday);
    if (snapshot === undefined || week.riskOf === null) continue;
    const { riskOf } = week;
    const rows = judgedRows(snapshot).map(({ features, label, entity }) => ({
      predicted: riskOf(features),
      label,
      entity,
    }));
    all.push(...rows);
    const sorted = rows.toSorted((a, b) => b.predicted - a.predicted);
    flagged.push(...sorted.slice(0, Math.round(flaggedShare * sorted.length)));
    for (const row of rows) {
      const truth = company.truth.get(monday)?.get(row.entity);
      if (truth === undefined) continue;
      onMonths.push(row);
      byTruth.push({ predicted: truth, label: row.label });
    }
  }
  const lost = trained.filter(({ riskOf }, at) => riskOf === null && trained[at - 1]?.riskOf != null).length;
  const served = trained.flatMap(({ choice, backtest }) => {
    if (choice.rung === null) return [];
    const name = modelOfRung(choice.rung);
    return backtest.results.filter(({ model }) => model === name);
  });
  const [metrics, ours, truth] = [metricsOf(all), metricsOf(onMonths), metricsOf(byTruth)];
  const excessOf = (auc: number | null | undefined) => (auc == null ? null : auc - 0.5);
  const [own, best] = [excessOf(ours?.auc), excessOf(truth?.auc)];
  const meanOf = (values: readonly number[]) => (values.length === 0 ? null : mean(values));
  const result = {
    last: trained.at(-1)?.riskOf ?? null,
    lost,
    judgedLoss: meanOf(served.map(({ metrics: of }) => of.logLoss / entropyOf(of.baseRate))),
    judgedAuc: meanOf(known(served.map(({ metrics: of }) => of.auc))),
    loss: metrics === null ? null : metrics.logLoss / entropyOf(metrics.baseRate),
    auc: metrics?.auc ?? null,
    excess: own === null || best === null ? null : own / best,
    promised: meanOf(
      known(
        served.map(({ metrics: { reliability } }) => {
          const [top] = reliability.toSorted((a, b) => b.meanPrediction - a.meanPrediction);
          return top === undefined ? null : 100 * top.rate;
        }),
      ),
    ),
    happened: meanOf(flagged.map(({ label }) => 100 * Number(label))),
  };
  const models = trained.map(({ choice: { rung, isProvisional } }) =>
    rung === null ? "none" : `${nameOfRung(rung)}${isProvisional ? " (provisional)" : ""}`,
  );
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  const digits = (value: number | null) => value?.toFixed(3) ?? "-";
  console.log(
    `seed ${seed}: ${models.join(", ")}; AUC forward ${digits(result.auc)}, log loss ${digits(result.loss)} of the base rate's; ` +
      `flagged ${digits(result.promised)} promised, ${digits(result.happened)} left; ${seconds} s`,
  );
  for (const { predicted, happened, count } of tenthsOf(all)) {
    console.log(`  predicted ${predicted.toFixed(3)}, happened ${happened.toFixed(3)} of ${count}`);
  }
  return result;
}

/** Predictions in ten groups of a size, by what was predicted. */
function tenthsOf(all: readonly Prediction[]) {
  const sorted = all.toSorted((a, b) => a.predicted - b.predicted);
  const tenths = Array.from({ length: 10 }, (_, at) =>
    sorted.slice(Math.round((at * sorted.length) / 10), Math.round(((at + 1) * sorted.length) / 10)),
  );
  return tenths
    .filter((own) => own.length > 0)
    .map((own) => ({
      predicted: mean(own.map(({ predicted }) => predicted)),
      happened: mean(own.map(({ label }) => Number(label))),
      count: own.length,
    }));
}
