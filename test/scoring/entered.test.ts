/** What control groups do to training: rows of the treated leave, and controls stand for them. */
import { describe, expect, test } from "bun:test";
import { fitSnapshot, predictionsOf } from "../../server/scoring/churn/backtest.ts";
import { observedBaseRate } from "../../server/scoring/churn/base-rate.ts";
import { type ChurnModel, riskScorer } from "../../server/scoring/churn/churn-model.ts";
import { designFor } from "../../server/scoring/churn/design.ts";
import { type Entered, LabelWeights, repeated } from "../../server/scoring/churn/entered.ts";
import type { Snapshot } from "../../server/scoring/churn/snapshot.ts";
import { atOnce } from "../../server/scoring/churn/steps.ts";
import { countData, trainRungs } from "../../server/scoring/churn/train.ts";
import { metricsOf } from "../../server/scoring/statistics/metrics.ts";
import { uniformFrom } from "../../server/scoring/statistics/random.ts";
import { mean } from "../../server/scoring/statistics/vectors.ts";
import { snapshotOf } from "./snapshot.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const horizonDays = 28;
const at = 1_000;

const entered = (entity: number, arm: Entered["arm"], more: Partial<Entered> = {}): Entered => ({
  entity,
  day: at,
  experiment: "1 1",
  arm,
  share: 0.2,
  ...more,
});
const weightsOf = (...all: readonly Entered[]) => new LabelWeights(all, horizonDays);

describe("a row's weight", () => {
  test("is 0 of a treated entity, 1 ÷ share of a control, and 1 of others", () => {
    const weights = weightsOf(entered(1, "treated"), entered(2, "control"), entered(3, "exempt"));
    expect(weights.of(1, at)).toEqual({ arm: "treated", weight: 0 });
    expect(weights.of(2, at)).toEqual({ arm: "control", weight: 5 });
    expect(weights.of(3, at)).toEqual({ arm: "exempt", weight: 1 });
    expect(weights.of(4, at)).toEqual({ arm: null, weight: 1 });
  });

  test("is that of the arm while the horizon of the label meets the horizon of the entry", () => {
    const weights = weightsOf(entered(1, "treated"));
    const weightAt = (day: number) => weights.of(1, day).weight;
    expect([-28, -27, 0, 27, 28].map((days) => weightAt(at + days))).toEqual([1, 0, 0, 0, 1]);
  });

  test("counts an experiment once, and several together", () => {
    const twice = weightsOf(entered(1, "control"), entered(1, "control", { day: at + 3 }));
    expect(twice.of(1, at).weight).toBe(5);
    const other = { experiment: "2 1", share: 0.5 };
    expect(weightsOf(entered(1, "control"), entered(1, "control", other)).of(1, at).weight).toBe(10);
    expect(weightsOf(entered(1, "control"), entered(1, "treated", other)).of(1, at).weight).toBe(0);
  });

  test("is bound to a query only where it is another than 1", () => {
    expect(weightsOf(entered(1, "exempt")).sql(at)).toEqual({ sql: "1", parameters: {} });
    const { parameters } = weightsOf(entered(1, "treated"), entered(2, "control"), entered(3, "exempt")).sql(
      at,
    );
    expect(parameters).toEqual({ weighted: [1, 2], weights: [0, 5] });
  });
});

test("rows are repeated so that their copies add up to the weights", () => {
  const rows = Array.from({ length: 30 }, (_, index) => ({
    index,
    ...(index % 3 === 0 && { weight: 10 / 3 }),
  }));
  const copies = repeated(rows);
  expect(copies).toHaveLength(Math.round(10 * (10 / 3) + 20));
  for (const { index, weight } of rows) {
    const own = copies.filter((copy) => copy.index === index).length;
    expect(own).toBeWithin(Math.floor(weight ?? 1), Math.ceil(weight ?? 1) + 1);
  }
  const plain = [{ index: 0 }, { index: 1 }];
  expect(repeated<{ index: number; weight?: number }>(plain)).toBe(plain);
});

/** Entities of a day, and the same day if four in five of those with a high risk were treated, which keeps
 * half of them. */
function treatedSnapshot(): {
  readonly truth: Snapshot;
  readonly naive: Snapshot;
  readonly weighted: Snapshot;
} {
  const uniform = uniformFrom(7);
  const truth = snapshotOf(simulateLogs(12_000, 500, 21), simulatedFrom + 260, horizonDays);
  const isHigh = ({ features }: Snapshot["rows"][number]) => features.idleDays >= 14;
  const naiveRows: Snapshot["rows"][number][] = [];
  const kept: Snapshot["rows"][number][] = [];
  for (const row of truth.rows) {
    const [isTreated, isSaved] = [isHigh(row) && uniform() < 0.8, uniform() < 0.5];
    const label = row.label && !(isTreated && isSaved);
    naiveRows.push({ ...row, label });
    if (!isTreated) kept.push(isHigh(row) ? { ...row, weight: 5 } : row);
  }
  return { truth, naive: { ...truth, rows: naiveRows }, weighted: { ...truth, rows: kept } };
}

test("models that learn from controls say what would happen without treatment, and are judged by it", () => {
  const { truth, naive, weighted } = treatedSnapshot();
  const trained = (snapshot: Snapshot): readonly ChurnModel[] => {
    const { fit, rows } = atOnce(fitSnapshot(snapshot, horizonDays));
    return trainRungs({
      horizonDays,
      counts: countData(snapshot.cells, rows, horizonDays),
      bgbb: fit.parameters,
      rows,
      design: designFor(snapshot.rows),
    }).filter(({ rung }) => rung >= 2);
  };
  const untreated = mean(truth.rows.map(({ label }) => Number(label)));
  const predicted = (model: ChurnModel) => {
    const score = riskScorer(model);
    return mean(truth.rows.map(({ features }) => score(features).risk));
  };
  const [learned, misled] = [trained(weighted), trained(naive)];
  expect(learned.map(({ rung }) => rung)).toEqual([2, 3, 4, 6]);
  for (const model of learned) expect(predicted(model)).toBeWithin(untreated - 0.01, untreated + 0.01);
  for (const model of misled) expect(predicted(model)).toBeLessThan(untreated - 0.02);
  // The base rate and the gates count controls in the same way.
  expect(observedBaseRate([weighted])?.rate).toBeWithin(untreated - 0.01, untreated + 0.01);
  expect(observedBaseRate([naive])?.rate).toBeLessThan(untreated - 0.02);
  const [, ridge] = learned;
  if (ridge === undefined) throw new Error("There is no third rung.");
  const score = riskScorer(ridge);
  const metrics = metricsOf(predictionsOf({ scoring: weighted, training: [] }, (one) => score(one).risk));
  expect(metrics?.baseRate).toBeWithin(untreated - 0.01, untreated + 0.01);
  expect(metrics?.meanPrediction).toBeWithin(untreated - 0.01, untreated + 0.01);
});

test("a control of five rows makes no interval narrower than its own row", () => {
  const { weighted } = treatedSnapshot();
  const once = { ...weighted, rows: weighted.rows.map(({ weight: _, ...row }) => row) };
  const widthOf = (snapshot: Snapshot) => {
    const rate = observedBaseRate([snapshot]);
    return rate === null ? 0 : rate.high - rate.low;
  };
  expect(widthOf(weighted)).toBeGreaterThan(widthOf(once));
});
