import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { metricsOf, type Prediction } from "../../server/scoring/statistics/metrics.ts";
import { logistic, logit } from "../../server/scoring/statistics/special.ts";
import { wilson } from "../../server/scoring/statistics/wilson.ts";
import { randomFrom } from "./random.ts";

const prediction = fc.record({
  predicted: fc.oneof(fc.constantFrom(0, 0.2, 0.5, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  label: fc.boolean(),
});

/** The definition: over all pairs of one that happened and one that did not. */
function aucByPairs(predictions: readonly Prediction[]): number | null {
  const scores = (wanted: boolean) =>
    predictions.filter(({ label }) => label === wanted).map(({ predicted }) => predicted);
  const pairs = scores(true).flatMap((yes) =>
    scores(false).map((no) => (yes > no ? 1 : yes === no ? 0.5 : 0)),
  );
  return pairs.length === 0 ? null : pairs.reduce<number>((sum, win) => sum + win, 0) / pairs.length;
}

/** Predictions drawn by a model that is bent: the truth has log-odds `slope` · z + `intercept`. */
function drawn(count: number, seed: number, slope = 1, intercept = 0): Prediction[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => {
    const predicted = 0.02 + 0.96 * random();
    return { predicted, label: random() < logistic(slope * logit(predicted) + intercept) };
  });
}

function figures(predictions: readonly Prediction[]) {
  const metrics = metricsOf(predictions);
  if (metrics === null) throw new Error("there are predictions");
  return metrics;
}

describe("metrics", () => {
  test("the AUC is that of all pairs, ties counting half", () => {
    fc.assert(
      fc.property(fc.array(prediction, { minLength: 1, maxLength: 60 }), (predictions) => {
        const [ours, pairs] = [figures(predictions).auc, aucByPairs(predictions)];
        if (pairs === null) expect(ours).toBeNull();
        else expect(ours).toBeCloseTo(pairs, 10);
      }),
    );
  });

  test("log loss and Brier score of a worked example", () => {
    const metrics = figures([
      { predicted: 0.8, label: true },
      { predicted: 0.4, label: false },
      { predicted: 0, label: true },
      { predicted: 0, label: false },
    ]);
    expect(metrics.logLoss).toBeCloseTo(
      -(Math.log(0.8) + Math.log(0.6) + Math.log(1e-6) + Math.log(1 - 1e-6)) / 4,
      12,
    );
    expect(metrics.brier).toBeCloseTo((0.04 + 0.16 + 1) / 4, 12);
    expect(metrics.brierSkill).toBeCloseTo(1 - 0.3 / 0.25, 12);
    expect(metrics).toMatchObject({ count: 4, baseRate: 0.5 });
  });

  test("a calibration error is found, and is zero without one", () => {
    const bins = Array.from({ length: 100 }, (_, i) => ({
      predicted: Math.floor(i / 10) / 10 + 0.05,
      label: i % 10 < 5,
    }));
    // Ten bins at .05, .15 … .95 and a rate of .5 in each: the mean distance is .25.
    expect(figures(bins).ece).toBeCloseTo(0.25, 12);
    expect(figures(bins.map(({ label }) => ({ predicted: 0.5, label }))).ece).toBeCloseTo(0, 12);
  });

  test("no figure depends on the order of the rows", () => {
    fc.assert(
      fc.property(fc.array(prediction, { minLength: 2, maxLength: 60 }), (predictions) => {
        const [forth, back] = [figures(predictions), figures(predictions.toReversed())];
        expect(back.ece).toBeCloseTo(forth.ece, 10);
        expect(back.eceFloor).toBeCloseTo(forth.eceFloor, 10);
        expect(back.topDecileLift ?? -1).toBeCloseTo(forth.topDecileLift ?? -1, 10);
        expect(back.auc ?? -1).toBeCloseTo(forth.auc ?? -1, 10);
      }),
    );
  });

  test("the floor of the ECE is what perfect models show", () => {
    for (const [count, runs] of [
      [200, 400],
      [2_000, 100],
    ] as const) {
      const samples = Array.from({ length: runs }, (_, run) => figures(drawn(count, 1 + run)));
      const simulated = samples.reduce((sum, { ece }) => sum + ece, 0) / runs;
      const said = samples.reduce((sum, { eceFloor }) => sum + eceFloor, 0) / runs;
      expect(Math.abs(simulated / said - 1)).toBeLessThan(0.05);
    }
  });

  test("slope and intercept of the calibration say how a model is bent", () => {
    const { calibrationSlope, calibrationIntercept } = figures(drawn(20_000, 7, 0.6, 0.4));
    expect(Math.abs((calibrationSlope ?? 0) - 0.6)).toBeLessThan(0.05);
    expect(Math.abs((calibrationIntercept ?? 0) - 0.4)).toBeLessThan(0.08);
  });

  test("the lift of a perfect ranking is one over the base rate", () => {
    const perfect = Array.from({ length: 100 }, (_, i) => ({ predicted: i / 100, label: i >= 80 }));
    expect(figures(perfect).topDecileLift).toBeCloseTo(5, 12);
  });

  test("the reliability table covers every row once, with intervals around its rates", () => {
    fc.assert(
      fc.property(fc.array(prediction, { minLength: 1, maxLength: 60 }), (predictions) => {
        const { reliability, count, baseRate } = figures(predictions);
        expect(reliability.reduce((sum, bin) => sum + bin.count, 0)).toBe(count);
        const happened = reliability.reduce((sum, bin) => sum + bin.count * bin.rate, 0);
        expect(happened).toBeCloseTo(count * baseRate, 9);
        for (const { rate, interval } of reliability) {
          expect(interval.low).toBeLessThanOrEqual(rate + 1e-12);
          expect(interval.high).toBeGreaterThanOrEqual(rate - 1e-12);
        }
      }),
    );
  });

  test("of nothing are null, of one class partly, and always finite", () => {
    expect(metricsOf([])).toBeNull();
    const oneClass = figures([{ predicted: 1, label: true }]);
    expect(oneClass).toMatchObject({
      auc: null,
      brierSkill: null,
      calibrationSlope: null,
      topDecileLift: null,
    });
    expect(Number.isFinite(oneClass.logLoss)).toBe(true);
    const separated = figures(
      Array.from({ length: 50 }, (_, i) => ({ predicted: i < 25 ? 0 : 1, label: i >= 25 })),
    );
    expect(Number.isFinite(separated.calibrationSlope)).toBe(true);
  });
});

describe("Wilson's interval", () => {
  test("is the published one", () => {
    // Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    const published: readonly (readonly [number, number, number, number])[] = [
      [81, 263, 0.2553, 0.3662],
      [15, 148, 0.0624, 0.1605],
      [0, 20, 0, 0.1611],
      [1, 29, 0.0061, 0.1718],
    ];
    for (const [hits, count, low, high] of published) {
      expect(wilson(hits, count).low).toBeCloseTo(low, 4);
      expect(wilson(hits, count).high).toBeCloseTo(high, 4);
    }
  });

  test("says nothing about nothing, and ends at 0 and at 1", () => {
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
    expect(wilson(0, 7).low).toBe(0);
    expect(wilson(7, 7).high).toBe(1);
  });
});
