/**
 * How well contracts' ends are predicted when they show in the mix of use, in seats and in payments, not in
 * silence. Each seed's model is compared with the same model trained on twenty times as many accounts of
 * another seed, with the true probability, and with idle days alone. The rows with a scheduled end are left
 * out of all figures.
 *
 *   cli/with-bun bench/contracts.ts [seeds, 10 by default] [accounts, 2400] [times as many, 20] [groups]
 *
 * `groups` adds what the AUC and the log loss lose without each group of features in turn, which doubles the
 * time of a seed. Its accounts have seats and pulses, too, and end by them (contracts/judged.ts).
 */

import { featureGroups } from "../server/scoring/churn/columns.ts";
import { mean } from "../server/scoring/statistics/vectors.ts";
import {
  contractData,
  departuresIn,
  evaluate,
  trainContracts,
  trainIdleOnly,
  trueProbability,
  withoutCanceling,
} from "./contracts/experiment.ts";

const seeds = Number(process.argv[2] ?? 10);
const accounts = Number(process.argv[3] ?? 2_400);
const times = Number(process.argv[4] ?? 20);
const isJudged = process.argv[5] === "groups";
const leftOut = isJudged ? featureGroups : [];
/** Not among the seeds that are evaluated. */
const largeSeed = 1_001;

const startedMs = performance.now();
const large = trainContracts(
  contractData({ seed: largeSeed, accounts: accounts * times, isJudged }, false).training,
);
console.log(`trained on ${accounts * times} accounts after ${elapsed()}`);
const results = Array.from({ length: seeds }, (_, index) => resultOf(index + 1));
const overall = (of: (result: Result) => number) => mean(results.map(of));
const ratio = overall(({ auc }) => auc - 0.5) / overall(({ largeAuc }) => largeAuc - 0.5);
const idleShare = overall(({ idleAuc }) => idleAuc - 0.5) / overall(({ auc }) => auc - 0.5);
console.log(`
figure                                    mean of ${seeds}   aim
excess AUC, ratio to ${String(times).padStart(2)} times the accounts  ${ratio.toFixed(3)}        >= .95
AUC                                       ${overall(({ auc }) => auc).toFixed(3)}
AUC of the larger training                ${overall(({ largeAuc }) => largeAuc).toFixed(3)}
AUC of the true probability               ${overall(({ trueAuc }) => trueAuc).toFixed(3)}
excess AUC of idle days alone, share      ${idleShare.toFixed(3)}        < .5
ECE                                       ${overall(({ ece }) => ece).toFixed(4)}       <= floor + .02
ECE floor                                 ${overall(({ eceFloor }) => eceFloor).toFixed(4)}
least departures, training and test       ${Math.min(...results.map(({ trained }) => trained))} ${Math.min(...results.map(({ tested }) => tested))}      >= 300
`);
if (leftOut.length > 0) console.log("left out: change of AUC, of log loss; of each seed in brackets");
for (const [index, group] of leftOut.entries()) {
  const changes = (["auc", "logLoss"] as const).map((figure) => {
    const ofSeeds = results.map((result) => (result.without[index]?.[figure] ?? Number.NaN) - result[figure]);
    return `${mean(ofSeeds).toFixed(4)} (${ofSeeds.map((each) => each.toFixed(4)).join(" ")})`;
  });
  console.log(`${group.padEnd(18)}${changes.join("  ")}`);
}
console.log(elapsed());

type Result = ReturnType<typeof resultOf>;

function resultOf(seed: number) {
  const { training, test } = contractData({ seed, accounts, isJudged }, true);
  const rows = withoutCanceling(test);
  const { auc, logLoss, ece, eceFloor } = evaluate(trainContracts(training), rows);
  const result = {
    trained: departuresIn(withoutCanceling(training)),
    tested: departuresIn(rows),
    auc,
    logLoss,
    ece,
    eceFloor,
    largeAuc: evaluate(large, rows).auc,
    trueAuc: evaluate(trueProbability, rows).auc,
    idleAuc: evaluate(trainIdleOnly(training), rows).auc,
    without: leftOut.map((group) => evaluate(trainContracts(training, group), rows)),
  };
  const { trained, tested, largeAuc, trueAuc, idleAuc } = result;
  const figures = [auc, largeAuc, trueAuc, idleAuc, ece, eceFloor].map((each) => each.toFixed(3)).join(" ");
  console.log(
    `seed ${seed}: ${trained} and ${tested} departures; AUC, larger, true, idle; ECE, floor: ${figures}; ${elapsed()}`,
  );
  return result;
}

function elapsed(): string {
  return `${((performance.now() - startedMs) / 1_000).toFixed(0)} s`;
}
