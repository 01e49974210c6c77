/** What the model of accounts learns from the demonstration. bench/demonstration-models.ts tries all start
 * days and seeds. */
import { describe, expect, test } from "bun:test";
import { trainedOn } from "../../bench/contracts/mondays.ts";
import { demonstrationOf } from "../../bench/demonstration/company.ts";
import { modelOfRung } from "../../server/scoring/churn/backtest.ts";
import { failuresOf } from "../../server/scoring/churn/ladder.ts";
import { starts } from "../long/demonstrated.ts";

/** Of each seed one, and their days are weeks apart. */
const tried = starts.filter((_, index) => index % 37 === 0);

test("each seed is tried", () => {
  expect(tried.map(([, seed]) => seed).sort()).toEqual([1, 2, 3]);
});

/** Training takes 30 s of processor time. */
const trained = process.env.TEST_SAMPLE === "1" ? tried.slice(0, 1) : tried;

describe.each(trained)("a demonstration that begins on day %d with the seed %d", (day, seed) => {
  const { company } = demonstrationOf(day, seed);
  const { choice, backtest, departures } = trainedOn(company, company.mondays[0] ?? day, null);

  test("has 400 departures to learn from", () => {
    expect(departures).toBeGreaterThanOrEqual(400);
  });

  test("has a churn risk for accounts, by a model that passes every gate", () => {
    expect([choice.rung, choice.isProven, choice.isProvisional]).toEqual([3, true, false]);
    const served = backtest.results.find(({ model }) => model === modelOfRung(3));
    expect(served && failuresOf(served)).toEqual([]);
    expect(served?.metrics.auc).toBeWithin(0.75, 0.95);
  });
});
