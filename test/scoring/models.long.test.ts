/** The real logs: every figure that was published about them, and docs/models.md. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelName } from "../../server/scoring/churn/backtest.ts";
import { chooseRung } from "../../server/scoring/churn/ladder.ts";
import { referenceBacktests } from "./reference.ts";
import { modelsPage } from "./report.ts";

const startedMs = performance.now();
const backtests = referenceBacktests();
console.log(`three back-tests: ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);

/** Published figures have three digits. */
const tolerance = 0.005;
const within = (ours: number | null | undefined, published: number) =>
  expect(Math.abs((ours ?? Number.NaN) - published)).toBeLessThanOrEqual(tolerance);

describe.each(backtests)(
  "$title",
  ({ asPublished, asServed, servedLimit, published, publishedBase, publishedCount }) => {
    const { result, thirdEverywhere } = asPublished;
    const metrics = (model: ModelName) => {
      if (model === "rung 3") return thirdEverywhere;
      return result.results.find((one) => one.model === model)?.metrics;
    };

    test("scores as many entities as published, and as many churned", () => {
      expect(metrics("rung 1")?.count).toBe(publishedCount);
      if (publishedBase !== undefined) within(metrics("rung 1")?.baseRate, publishedBase);
    });

    test.each(Object.entries(published))("%s agrees with its published figures", (model, known) => {
      const ours = metrics(model as ModelName);
      within(ours?.auc, known.auc);
      within(ours?.logLoss, known.logLoss);
      if (known.ece !== undefined) within(ours?.ece, known.ece);
    });

    test("the third rung is better as it serves", () => {
      if (servedLimit === undefined) return;
      expect(asServed.thirdEverywhere?.count).toBe(publishedCount);
      expect(asServed.thirdEverywhere?.logLoss).toBeLessThanOrEqual(servedLimit);
      expect(asServed.thirdEverywhere?.logLoss).toBeLessThan(thirdEverywhere?.logLoss ?? 0);
    });

    test("every fit of BG/BB converged", () => {
      expect(result.isConverged).toBe(true);
    });
  },
);

test("the third rung serves on the git log, and one cut-off of CDNOW proves nothing", () => {
  const plenty = {
    entities: 2_000,
    entitiesWithThreePeriods: 1_800,
    churnedLabels: 500,
    retainedLabels: 500,
  };
  expect(
    backtests
      .map(({ asPublished }) => chooseRung(plenty, asPublished.result))
      .map(({ rung, isProven }) => [rung, isProven]),
  ).toEqual([
    [3, true],
    [3, true],
    [1, false],
  ]);
});

/** Decimal fractions, and the text between them. */
const fraction = /\d*\.\d+/g;
const wordsOf = (page: string) => page.split(fraction);

/** Fractions with one unit of their last digit: another machine's logarithm may round one the other way. */
function numbersOf(page: string): { readonly value: number; readonly unit: number }[] {
  return [...page.matchAll(fraction)].map(([text]) => ({
    value: Number(text),
    unit: 1.001 * 10 ** -(text.length - text.indexOf(".") - 1),
  }));
}

test("docs/models.md is what `npm run models` writes", () => {
  const [written, computed] = [
    readFileSync(join(import.meta.dir, "../../docs/models.md"), "utf8"),
    modelsPage(backtests),
  ];
  expect(wordsOf(written)).toEqual(wordsOf(computed));
  for (const [i, number] of numbersOf(written).entries()) {
    expect(Math.abs(number.value - (numbersOf(computed)[i]?.value ?? Number.NaN))).toBeLessThanOrEqual(
      number.unit,
    );
  }
});
