/** The real logs: every figure that was published about them, docs/models.md, and `rekindle backtest`. */
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Backtest, ModelName } from "../../server/scoring/churn/backtest.ts";
import { chooseRung } from "../../server/scoring/churn/ladder.ts";
import { nameOfModel } from "../../server/scoring/churn/model-names.ts";
import { type Answer, BacktestBench, data } from "./backtest-support.ts";
import { day, readGitLog } from "./data.ts";
import { referenceBacktests, servedBacktest } from "./reference.ts";
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

const bench = new BacktestBench();
afterAll(() => bench.end());

const [, backFromEnd, cdnow] = backtests;
const git = join(data, "git_activity_log.csv.gz");
const gitColumns = ["--entity", "user", "--account", "account", "--time", "unix_time", "--event", "event"];

/** What the command prints is of the engine; the figures above are of the logs alone. */
const namesOfModels = ["prior", "bgbb", "bgbb-platt", "logistic", "recency", "hiatus"];

function expectFigures(answer: Answer, reference: Backtest | undefined, tolerance: number): void {
  if (reference === undefined) throw new Error("there is no such reference");
  const figures = (name: string) => answer.models.find((model) => model.name === name);
  expect(answer.models.map(({ name }) => name)).toEqual([...namesOfModels, "base"]);
  for (const { model, metrics } of reference.results) {
    const found = figures(nameOfModel(model));
    expect(Math.abs((found?.auc ?? 9) - (metrics.auc ?? 0))).toBeLessThan(tolerance);
    for (const name of ["logLoss", "brier", "ece"] as const) {
      expect(Math.abs((found?.[name] ?? 9) - metrics[name])).toBeLessThan(tolerance);
    }
  }
}

describe("rekindle backtest on the git log, a user at an account", () => {
  test("28 days apart back from the end", async () => {
    const answer = await bench.json(git, ...gitColumns, "--cutoffs", "26");
    expectFigures(answer, backFromEnd?.asServed.result, 1e-4);
    expect(answer.n).toBe(backFromEnd?.publishedCount ?? 0);
    const logistic = answer.models.find(({ name }) => name === "logistic");
    expect(logistic?.logLoss).toBeLessThanOrEqual(backFromEnd?.servedLimit ?? 0);
    expect(answer).toMatchObject({ horizonDays: 28, shipped: "logistic" });
    expect(answer.models.at(-1)).toEqual({
      name: "base",
      n: answer.n,
      auc: 0.5,
      logLoss: expect.closeTo(0.663, 3),
      brier: expect.closeTo(0.235, 3),
      ece: 0,
      slope: null,
      lift: 1,
    });
  });

  test("56 days apart from a day on", async () => {
    const cutoffs = ["--first-cutoff", "2024-01-01", "--cutoff-step", "56", "--cutoffs", "6"];
    const answer = await bench.json(git, ...gitColumns, ...cutoffs);
    const days = Array.from({ length: 6 }, (_, i) => day("2024-01-01") + 56 * i);
    const { result } = servedBacktest(readGitLog(), days, 28);
    expectFigures(answer, result, 1e-4);
    const { count, baseRate = 0 } = result.results[0]?.metrics ?? {};
    expect(answer).toMatchObject({ n: count, baseRate: expect.closeTo(baseRate, 9) });
  });
});

describe("rekindle backtest on CDNOW", () => {
  const file = join(data, "CDNOW_master.txt");
  const options = ["--horizon", "182", "--cutoffs", "1", "--delimiter", "space"];
  const named = ["--entity", "customer_id", "--time", "date"];

  test("the active on one day, and nothing is proven by a single cut-off", async () => {
    const answer = await bench.json(file, ...named, ...options, "--first-cutoff", "1997-12-30");
    // Of some 70,000 training rows a sample is read, all those that are scored.
    expectFigures(answer, cdnow?.asServed.result, 0.015);
    expect(answer.n).toBe(cdnow?.publishedCount ?? 0);
    expect(answer.shipped).toBe("none");
  });

  test("its columns by their numbers give the same answer, and the header is left out", async () => {
    // The first day with a cut-off to train at.
    const first = ["--first-cutoff", "1997-10-22"];
    const answer = await bench.json(file, ...named, ...options, ...first);
    const numbered = ["--no-header", "--entity", "1", "--time", "2", "--json"];
    const { stdout, stderr } = await bench.run(file, ...numbered, ...options, ...first);
    expect(JSON.parse(stdout)).toEqual(answer);
    expect(answer.n).toBeGreaterThan(1_000);
    expect(stderr).toContain("taken for a header");
  });
});
