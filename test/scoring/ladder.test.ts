import { describe, expect, test } from "bun:test";
import type { Backtest, ModelResult } from "../../server/scoring/churn/backtest.ts";
import {
  chooseRung,
  failuresOf,
  type Incumbent,
  incumbentOf,
  lacksData,
  provenBaseRate,
} from "../../server/scoring/churn/ladder.ts";
import { type DataCounts, shortagesOf } from "../../server/scoring/churn/train.ts";
import type { Metrics } from "../../server/scoring/statistics/metrics.ts";

const horizonDays = 28;
const plenty: DataCounts = {
  entities: 800,
  entitiesWithThreePeriods: 700,
  churnedLabels: 300,
  retainedLabels: 300,
};

describe("the ladder", () => {
  const good: Metrics = {
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
    calibrationSlopeError: 0.05,
    biasError: 0.05,
    topDecileLift: 2,
    reliability: [],
  };
  const judged = (rung: 0 | 1 | 2 | 3, changes: Partial<Metrics> = {}) => ({
    model: `rung ${rung}` as const,
    folds: 6,
    metrics: { ...good, ...changes },
    departures: 800,
    involuntary: 0,
    retained: 1_200,
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
    ["log loss beside recency", { logLoss: 0.588 }, { logLoss: 0.589 }, "of recency alone"],
    [
      "log loss beside the base rate",
      { logLoss: 0.4903, baseRate: 0.2, meanPrediction: 0.2 },
      { logLoss: 0.4905, baseRate: 0.2, meanPrediction: 0.2 },
      "2% below the 0.500 of the base rate",
    ],
    ["calibration error", { ece: 0.07 }, { ece: 0.0701 }, "calibration error"],
    ["a slope that is too low", { calibrationSlope: 0.8 }, { calibrationSlope: 0.79 }, "slope"],
    ["a slope that is too high", { calibrationSlope: 1.2 }, { calibrationSlope: 1.21 }, "slope"],
    ["no slope", { calibrationSlope: 1 }, { calibrationSlope: null }, "slope of nothing"],
    ["a mean that is too high", { meanPrediction: 0.4999 }, { meanPrediction: 0.501 }, "base rate"],
    ["a mean that is too low", { meanPrediction: 0.3201 }, { meanPrediction: 0.319 }, "base rate"],
  ])("a rung does not ship with %s past its gate", (_, within, past, reason) => {
    expect(failuresOf(judged(1, within))).toEqual([]);
    expect(failuresOf(judged(1, past))).toEqual([expect.stringContaining(reason)]);
  });

  test("gates widen with the uncertainty of few departures", () => {
    const steep = { calibrationSlope: 1.3, calibrationSlopeError: 0.2 };
    expect(failuresOf(judged(1, steep))).toEqual([]);
    expect(failuresOf(judged(1, { ...steep, calibrationSlopeError: 0.18 }))).toHaveLength(1);
    const low = { meanPrediction: 0.3, biasError: 0.18 };
    expect(failuresOf(judged(1, low))).toEqual([]);
    expect(failuresOf(judged(1, { ...low, biasError: 0.17 }))).toHaveLength(1);
  });

  test("the calibration error is measured against the base rate", () => {
    const rare = { baseRate: 0.04, meanPrediction: 0.04, logLoss: 0.12 };
    const judgedRare = (ece: number) => ({ ...judged(1, { ...rare, ece }), recencyLogLoss: 0.15 });
    // A quarter of the base rate above the floor of .02.
    expect(failuresOf(judgedRare(0.03))).toEqual([]);
    expect(failuresOf(judgedRare(0.0301))).toEqual([expect.stringContaining("calibration error")]);
  });

  test("a rung does not ship when the hiatus rule does as well", () => {
    expect(failuresOf({ ...judged(1), hiatusLogLoss: 0.5 })).toEqual([
      expect.stringContaining("hiatus rule"),
    ]);
  });

  test("a rung does not ship when the days to the end of the period do as well", () => {
    expect(failuresOf({ ...judged(1), periodEndLogLoss: 0.5 })).toEqual([
      expect.stringContaining("end of the period alone"),
    ]);
  });

  test("a base rate counts once a back-test may judge", () => {
    const of = (changes: Partial<ModelResult>, folds = 6) =>
      provenBaseRate({
        choice: { isProven: false },
        backtest: { ...tested(), folds, results: [{ ...recency, ...changes }] },
      });
    expect(of({ departures: 30, retained: 30 })).toBe(0.4);
    expect([of({ departures: 29 }), of({ retained: 29 }), of({}, 3)]).toEqual([null, null, null]);
  });

  test("a rung that passes with under 100 departures is provisional", () => {
    const of = (departures: number) => tested({ ...judged(1), departures });
    expect(chooseRung(plenty, of(100))).toMatchObject({ rung: 1, isProven: true, isProvisional: false });
    expect(chooseRung(plenty, of(99))).toMatchObject({
      rung: 1,
      isProven: true,
      isProvisional: true,
      why: expect.stringContaining("provisional, its back-test has 99 departures"),
    });
  });

  test("a rung that was trained at few cut-offs is judged by its own departures", () => {
    const of = (departures: number) =>
      tested(judged(1), { ...judged(3, { logLoss: 0.4 }), folds: 1, departures });
    expect(chooseRung(plenty, of(30))).toMatchObject({ rung: 3, isProven: true });
    expect(chooseRung(plenty, of(29))).toMatchObject({ rung: 1, isProven: true });
    expect(failuresOf({ ...judged(3), departures: 29 })).toEqual([
      "its back-test has 29 labels of the rarer class of the 30 it takes",
    ]);
    expect(failuresOf({ ...judged(3), retained: 29 })).toHaveLength(1);
    expect(failuresOf({ ...judged(3), departures: 24 }, true)).toEqual([]);
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

  describe("the model that serves", () => {
    const trained = [0, 1, 2, 3] as const;
    const elect = (backtest: Backtest, incumbent: Incumbent | null) =>
      chooseRung(plenty, backtest, trained, incumbent);
    const second = (logLoss: number) => tested(judged(1), judged(2, { logLoss }));
    const failing = { ece: 0.2 };

    test("is replaced by a model whose log loss is 0.5% lower, and not by a lesser gain", () => {
      const incumbent = { rung: 1, passed: true } as const;
      expect(elect(second(0.4974), incumbent)).toMatchObject({ rung: 2, isProven: true });
      expect(elect(second(0.4976), incumbent)).toMatchObject({
        rung: 1,
        isProven: true,
        why: expect.stringContaining("it served before"),
      });
      expect(elect(second(0.4976), null)).toMatchObject({ rung: 2, isProven: true });
    });

    test("is withdrawn when it fails in two trainings running", () => {
      const backtest = tested(judged(1, failing));
      const once = elect(backtest, { rung: 1, passed: true });
      expect(once).toMatchObject({
        rung: 1,
        isProven: false,
        isProvisional: false,
        why: expect.stringMatching(/^it failed the back-test for the first time: its calibration error/),
      });
      expect(incumbentOf(once, backtest)).toEqual({ rung: 1, passed: false });
      expect(elect(backtest, incumbentOf(once, backtest))).toMatchObject({ rung: null });
      expect(elect(tested(judged(1)), incumbentOf(once, backtest))).toMatchObject({
        rung: 1,
        isProven: true,
      });
    });

    test("that failed is replaced by a better one at once", () => {
      const backtest = tested(judged(1, failing), judged(2, { logLoss: 0.45 }));
      expect(elect(backtest, { rung: 1, passed: true })).toMatchObject({ rung: 2, isProven: true });
      const worse = tested(judged(1, failing), judged(2, { logLoss: 0.55 }));
      expect(elect(worse, { rung: 1, passed: true })).toMatchObject({ rung: 1, isProven: false });
      expect(elect(worse, { rung: 1, passed: false })).toMatchObject({ rung: 2, isProven: true });
    });

    test("stays while it is calibrated and not worse than recency", () => {
      const asGood = tested(judged(3, { logLoss: 0.6 }));
      expect(elect(asGood, { rung: 3, passed: true })).toMatchObject({ rung: 3, isProven: true });
      expect(elect(asGood, { rung: 3, passed: false })).toMatchObject({ rung: null });
      expect(elect(asGood, null)).toMatchObject({ rung: null });
      const worse = tested(judged(3, { logLoss: 0.6001 }));
      expect(elect(worse, { rung: 3, passed: true })).toMatchObject({ rung: 3, isProven: false });
    });

    test("without a proof has no claim", () => {
      const unjudged = { ...tested(judged(1)), folds: 3 };
      const unproven = { rung: 1, isProven: false } as const;
      expect(incumbentOf(unproven, unjudged)).toEqual({ rung: 1, passed: false });
      expect(incumbentOf({ rung: null, isProven: false }, unjudged)).toBeNull();
      expect(elect(tested(judged(1, failing)), incumbentOf(unproven, unjudged))).toMatchObject({
        rung: null,
      });
    });

    describe("needs less data than a new one", () => {
      const incumbent = { rung: 3, passed: true } as const;
      const of = (departures: number, changes: Partial<Metrics> = {}): Backtest => ({
        ...tested(),
        results: [
          { ...judged(3, changes), departures },
          { ...recency, departures },
        ],
      });
      const few = (churnedLabels: number) => ({ ...plenty, churnedLabels });
      const electOf = (departures: number, before: Incumbent | null, backtest = of(departures)) =>
        chooseRung(few(departures), backtest, [3], before, true);

      test("and stays at 29 departures when it was proven", () => {
        const kept = electOf(29, incumbent);
        expect(kept).toMatchObject({ rung: 3, isProven: true, isProvisional: true });
        expect(incumbentOf(kept, of(29))).toEqual(incumbent);
        expect(electOf(24, incumbent)).toMatchObject({ rung: 3, isProven: true });
        expect(electOf(23, incumbent)).toMatchObject({ rung: null, isProven: false });
        expect(electOf(29, null)).toMatchObject({ rung: null });
        expect(electOf(29, { rung: 3, passed: false })).toMatchObject({ rung: null });
      });

      test("and has two trainings to fail there, too", () => {
        const failed = of(29, failing);
        const once = electOf(29, incumbent, failed);
        expect(once).toMatchObject({ rung: 3, isProven: false });
        expect(electOf(29, incumbentOf(once, failed), failed)).toMatchObject({ rung: null });
      });

      test("and keeps its base rate, by which risks have bands", () => {
        expect(provenBaseRate({ choice: electOf(29, incumbent), backtest: of(29) })).toBe(0.4);
        expect(provenBaseRate({ choice: electOf(29, null), backtest: of(29) })).toBeNull();
      });

      test("and is trained with them", () => {
        expect(shortagesOf(3, few(29), true, true)).toEqual([]);
        expect(shortagesOf(3, few(23), true, true)).toEqual([{ what: "churnedLabels", have: 23, need: 24 }]);
        const young = { ...plenty, entities: 50, entitiesWithThreePeriods: 24 };
        expect(shortagesOf(1, young, false, true)).toEqual([]);
        expect(shortagesOf(1, young)).toHaveLength(2);
      });
    });
  });

  describe("a baseline", () => {
    const withBaselines = [0, 1, 2, 3, 4, 5] as const;
    const ends = { ...judged(0, { logLoss: 0.61 }), model: "period end" as const };
    const of = (backtest: Backtest, incumbent: Incumbent | null = null, isDeclared = false) =>
      chooseRung(plenty, backtest, withBaselines, incumbent, isDeclared);

    test("serves when no model beats it, if it is calibrated", () => {
      const asGood = tested(judged(3, { logLoss: 0.595 }));
      expect(of(asGood)).toMatchObject({
        rung: 4,
        isProven: true,
        isProvisional: false,
        why: "no model is better than the time since the last activity, which is calibrated",
        next: { rung: 3, failures: [expect.stringContaining("not 2% below the 0.600 of recency alone")] },
      });
      const bold = { ...recency, metrics: { ...recency.metrics, ece: 0.2 } };
      expect(of({ ...asGood, results: [judged(3, { logLoss: 0.595 }), bold] })).toMatchObject({ rung: null });
      const useless = { ...recency, metrics: { ...recency.metrics, logLoss: 0.67 } };
      expect(of({ ...asGood, results: [judged(3, { logLoss: 0.665 }), useless] })).toMatchObject({
        rung: null,
      });
    });

    test("of subscriptions is the better one of recency and the end of the period", () => {
      const subscriptions = (logLoss: number) => ({
        ...tested(judged(3, { logLoss: 0.61 })),
        results: [judged(3, { logLoss: 0.61 }), recency, { ...ends, metrics: { ...ends.metrics, logLoss } }],
      });
      expect(of(subscriptions(0.58), null, true)).toMatchObject({
        rung: 5,
        why: expect.stringContaining("the days to the end of the period"),
      });
      expect(of(subscriptions(0.61), null, true)).toMatchObject({ rung: 4 });
      // Silence is predicted by no end of a period.
      expect(of(subscriptions(0.58))).toMatchObject({ rung: 4 });
      expect(incumbentOf(of(subscriptions(0.58), null, true), subscriptions(0.58))).toMatchObject({
        rung: 5,
        passed: true,
      });
    });

    test("takes over at once from a model that failed, and gives way to a better one", () => {
      const failed = tested(judged(3, { logLoss: 0.62 }));
      expect(of(failed, { rung: 3, passed: true })).toMatchObject({ rung: 4, isProven: true });
      const better = tested(judged(3, { logLoss: 0.58 }));
      expect(of(better, { rung: 4, passed: true })).toMatchObject({ rung: 3, isProven: true });
    });

    test("the base rate takes over from what failed, until a model passes", () => {
      const all = [...withBaselines, 6] as const;
      const choose = (backtest: Backtest, before: Incumbent | null, isDeclared: boolean) =>
        chooseRung(plenty, backtest, all, before, isDeclared);
      const useless = { ...recency, metrics: { ...recency.metrics, logLoss: 0.67 } };
      const nothing: Backtest = { ...tested(), results: [judged(3, { logLoss: 0.68 }), useless] };
      for (const isDeclared of [true, false]) {
        const once = choose(nothing, { rung: 3, passed: true }, isDeclared);
        expect(once).toMatchObject({ rung: 3, isProven: false });
        const twice = choose(nothing, incumbentOf(once, nothing), isDeclared);
        expect(twice).toMatchObject({ rung: 6, isProven: false, next: { rung: 3 } });
        const later = choose(nothing, incumbentOf(twice, nothing), isDeclared);
        expect(later).toMatchObject({ rung: 6 });
        // As any new model it has to be 2 % better than recency.
        const again = tested(judged(3, { logLoss: 0.589 }));
        expect(choose(again, incumbentOf(later, again), isDeclared).rung).not.toBe(3);
        const better = tested(judged(3, { logLoss: 0.58 }));
        expect(choose(better, incumbentOf(later, better), isDeclared)).toMatchObject({
          rung: 3,
          isProven: true,
        });
        // What never had a risk gets none, and neither do those whose training knew no base rate.
        expect(choose(nothing, null, isDeclared)).toMatchObject({ rung: null });
        expect(
          chooseRung(plenty, nothing, withBaselines, { rung: 3, passed: false }, isDeclared),
        ).toMatchObject({
          rung: null,
        });
      }
    });

    test("has a provisional claim below 100 departures, and none below 30", () => {
      const few = (departures: number): Backtest => ({ ...tested(), results: [{ ...recency, departures }] });
      expect(of(few(99))).toMatchObject({ rung: 4, isProvisional: true });
      expect(of(few(29), null, true)).toMatchObject({ rung: null });
      expect(chooseRung({ ...plenty, churnedLabels: 29 }, few(99), withBaselines, null, true)).toMatchObject({
        rung: null,
      });
    });
  });

  test("models are compared at the cut-offs that all of them have", () => {
    const at = (losses: readonly number[], fromDay: number) =>
      losses.map((logLoss, index) => ({ cutoffDay: fromDay + 28 * index, count: 100, logLoss }));
    // At the first cut-off, which the regression lacks, recency was bad: 34 % below it was no merit of BG/BB.
    const bgbb: ModelResult = {
      ...judged(1, { logLoss: (0.07 / 0.105) * 0.6 }),
      byCutoff: at([0.3, 0.45, 0.45], 0),
    };
    const logistic: ModelResult = { ...judged(3, { logLoss: 0.42 }), byCutoff: at([0.42, 0.42], 28) };
    const compared = (...results: readonly ModelResult[]): Backtest => ({
      ...tested(),
      results: [...results, { ...recency, byCutoff: at([0.8, 0.5, 0.5], 0) }],
    });
    expect(chooseRung(plenty, compared(bgbb, logistic))).toMatchObject({ rung: 3 });
    // Back-tests of before have no losses by cut-off.
    const stored = tested(bgbb, { ...judged(3, { logLoss: 0.42 }) });
    expect(chooseRung(plenty, stored)).toMatchObject({ rung: 1 });
    // A regression that failed does not shorten the comparison of the others.
    const failing: ModelResult = { ...logistic, metrics: { ...logistic.metrics, ece: 0.2 } };
    const second: ModelResult = { ...judged(2, { logLoss: 0.44 }), byCutoff: at([0.2, 0.46, 0.46], 0) };
    expect(chooseRung(plenty, compared(bgbb, second, failing))).toMatchObject({ rung: 2 });
  });

  test("BG/BB serves unproven before there is a back-test, and no model before there are 60 entities", () => {
    expect(chooseRung(plenty, null)).toMatchObject({
      rung: 1,
      isProven: false,
      next: { rung: 2, missing: [] },
    });
    expect(chooseRung({ ...plenty, entities: 59 }, null)).toMatchObject({
      rung: null,
      isProven: false,
      why: "there is too little data for a churn risk; there was no back-test yet",
      next: { rung: 1, missing: [{ what: "entities", have: 59, need: 60 }] },
    });
    const young = { ...plenty, entitiesWithThreePeriods: 399 };
    expect(shortagesOf(1, young)).toEqual([{ what: "entitiesWithThreePeriods", have: 399, need: 400 }]);
  });

  test("a declared churn target needs 30 departures and 30 that stayed, and no number of entities", () => {
    const least = { entities: 31, entitiesWithThreePeriods: 2, churnedLabels: 30, retainedLabels: 30 };
    expect(shortagesOf(3, least, true)).toEqual([]);
    for (const what of ["churnedLabels", "retainedLabels"] as const) {
      expect(shortagesOf(3, { ...least, [what]: 29 }, true)).toEqual([{ what, have: 29, need: 30 }]);
    }
    const backtest = tested(judged(3, { logLoss: 0.3 }));
    const chosen = (counts: DataCounts) => chooseRung(counts, backtest, [3], null, true);
    expect(chosen(least)).toMatchObject({ rung: 3, isProven: true });
    expect(chosen({ ...least, churnedLabels: 29 })).toMatchObject({ rung: null });
  });

  test("the prior never serves, however good it is in the back-test", () => {
    const backtest = tested(judged(0, { logLoss: 0.3 }), judged(1, { logLoss: 0.5 }));
    expect(chooseRung(plenty, backtest)).toMatchObject({ rung: 1, isProven: true });
    const alone = tested(judged(0, { logLoss: 0.3 }), judged(1, { logLoss: 0.6 }));
    expect(chooseRung(plenty, alone, [0, 1])).toMatchObject({ rung: null, next: { rung: 1 } });
    expect(chooseRung(plenty, alone, [0, 1], { rung: 0, passed: true })).toMatchObject({ rung: null });
  });

  test("a lack of data is told apart from models that failed", () => {
    const failed = tested(judged(1, { logLoss: 0.6 }));
    const lacks = (counts: DataCounts, backtest: Backtest, isDeclared = false) =>
      lacksData({ choice: chooseRung(counts, backtest, [0, 1, 2, 3], null, isDeclared), backtest });
    expect(lacks(plenty, failed)).toBe(false);
    expect(lacks(plenty, tested(judged(1)))).toBe(false);
    expect(lacks({ ...plenty, entities: 59 }, { ...failed, folds: 3 })).toBe(true);
    expect(lacks({ ...plenty, entities: 59 }, failed)).toBe(true);
    expect(lacks({ ...plenty, churnedLabels: 29 }, failed, true)).toBe(true);
    // Enough labels today, and at no cut-off of the back-test.
    expect(lacks(plenty, failed, true)).toBe(true);
    expect(lacks(plenty, tested(judged(3, { logLoss: 0.6 })), true)).toBe(false);
  });

  test("three cut-offs, or 29 departures, prove nothing", () => {
    const three = { ...tested(judged(1)), folds: 3 };
    expect(chooseRung(plenty, three).why).toContain("3 of the 4 cut-offs");
    const rare = {
      ...tested(),
      results: [{ ...recency, departures: 29 }],
    };
    expect(chooseRung(plenty, rare).why).toContain("29 labels");
  });
});
