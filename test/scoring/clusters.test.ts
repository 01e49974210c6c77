import { describe, expect, test } from "bun:test";
import { countOutcomes } from "../../server/scoring/churn/departures.ts";
import { metricsOf, type Prediction } from "../../server/scoring/statistics/metrics.ts";
import { logistic, logit } from "../../server/scoring/statistics/special.ts";
import { mean } from "../../server/scoring/statistics/vectors.ts";
import { randomFrom } from "./random.ts";

/** Clusters of users whose common log-odds no model knows. */
function clustered(clusters: number, size: number, deviation: number, seed: number): Prediction[] {
  const random = randomFrom(seed);
  return Array.from({ length: clusters }, (_, cluster) => {
    const common = deviation * logit(0.02 + 0.96 * random());
    return Array.from({ length: size }, () => {
      const predicted = 0.1 + 0.8 * random();
      return { predicted, cluster, label: random() < logistic(logit(predicted) + common) };
    });
  }).flat();
}

function figures(predictions: readonly Prediction[]) {
  const metrics = metricsOf(predictions);
  if (metrics === null) throw new Error("there are predictions");
  const { baseRate, meanPrediction, calibrationSlope, calibrationSlopeError, biasError } = metrics;
  return {
    bias: Math.log(baseRate / meanPrediction),
    slope: calibrationSlope ?? Number.NaN,
    slopeError: calibrationSlopeError ?? Number.NaN,
    biasError: biasError ?? Number.NaN,
    width: mean(metrics.reliability.map(({ interval }) => interval.high - interval.low)),
  };
}

function deviationOf(values: readonly number[]): number {
  return Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
}

describe("outcomes of one cluster", () => {
  const samples = Array.from({ length: 200 }, (_, run) => clustered(40, 10, 1, 1 + run));

  test("widen standard errors to what repeated samples show", () => {
    const each = samples.map(figures);
    for (const [value, error] of [
      ["bias", "biasError"],
      ["slope", "slopeError"],
    ] as const) {
      const shown = deviationOf(each.map((one) => one[value]));
      expect(mean(each.map((one) => one[error])) / shown).toBeWithin(0.8, 1.25);
    }
  });

  test("have a calibration line whose covariance is that of a bootstrap by cluster", () => {
    const rows = clustered(100, 6, 1, 7);
    const byCluster = [...Map.groupBy(rows, ({ cluster }) => cluster).values()];
    const random = randomFrom(8);
    const lines = Array.from({ length: 300 }, () => {
      const resampled = byCluster.flatMap((_, cluster) => {
        const drawn = byCluster[Math.floor(random() * byCluster.length)] ?? [];
        return drawn.map((row) => ({ ...row, cluster }));
      });
      return metricsOf(resampled);
    });
    const slopes = lines.map((line) => line?.calibrationSlope ?? Number.NaN);
    const intercepts = lines.map((line) => line?.calibrationIntercept ?? Number.NaN);
    const {
      slope = Number.NaN,
      intercept = Number.NaN,
      both = Number.NaN,
    } = metricsOf(rows)?.calibrationCovariance ?? {};
    expect(Math.sqrt(slope) / deviationOf(slopes)).toBeWithin(0.85, 1.18);
    expect(Math.sqrt(intercept) / deviationOf(intercepts)).toBeWithin(0.85, 1.18);
    const products = slopes.map(
      (one, index) => (one - mean(slopes)) * ((intercepts[index] ?? 0) - mean(intercepts)),
    );
    const correlation = mean(products) / deviationOf(slopes) / deviationOf(intercepts);
    expect(both / Math.sqrt(slope * intercept)).toBeWithin(correlation - 0.15, correlation + 0.15);
  });

  test("widen the intervals of the reliability table", () => {
    const [sample] = samples;
    const alone = figures((sample ?? []).map(({ predicted, label }) => ({ predicted, label })));
    expect(figures(sample ?? []).width).toBeGreaterThan(1.3 * alone.width);
  });

  test("change nothing where they are independent", () => {
    const rows = clustered(400, 1, 0, 3);
    const alone = figures(rows.map(({ predicted, label }) => ({ predicted, label })));
    expect(figures(rows)).toEqual(alone);
  });
});

test("a departure is counted once, and an entity that stayed once", () => {
  const at = (entity: number, cutoffDay: number, label: boolean) => ({ entity, cutoffDay, label });
  const rows = [
    // Silent from day 10: at three cut-offs within one horizon of 84 days.
    at(1, 56, true),
    at(1, 0, true),
    at(1, 28, true),
    // It came back and left again.
    at(1, 84, true),
    at(2, 0, false),
    at(2, 28, false),
    at(2, 56, true),
  ];
  expect(countOutcomes(rows, 84)).toEqual({ departures: 3, involuntary: 0, retained: 1 });
  expect(countOutcomes([], 84)).toEqual({ departures: 0, involuntary: 0, retained: 0 });
});
