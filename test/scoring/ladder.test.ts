import { describe, expect, test } from "bun:test";
import type { Backtest, ModelResult } from "../../server/scoring/churn/backtest.ts";
import { chooseRung, failuresOf } from "../../server/scoring/churn/ladder.ts";
import { type DataCounts, shortagesOf } from "../../server/scoring/churn/train.ts";

const horizonDays = 28;
const plenty: DataCounts = {
  entities: 800,
  entitiesWithThreePeriods: 700,
  churnedLabels: 300,
  retainedLabels: 300,
};

describe("the ladder", () => {
  const good = {
    count: 2_000,
    baseRate: 0.4,
    meanPrediction: 0.41,
    auc: 0.8,
    logLoss: 0.5,
    brier: 0.2,
    brierSkill: 0.2,
    ece: 0.02,
    eceFloor: 0.02,
    calibrationSlope: 1,
    calibrationIntercept: 0,
    topDecileLift: 2,
    reliability: [],
  };
  const judged = (rung: 0 | 1 | 2 | 3, changes: Partial<typeof good> = {}) => ({
    model: `rung ${rung}` as const,
    folds: 6,
    metrics: { ...good, ...changes },
    recencyLogLoss: 0.6,
    hiatusLogLoss: 0.65,
  });
  const recency = { ...judged(0, { logLoss: 0.6 }), model: "recency" as const };
  const tested = (...results: readonly ModelResult[]): Backtest => ({
    horizonDays,
    folds: 6,
    results: [...results, recency],
    isConverged: true,
  });

  test.each([
    ["log loss", { logLoss: 0.589 }, "not 2% below"],
    ["calibration error", { ece: 0.051 }, "calibration error"],
    ["a slope that is too low", { calibrationSlope: 0.79 }, "slope"],
    ["a slope that is too high", { calibrationSlope: 1.26 }, "slope"],
    ["bias", { meanPrediction: 0.431 }, "base rate"],
  ])("a rung does not ship with too much %s", (_, changes, reason) => {
    expect(failuresOf(judged(1))).toEqual([]);
    expect(failuresOf(judged(1, changes))).toHaveLength(1);
    expect(failuresOf(judged(1, changes))[0]).toContain(reason);
  });

  test("a rung does not ship when the hiatus rule does as well", () => {
    expect(failuresOf({ ...judged(1), hiatusLogLoss: 0.5 })).toEqual([
      expect.stringContaining("hiatus rule"),
    ]);
  });

  test("more calibration error is allowed where a perfect model would show as much", () => {
    expect(failuresOf(judged(1, { ece: 0.069, eceFloor: 0.05 }))).toEqual([]);
    expect(failuresOf(judged(1, { ece: 0.071, eceFloor: 0.05 }))).toHaveLength(1);
  });

  test("the proven rung with the least log loss serves", () => {
    const results = [judged(1), judged(2, { logLoss: 0.45 }), judged(3, { logLoss: 0.4, ece: 0.2 })];
    expect(chooseRung(plenty, tested(...results))).toMatchObject({
      rung: 2,
      isProven: true,
      next: { rung: 3, missing: [], failures: [expect.stringContaining("calibration error")] },
    });
  });

  test("a proven rung does not serve when the last training did not make it", () => {
    const results = tested(judged(1), judged(2, { logLoss: 0.45 }), judged(3, { logLoss: 0.3 }));
    expect(chooseRung(plenty, results, [0, 1, 2])).toMatchObject({ rung: 2, isProven: true });
    // BG/BB is fitted every day, with or without a training.
    expect(chooseRung(plenty, results, [0])).toMatchObject({ rung: 1, isProven: true });
    expect(chooseRung(plenty, tested(judged(3)), [0])).toMatchObject({ rung: null, isProven: false });
  });

  test("a proven rung does not serve when today's data cannot train it", () => {
    const counts = { ...plenty, churnedLabels: 99 };
    expect(chooseRung(counts, tested(judged(1), judged(3, { logLoss: 0.3 })))).toMatchObject({ rung: 1 });
    expect(shortagesOf(3, counts)).toEqual([{ what: "churnedLabels", have: 99, need: 100 }]);
  });

  test("BG/BB serves unproven before there is a back-test, and the prior before there are 60 entities", () => {
    expect(chooseRung(plenty, null)).toMatchObject({
      rung: 1,
      isProven: false,
      next: { rung: 2, missing: [] },
    });
    expect(chooseRung({ ...plenty, entities: 59 }, null)).toMatchObject({
      rung: 0,
      isProven: false,
      next: { rung: 1, missing: [{ what: "entities", have: 59, need: 60 }] },
    });
    const young = { ...plenty, entitiesWithThreePeriods: 399 };
    expect(shortagesOf(1, young)).toEqual([{ what: "entitiesWithThreePeriods", have: 399, need: 400 }]);
  });

  test("three cut-offs, or 49 labels of a class, prove nothing", () => {
    const three = { ...tested(judged(1)), folds: 3 };
    expect(chooseRung(plenty, three).why).toContain("3 of the 4 cut-offs");
    const rare = {
      ...tested(),
      results: [{ ...recency, metrics: { ...good, count: 1_000, baseRate: 0.049 } }],
    };
    expect(chooseRung(plenty, rare).why).toContain("49 labels");
  });
});
