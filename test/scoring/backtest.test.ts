import { describe, expect, test } from "bun:test";
import { type Backtest, backtest } from "../../server/scoring/backtest.ts";
import { fitHiatus, hiatusRisk, recencyBaseline } from "../../server/scoring/baselines.ts";
import { priorParameters } from "../../server/scoring/bgbb.ts";
import { fitBgbb } from "../../server/scoring/bgbb-fit.ts";
import { type ChurnModel, riskScorer, silenceOver, tablesFor } from "../../server/scoring/churn-model.ts";
import { columnsOf, designFor } from "../../server/scoring/design.ts";
import { planFolds, trainingDaysFor } from "../../server/scoring/folds.ts";
import { chooseRung, failuresOf } from "../../server/scoring/ladder.ts";
import { reasonGroups } from "../../server/scoring/logistic.ts";
import { type EntityLog, type Snapshot, snapshotOf } from "../../server/scoring/snapshot.ts";
import { logistic } from "../../server/scoring/special.ts";
import { countData, type DataCounts, shortagesOf, trainRungs } from "../../server/scoring/train.ts";
import { backtestLog } from "./reference.ts";
import { quiet, simulatedFrom, simulateLogs } from "./support.ts";

const days = 500;
const horizonDays = 28;
const endDay = simulatedFrom + days;
const plenty: DataCounts = {
  entities: 800,
  entitiesWithThreePeriods: 700,
  churnedLabels: 300,
  retainedLabels: 300,
};

function run(entities: readonly EntityLog[], atMost = 6): Backtest {
  return backtestLog(entities, planFolds(simulatedFrom, endDay, horizonDays, atMost), horizonDays);
}

/** All rungs, trained on simulated entities when most of them are still there. */
function trained(entities: readonly EntityLog[]): readonly ChurnModel[] {
  const snapshot = snapshotOf(entities, simulatedFrom + 260, horizonDays);
  const bgbb = fitBgbb(snapshot.cells).parameters;
  const tables = tablesFor(bgbb, horizonDays);
  return trainRungs({
    horizonDays,
    counts: countData(snapshot.cells, snapshot.rows),
    bgbb,
    rows: snapshot.rows.map((row) => ({
      ...row,
      bgbbRisk: silenceOver(horizonDays, tables, row.features.cell),
    })),
    design: designFor(snapshot.rows.map(({ features }) => features)),
  });
}

describe("folds", () => {
  test("lie 28 days apart back from the end, and train on labels that were known", () => {
    const folds = planFolds(simulatedFrom, endDay, horizonDays);
    expect(folds).toHaveLength(12);
    expect(folds.at(-1)?.cutoffDay).toBe(endDay - horizonDays);
    for (const [i, { cutoffDay, trainingDays }] of folds.entries()) {
      if (i > 0) expect(cutoffDay - (folds[i - 1]?.cutoffDay ?? 0)).toBe(28);
      expect(trainingDays.length).toBeWithin(1, 7);
      expect(trainingDays[0]).toBe(cutoffDay - horizonDays);
    }
  });

  test("are none while a log is young", () => {
    expect(planFolds(0, 100, 28)).toEqual([]);
    // 112 days of history, a horizon of labels to train on, and one to be judged by.
    expect(planFolds(0, 167, 28)).toEqual([]);
    expect(planFolds(0, 168, 28)).toEqual([{ cutoffDay: 140, trainingDays: [112] }]);
    expect(trainingDaysFor(1_000, 0, 84)).toHaveLength(6);
  });
});

describe("the back-test", () => {
  const entities = simulateLogs(1_200, days, 11);
  const result = run(entities);

  test("judges all rungs and both baselines on the same rows", () => {
    expect(result.results.map(({ model }) => model)).toEqual([
      "rung 0",
      "rung 1",
      "rung 2",
      "rung 3",
      "recency",
      "hiatus",
    ]);
    expect(new Set(result.results.map(({ metrics }) => metrics.count)).size).toBe(1);
    const lossOf = (model: string) =>
      result.results.find((one) => one.model === model)?.metrics.logLoss ?? Number.NaN;
    for (const { recencyLogLoss, hiatusLogLoss } of result.results) {
      expect(recencyLogLoss).toBeCloseTo(lossOf("recency"), 12);
      expect(hiatusLogLoss).toBeCloseTo(lossOf("hiatus"), 12);
    }
  });

  test("finds models better than baselines where activity tells of leaving, and lets one ship", () => {
    const choice = chooseRung(plenty, result);
    expect(choice.isProven).toBe(true);
    expect(choice.rung).toBeOneOf([1, 2, 3]);
    expect(choice.why).toContain("below recency alone");
  });

  test("lets nothing ship where labels are drawn by lot", () => {
    const at = (day: number): Snapshot => {
      const snapshot = snapshotOf(entities, day, horizonDays);
      return {
        ...snapshot,
        rows: snapshot.rows.map((row, i) => ({ ...row, label: (i * 7_919 + day) % 10 < 5 })),
      };
    };
    const folds = planFolds(simulatedFrom, endDay, horizonDays, 6);
    const byLot = backtest(
      folds.map(({ cutoffDay, trainingDays }) => ({
        scoring: at(cutoffDay),
        training: trainingDays.map(at),
      })),
      horizonDays,
    );
    expect(chooseRung(plenty, byLot)).toMatchObject({ rung: null, isProven: false, next: { rung: 0 } });
  });

  test("does not change when the future of its last horizon is taken away or added to", () => {
    const more = entities.map(({ log, ...rest }) => ({
      ...rest,
      log: [...log, { day: endDay, event: "later", count: 1 }],
    }));
    expect(run(more, 2)).toEqual(run(entities, 2));
  });

  test("refuses labels that were not known yet", () => {
    const at = (day: number) => snapshotOf(entities, day, horizonDays);
    const fold = { scoring: at(endDay - 28), training: [at(endDay - 55)] };
    expect(() => backtest([fold], horizonDays)).toThrow(RangeError);
  });

  test.each([
    ["nobody", []],
    ["one user", simulateLogs(1, days, 1)],
    ["five users", simulateLogs(5, days, 2)],
    ["all active", everyDay(80, days)],
    ["all silent", everyDay(80, 150)],
  ] as const)("of %s has finite figures, and proves nothing", (_, few) => {
    const result = run(few);
    for (const { metrics } of result.results) {
      expect(
        Object.values(metrics).every((value) => typeof value !== "number" || Number.isFinite(value)),
      ).toBe(true);
    }
    const counts = countData(few.length === 0 ? [] : snapshotOf(few, endDay, horizonDays).cells, []);
    const choice = chooseRung(counts, result);
    expect(choice.isProven).toBe(false);
    expect(choice.why).toContain("not proven");
    expect(choice.next?.missing.length ?? 0).toBeGreaterThan(0);
  });
});

/** Entities that are active every day until they all stop. */
function everyDay(count: number, activeDays: number): EntityLog[] {
  const log = Array.from({ length: activeDays }, (_, day) => ({
    day: simulatedFrom + day,
    event: "open",
    count: 1,
  }));
  return Array.from({ length: count }, () => ({ log }));
}

describe("every rung", () => {
  const entities = simulateLogs(1_200, days, 12);
  const models = trained(entities);
  const { rows } = snapshotOf(entities, endDay, horizonDays);

  test("gives probabilities whose reasons add up", () => {
    expect(models.map(({ rung }) => rung)).toEqual([0, 1, 2, 3]);
    for (const model of models) {
      const score = riskScorer(model);
      for (const { features } of rows) {
        const { risk, contributions } = score(features);
        expect(risk).toBeWithin(0, 1 + 1e-12);
        const sum = reasonGroups.reduce(
          (total, group) => total + contributions[group],
          model.referenceLogOdds,
        );
        expect(Math.abs(logistic(sum) - risk)).toBeLessThan(1e-9);
      }
    }
  });

  test("scores the same after a journey through JSON", () => {
    for (const model of models) {
      const [before, after] = [riskScorer(model), riskScorer(JSON.parse(JSON.stringify(model)))];
      for (const { features } of rows.slice(0, 50)) expect(after(features)).toEqual(before(features));
    }
  });

  test("of BG/BB says that silence and nothing else grows with silence", () => {
    for (const model of models.slice(0, 2)) {
      const score = riskScorer(model);
      const scores = [0, 1, 2, 3].map((more) => score({ ...quiet, cell: { x: 3, t: 5, n: 5 + more } }));
      expect(scores[0]?.contributions.silence).toBe(0);
      for (const [i, { risk, contributions }] of scores.entries()) {
        if (i === 0) continue;
        expect(risk).toBeGreaterThan(scores[i - 1]?.risk ?? 1);
        expect(contributions.frequency).toBe(scores[0]?.contributions.frequency ?? Number.NaN);
      }
    }
  });

  test("the first is BG/BB with the prior's parameters", () => {
    const [prior] = models;
    const expected = tablesFor(priorParameters, horizonDays).silentProbability({ x: 0, t: 0, n: 2 }, 4);
    expect(prior && riskScorer(prior)({ ...quiet, cell: { x: 0, t: 0, n: 2 } }).risk).toBeCloseTo(
      expected,
      12,
    );
  });
});

describe("the design", () => {
  const entity = (plan: string, index: number) => ({
    ...quiet,
    cell: { x: 0, t: 0, n: 2 },
    traits: { plan, id: `${index}` },
  });

  test("has a column for trait values of 30 entities, and none for rarer ones", () => {
    const entities = [...Array(30).fill("pro"), ...Array(29).fill("free")].map(entity);
    expect(designFor(entities)).toEqual({ hasMembers: false, traits: [{ trait: "plan", value: "pro" }] });
  });

  test("has columns for members where there are members", () => {
    const members = {
      active28: 3,
      activePrevious28: 1,
      active90: 6,
      topShare: 0.5,
      meanRiskLogOdds: null,
    };
    const design = designFor([{ ...entity("pro", 1), members }]);
    const values = columnsOf(design).map((column) => [
      column.name,
      column.of({ features: { ...entity("pro", 1), members }, bgbbRisk: 0.5 }),
    ]);
    expect(Object.fromEntries(values)).toMatchObject({
      "active members": Math.log(4),
      "active members against the 28 days before": Math.log(2),
      penetration: 0.5,
      "top member's share": 0.5,
      "members' mean risk": 0,
      bgbb: 0,
    });
  });
});

describe("baselines", () => {
  const row = (idleDays: number, label: boolean) => ({
    features: { ...quiet, idleDays, cell: { x: 0, t: 0, n: 2 } },
    label,
  });
  const rows = Array.from({ length: 200 }, (_, i) => row(1 + (i % 20), i % 20 >= 12));

  test("the hiatus rule finds the day from which silence means leaving", () => {
    const rule = fitHiatus(rows);
    expect(rule?.fromIdleDays).toBe(13);
    expect(rule && hiatusRisk(rule, row(13, true).features)).toBeGreaterThan(0.98);
    expect(rule && hiatusRisk(rule, row(12, true).features)).toBeLessThan(0.02);
  });

  test("recency alone rises with silence", () => {
    const risk = recencyBaseline(rows);
    expect(risk?.(row(19, true).features)).toBeGreaterThan(risk?.(row(3, true).features) ?? 1);
  });

  test("say nothing without both classes", () => {
    expect([recencyBaseline([row(1, true)]), fitHiatus([row(1, true)]), fitHiatus([])]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

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
  const tested = (...results: ReturnType<typeof judged>[]): Backtest => ({
    horizonDays,
    folds: 6,
    results: [...results, recency],
    isConverged: true,
  });

  test.each([
    ["log loss", { logLoss: 0.589 }, "not 2 % below"],
    ["calibration error", { ece: 0.051 }, "calibration error"],
    ["a slope that is too low", { calibrationSlope: 0.79 }, "slope"],
    ["a slope that is too high", { calibrationSlope: 1.26 }, "slope"],
    ["bias", { meanPrediction: 0.431 }, "base rate"],
  ])("a rung does not ship with too much %s", (_, changes, reason) => {
    expect(failuresOf(judged(1))).toEqual([]);
    expect(failuresOf(judged(1, changes))).toHaveLength(1);
    expect(failuresOf(judged(1, changes))[0]).toContain(reason);
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
