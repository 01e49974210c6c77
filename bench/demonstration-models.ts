/**
 * Whether the accounts of the demonstration get a churn risk on each start day: departures, the model that
 * serves and what its back-test says. Without a server: simulated, and trained as the service does.
 *
 *   nice -n 15 cli/with-bun bench/demonstration-models.ts [every, 1 by default: each nth of the 90 start days and seeds]
 *
 * One takes 10 s of processor time.
 */
import { modelOfRung } from "../server/scoring/churn/backtest.ts";
import { failuresOf } from "../server/scoring/churn/ladder.ts";
import { nameOfRung } from "../server/scoring/churn/model-names.ts";
import { starts } from "../test/long/demonstrated.ts";
import { trainedOn } from "./contracts/mondays.ts";
import { demonstrationOf } from "./demonstration/company.ts";

const every = Number(process.argv[2] ?? 1);
const tried = starts.filter((_, index) => index % every === 0);
let withoutModel = 0;
for (const [day, seed] of tried) {
  const { company, accounts, events } = demonstrationOf(day, seed);
  const { choice, backtest, departures } = trainedOn(company, company.mondays[0] ?? day, null);
  const model = choice.rung === null ? "none" : nameOfRung(choice.rung);
  if (choice.rung === null) withoutModel += 1;
  const ridge = backtest.results.find((result) => result.model === modelOfRung(3));
  const { auc = null, calibrationSlope = null } = ridge?.metrics ?? {};
  console.log(
    `${day} ${seed}: ${accounts} accounts, ${events} events, ${departures} departures, ${model}, AUC ${auc?.toFixed(2)}, slope ${calibrationSlope?.toFixed(2)}`,
    ridge === undefined ? "" : failuresOf(ridge).join("; "),
  );
}
console.log(`${tried.length} demonstrations, ${withoutModel} of them without a model`);
