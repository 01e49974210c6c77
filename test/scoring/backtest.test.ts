import { describe, expect, test } from "bun:test";
import {
  type Backtest,
  backtest,
  type FittedSnapshot,
  trainingOf,
} from "../../server/scoring/churn/backtest.ts";
import { baselineModel, fitHiatus, hiatusRisk } from "../../server/scoring/churn/baselines.ts";
import { priorParameters } from "../../server/scoring/churn/bgbb.ts";
import { type RidgeKind, riskScorer } from "../../server/scoring/churn/churn-model.ts";
import type { FeatureGroup } from "../../server/scoring/churn/columns.ts";
import { foldsWithKnownOutcomes, planFolds, trainingDaysFor } from "../../server/scoring/churn/folds.ts";
import { chooseRung } from "../../server/scoring/churn/ladder.ts";
import type { Snapshot, SnapshotRow } from "../../server/scoring/churn/snapshot.ts";
import { countData, type DataCounts, trainRidge } from "../../server/scoring/churn/train.ts";
import type { BillingFeatures } from "../../server/scoring/scores/billing.ts";
import type { ScoredFeatures } from "../../server/scoring/scores/state.ts";
import { metricsOf } from "../../server/scoring/statistics/metrics.ts";
import { Random } from "../../simulation/random.ts";
import { foldsOfLog } from "./reference.ts";
import { type EntityLog, snapshotOf } from "./snapshot.ts";
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
  const folds = planFolds(simulatedFrom, endDay, horizonDays, atMost);
  return backtest(foldsOfLog(entities, folds, horizonDays), horizonDays);
}

describe("folds", () => {
  test("lie 28 days apart back from the end, and train on labels that were known", () => {
    const folds = planFolds(simulatedFrom, endDay, horizonDays);
    expect(folds).toHaveLength(12);
    expect(folds.at(-1)?.cutoffDay).toBe(endDay - horizonDays);
    for (const [i, { cutoffDay, trainingDays }] of folds.entries()) {
      if (i > 0) expect(cutoffDay - (folds[i - 1]?.cutoffDay ?? 0)).toBe(28);
      expect(trainingDays.length).toBeWithin(1, 27);
      expect(trainingDays[0]).toBe(cutoffDay - horizonDays);
    }
  });

  test("are none while a log is young", () => {
    expect(planFolds(0, 100, 28)).toEqual([]);
    // 112 days of history, a horizon of labels to train on, and one to be judged by.
    expect(planFolds(0, 167, 28)).toEqual([]);
    expect(planFolds(0, 168, 28)).toEqual([{ cutoffDay: 140, trainingDays: [112] }]);
    const training = trainingDaysFor(1_000, 0, 84);
    expect([training.length, training[0], training[1], training.at(-1)]).toEqual([26, 916, 902, 566]);
  });
});

test("a cut-off with an outage in its horizon is no fold, and trains no other", () => {
  const folds = planFolds(0, 400, 28);
  expect(folds.map(({ cutoffDay }) => cutoffDay)).toEqual([148, 176, 204, 232, 260, 288, 316, 344, 372]);
  const left = (from: number, to: number) =>
    foldsWithKnownOutcomes(folds, 28, [{ from, to }]).map(({ cutoffDay, trainingDays }) => [
      cutoffDay,
      ...trainingDays,
    ]);
  expect(left(0, 1)).toEqual(folds.map(({ cutoffDay, trainingDays }) => [cutoffDay, ...trainingDays]));
  const dropped = (from: number, to: number) =>
    folds.map(({ cutoffDay }) => cutoffDay).filter((day) => !left(from, to).flat().includes(day));
  // The horizon of day 260 ends before day 288.
  expect([dropped(287, 288), dropped(288, 289), dropped(287, 289)]).toEqual([[260], [288], [260, 288]]);
  // Day 148 has only day 120 to train at.
  expect(left(147, 148).map(([cutoffDay]) => cutoffDay)).not.toContain(148);
  expect(left(230, 240).flat()).not.toContain(204);
  expect(left(230, 240).flat()).not.toContain(232);
});

describe("the back-test", () => {
  const entities = simulateLogs(800, days, 11);
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
    expect(chooseRung(plenty, byLot)).toMatchObject({ rung: null, isProven: false, next: { rung: 1 } });
  });

  test("does not change when the future of its last horizon is taken away or added to", () => {
    const more = entities.map(({ log, ...rest }) => ({
      ...rest,
      log: [...log, { day: endDay, event: "later", count: 1 }],
    }));
    expect(run(more, 2)).toEqual(run(entities, 2));
  });

  test("has the figures with scheduled ends beside those that gates look at", () => {
    const isCanceling = ({ entity }: { readonly entity: number }) => entity % 10 === 0;
    const withScheduled = (day: number): Snapshot => {
      const snapshot = snapshotOf(entities, day, horizonDays);
      const rows = snapshot.rows.map((row) => ({
        ...row,
        isCanceling: isCanceling(row),
        isInvoluntary: row.label && row.entity % 2 === 0,
      }));
      return { ...snapshot, rows };
    };
    const folds = planFolds(simulatedFrom, endDay, horizonDays, 2).map(({ cutoffDay, trainingDays }) => ({
      scoring: withScheduled(cutoffDay),
      training: trainingDays.slice(0, 2).map(withScheduled),
    }));
    const rows = folds.flatMap(({ scoring }) => scoring.rows);
    for (const { metrics, departures, involuntary, withCanceling } of backtest(folds, horizonDays).results) {
      expect(metrics.count).toBe(rows.filter((row) => !row.isCanceling).length);
      expect(withCanceling?.metrics.count).toBe(rows.length);
      expect(withCanceling?.metrics).not.toHaveProperty("reliability");
      expect(departures).toBeLessThan(withCanceling?.departures ?? 0);
      expect(involuntary).toBeWithin(1, departures);
      expect(involuntary).toBeLessThan(withCanceling?.involuntary ?? 0);
    }
    expect(result.results.every(({ withCanceling }) => withCanceling === undefined)).toBe(true);
  });

  test("refuses labels that were not known yet", () => {
    const at = (day: number) => snapshotOf(entities, day, horizonDays);
    const fold = { scoring: at(endDay - 28), training: [at(endDay - 55)] };
    expect(() => backtest([fold], horizonDays)).toThrow(RangeError);
  });

  test.each([
    ["nobody", [], null],
    ["one user", simulateLogs(1, days, 1), null],
    ["five users", simulateLogs(5, days, 2), null],
    ["all active", everyDay(80, days), 1],
    ["all silent", everyDay(80, 150), null],
  ] as const)("of %s has finite figures, and proves nothing", (_, few, rung) => {
    const result = run(few);
    for (const { metrics } of result.results) {
      expect(
        Object.values(metrics).every((value) => typeof value !== "number" || Number.isFinite(value)),
      ).toBe(true);
    }
    const counts = countData(
      few.length === 0 ? [] : snapshotOf(few, endDay, horizonDays).cells,
      [],
      horizonDays,
    );
    const choice = chooseRung(counts, result);
    expect([choice.rung, choice.isProven]).toEqual([rung, false]);
    expect(choice.why).toStartWith(
      rung === null ? "there is too little data for a churn risk; " : "BG/BB needs no labels; not proven, ",
    );
    expect(choice.next?.missing.length ?? 0).toBeGreaterThan(0);
  });
});

test("training data counts a departure once, and an entity that stayed once", () => {
  const at = (entity: number, cutoffDay: number, label: boolean) => ({ entity, cutoffDay, label });
  const outcomes = [
    at(1, 0, false),
    at(1, 7, false),
    at(1, 14, true),
    at(1, 21, true),
    at(2, 0, false),
    at(2, 7, false),
    at(2, 14, false),
    at(3, 0, true),
    at(3, 28, true),
  ];
  expect(countData([], outcomes, 28)).toMatchObject({ churnedLabels: 3, retainedLabels: 2 });
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

describe("baselines", () => {
  const row = (idleDays: number, label: boolean) => ({
    features: { ...quiet, idleDays, cell: { x: 0, t: 0, n: 2 } },
    label,
  });
  const rows = Array.from({ length: 200 }, (_, i) => row(1 + (i % 20), i % 20 >= 12));

  const riskBy = (rung: 4 | 5, of: readonly ReturnType<typeof row>[]) => {
    const model = baselineModel(rung, { horizonDays: 28, bgbb: priorParameters, rows: of });
    const score = model && riskScorer(model);
    return score && ((features: ScoredFeatures) => score(features).risk);
  };

  test("the hiatus rule finds the day from which silence means leaving", () => {
    const rule = fitHiatus(rows);
    expect(rule?.fromIdleDays).toBe(13);
    expect(rule && hiatusRisk(rule, row(13, true).features)).toBeGreaterThan(0.98);
    expect(rule && hiatusRisk(rule, row(12, true).features)).toBeLessThan(0.02);
  });

  test("recency alone rises with silence", () => {
    const risk = riskBy(4, rows);
    expect(risk?.(row(19, true).features)).toBeGreaterThan(risk?.(row(3, true).features) ?? 1);
  });

  const paying = (daysToPeriodEnd: number | null, label: boolean) => {
    const { features } = row(1, label);
    const billing: BillingFeatures = {
      isPaying: true,
      mrr: 4_900,
      isYearly: false,
      ageDays: 90,
      daysToPeriodEnd,
      endsAtMs: null,
      hasFailedPayment: false,
      isTrialEnding: false,
      isDown: false,
      isPastDue: false,
    };
    return { features: { ...features, billing }, label };
  };

  test("the days to the end of the period tell of ends, where all pay and one is known", () => {
    const ends = Array.from({ length: 200 }, (_, i) => paying(i % 5 === 0 ? null : i % 30, i % 30 < 10));
    const risk = riskBy(5, ends);
    const of = (days: number | null) => risk?.(paying(days, true).features) ?? Number.NaN;
    expect(of(2)).toBeGreaterThan(2 * of(25));
    expect(of(null)).toBeWithin(0.25, 0.45);
    expect(riskBy(5, [...ends, row(1, true)])).toBeNull();
    expect(riskBy(5, [paying(null, true), paying(null, false)])).toBeNull();
    expect(riskBy(5, [paying(1, true), paying(9, true)])).toBeNull();
  });

  test("say nothing without both classes", () => {
    expect([riskBy(4, [row(1, true)]), fitHiatus([row(1, true)]), fitHiatus([])]).toEqual([null, null, null]);
  });
});

describe("a back-test of a declared target", () => {
  // Departures follow from what is paid for and from single events, and 60 of them are few for so many
  // columns.
  const declaredHorizon = 28;
  const random = new Random(11);
  const entities = Array.from({ length: 250 }, (_, entity) => ({ entity, isRisky: entity % 4 === 0 }));
  const snapshotOn = (cutoffDay: number): Snapshot => {
    const rows = entities.map(({ entity, isRisky }): SnapshotRow => {
      const billing: BillingFeatures = {
        isPaying: true,
        mrr: 4_900,
        isYearly: true,
        ageDays: 200,
        daysToPeriodEnd: 100,
        endsAtMs: null,
        hasFailedPayment: isRisky,
        isTrialEnding: false,
        isDown: false,
        isPastDue: isRisky,
      };
      const features = {
        ...quiet,
        billing,
        cell: { x: 0, t: 0, n: 2 },
        eventCounts28: { export: isRisky ? 0 : 9 },
      };
      const label = random.chance(isRisky ? 0.12 : 0.01);
      return { features, label, entity, cutoffDay, cluster: -entity, isCanceling: false };
    });
    return { cutoffDay, isDeclared: true, cells: [{ x: 0, t: 0, n: 2, count: rows.length }], rows };
  };
  const snapshots = new Map(Array.from({ length: 24 }, (_, at) => [14 * at, snapshotOn(14 * at)]));
  const at = (day: number) => snapshots.get(day) ?? failed();
  const folds = Array.from({ length: 6 }, (_, index) => {
    const cutoffDay = 322 - 28 * (5 - index);
    const trainingDays = [...snapshots.keys()]
      .filter((day) => day + declaredHorizon <= cutoffDay)
      .toReversed();
    return { scoring: at(cutoffDay), training: trainingDays.map(at) };
  });

  test("has all groups of features from 30 departures on, at every cut-off", () => {
    const fits = new Map<Snapshot, FittedSnapshot>();
    const result = backtest(folds, declaredHorizon, fits);
    const rung3 = result.results.find(({ model }) => model === "rung 3");
    expect(rung3?.metrics.auc).toBeGreaterThan(0.7);
    for (const fold of folds) {
      const training = trainingOf(fold, fits, declaredHorizon);
      const names = trainRidge({ ...training, ridge: result.ridge }).ridge.columns.map(({ name }) => name);
      expect(names).toContain("payment failed");
      expect(names).toContain("event export");
      expect(names).toContain("the period ends within the horizon");
    }
  });

  test("judges the kind that serves: each fold has the penalty of the least loss, and groups that are kept", () => {
    const fits = new Map<Snapshot, FittedSnapshot>();
    const lossOf = (ridge: RidgeKind) => {
      const predictions = folds.flatMap((fold) => {
        const training = trainingOf(fold, fits, declaredHorizon);
        if (training.counts.churnedLabels < 30) return [];
        const score = riskScorer(trainRidge({ ...training, ridge }));
        return fold.scoring.rows.map(({ features, label }) => ({ predicted: score(features).risk, label }));
      });
      return metricsOf(predictions)?.logLoss ?? Number.NaN;
    };
    const judged = (keptGroups?: readonly FeatureGroup[]) =>
      backtest(
        folds.map((fold) => ({ ...fold, keptGroups })),
        declaredHorizon,
        fits,
      );
    const lossIn = ({ results }: Backtest) =>
      results.find(({ model }) => model === "rung 3")?.metrics.logLoss;
    const first = judged();
    const losses = [10, 40, 160].map((penalty) => lossOf({ penalty }));
    const least = Math.min(...losses);
    expect(first.ridge).toEqual({ penalty: [10, 40, 160][losses.indexOf(least)] ?? 0 });
    expect(lossIn(first)).toBeCloseTo(least, 12);
    // Activity alone tells nothing here. Without single events the model is as good as with them.
    expect(judged([]).ridge?.groups).toBeUndefined();
    const kept = judged(["billing"]);
    expect(kept.ridge?.groups).toEqual(["billing"]);
    expect(lossIn(kept)).toBeCloseTo(lossOf(kept.ridge ?? { penalty: 0 }), 12);
  });
});

function failed(): never {
  throw new Error("there is no such day");
}
