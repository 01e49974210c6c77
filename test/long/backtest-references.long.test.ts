/** `rekindle backtest` on the real logs has the figures of the models without an engine. Those are compared with the
 * published ones in test/scoring/models.long.test.ts. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { nameOfModel } from "../../server/scoring/churn/model-names.ts";
import { type Answer, BacktestBench, data } from "../scoring/backtest-support.ts";
import { type ReferenceBacktest, referenceBacktests } from "../scoring/reference.ts";

export const runsOn = { disk: true };

const bench = new BacktestBench();
afterAll(() => bench.end());

const [from2022, backFromEnd, cdnow] = referenceBacktests();
const git = join(data, "git_activity_log.csv.gz");
const gitColumns = ["--entity", "user", "--account", "account", "--time", "unix_time", "--event", "event"];

const names = ["prior", "bgbb", "bgbb-platt", "logistic", "recency", "hiatus"];

function expectFigures(answer: Answer, reference: ReferenceBacktest | undefined, tolerance: number): void {
  if (reference === undefined) throw new Error("there is no such reference");
  const { asServed, servedLimit = 1, publishedCount } = reference;
  const figures = (name: string) => answer.models.find((model) => model.name === name);
  expect(answer.n).toBe(publishedCount);
  expect(figures("logistic")?.logLoss).toBeLessThanOrEqual(servedLimit);
  expect(answer.models.map(({ name }) => name)).toEqual([...names, "base"]);
  for (const { model, metrics } of asServed.result.results) {
    const found = figures(nameOfModel(model));
    expect(Math.abs((found?.auc ?? 9) - (metrics.auc ?? 0))).toBeLessThan(tolerance);
    for (const name of ["logLoss", "brier", "ece"] as const) {
      expect(Math.abs((found?.[name] ?? 9) - metrics[name])).toBeLessThan(tolerance);
    }
  }
}

describe("the git log, a user at an account", () => {
  test("28 days apart back from the end", async () => {
    const answer = await bench.json(git, ...gitColumns, "--cutoffs", "26");
    expectFigures(answer, backFromEnd, 1e-4);
    expect(answer).toMatchObject({ horizonDays: 28, shipped: "logistic" });
    expect(answer.models.at(-1)).toEqual({
      name: "base",
      auc: 0.5,
      logLoss: expect.closeTo(0.663, 3),
      brier: expect.closeTo(0.235, 3),
      ece: 0,
      slope: null,
      lift: 1,
    });
  });

  test("56 days apart from 2022 on", async () => {
    const cutoffs = ["--first-cutoff", "2022-01-01", "--cutoff-step", "56", "--cutoffs", "26"];
    const answer = await bench.json(git, ...gitColumns, ...cutoffs);
    expectFigures(answer, from2022, 1e-4);
    expect(answer.baseRate).toBeCloseTo(0.548, 2);
  });
});

describe("CDNOW", () => {
  const file = join(data, "CDNOW_master.txt");
  const cutoff = [
    "--horizon",
    "182",
    "--first-cutoff",
    "1997-12-30",
    "--cutoffs",
    "1",
    "--delimiter",
    "space",
  ];

  test("the active on one day, and nothing is proven by a single cut-off", async () => {
    const answer = await bench.json(file, "--entity", "customer_id", "--time", "date", ...cutoff);
    // Of some 70,000 training rows a sample is read, all those that are scored.
    expectFigures(answer, cdnow, 0.015);
    expect(answer.shipped).toBe("none");
  });

  test("its columns by their numbers give the same answer, and the header is left out", async () => {
    const named = await bench.json(file, "--entity", "customer_id", "--time", "date", ...cutoff);
    const { stdout, stderr } = await bench.run(
      file,
      ...["--no-header", "--entity", "1", "--time", "2", "--json"],
      ...cutoff,
    );
    expect(JSON.parse(stdout)).toEqual(named);
    expect(stderr).toContain("taken for a header");
  });
});
