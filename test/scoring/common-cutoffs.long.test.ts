/** Models are compared at the cut-offs that all of them have. The log has an early cut-off at which the
 * regression cannot be trained and recency is bad: divided by recency on rows of its own, BG/BB was
 * elected. */
import { expect, test } from "bun:test";
import { backtest } from "../../server/scoring/churn/backtest.ts";
import { planFolds } from "../../server/scoring/churn/folds.ts";
import { chooseRung } from "../../server/scoring/churn/ladder.ts";
import { foldsOfLog } from "./reference.ts";

const days = 400;
const horizonDays = 28;

/** The generator of the review, with its numbers. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** 200 users who come nearly every day from the first day on, and then three new ones a day who come less. */
function users() {
  const random = randomFrom(5);
  return Array.from({ length: 200 + 3 * 285 }, (_, user) => {
    const start = user < 200 ? 0 : 115 + Math.floor((user - 200) / 3);
    const chance = user < 200 ? 0.96 : 0.15 + 0.75 * random();
    const log: { day: number; event: string; count: number }[] = [];
    for (let day = start; day < days; day += 1) {
      if (random() < 0.003 && day > 90) break;
      if (day === start || random() < chance) log.push({ day, event: "event", count: 1 });
    }
    return { log };
  });
}

test("the regression serves, and not BG/BB, which had an easy cut-off more", () => {
  const folds = planFolds(0, days, horizonDays);
  const result = backtest(foldsOfLog(users(), folds, horizonDays), horizonDays);
  const of = (name: string) => result.results.find(({ model }) => model === name);
  const [bgbb, logistic, recency] = ["rung 1", "rung 3", "recency"].map(of);
  expect(logistic?.folds).toBeLessThan(bgbb?.folds ?? 0);
  expect(logistic?.metrics.logLoss).toBeLessThan(bgbb?.metrics.logLoss ?? 0);
  // Without its penalty .83 a row at the first cut-offs.
  expect(Math.max(...(recency?.byCutoff ?? []).map(({ logLoss }) => logLoss))).toBeLessThan(0.4);
  const plenty = { entities: 900, entitiesWithThreePeriods: 800, churnedLabels: 300, retainedLabels: 700 };
  expect(chooseRung(plenty, result)).toMatchObject({ rung: 3, isProven: true });
});
