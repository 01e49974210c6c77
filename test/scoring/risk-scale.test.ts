/** Risk bands and the outlook by the odds of the base rate. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  absoluteRiskScale,
  outlookOf,
  riskBandOf,
  riskScaleOf,
} from "../../server/scoring/scores/risk-scale.ts";

test.each([
  [0.02, 0.039, 0.093],
  [0.1, 0.18, 0.36],
  [0.3, 0.46, 0.68],
])("with a base rate of %p risks are medium from %p and high from %p", (baseRate, medium, high) => {
  const scale = riskScaleOf(baseRate);
  expect(scale.medium).toBeCloseTo(medium, 2);
  expect(scale.high).toBeCloseTo(high, 2);
  expect(riskBandOf(scale.medium, scale)).toBe("medium");
  expect(riskBandOf(scale.high, scale)).toBe("high");
  expect(riskBandOf(scale.medium - 1e-9, scale)).toBe("low");
  expect(riskBandOf(scale.high - 1e-9, scale)).toBe("medium");
});

test("limits are at 2, 5 and 7 times the odds of any base rate", () => {
  const odds = (risk: number) => risk / (1 - risk);
  fc.assert(
    fc.property(fc.double({ min: 0.001, max: 0.99, noNaN: true }), (baseRate) => {
      const { medium, high, cap } = riskScaleOf(baseRate);
      const ratios = [medium, high, cap].map((limit) => odds(limit) / odds(baseRate));
      for (const [index, ratio] of [2, 5, 7].entries()) expect(ratios[index]).toBeCloseTo(ratio, 6);
    }),
  );
});

test("the outlook is 67 at the base rate, 50 at the limit of medium and 29 at that of high", () => {
  for (const baseRate of [0.02, 0.1, 0.55]) {
    const scale = riskScaleOf(baseRate);
    const outlooks = [baseRate, scale.medium, scale.high].map((risk) => outlookOf(risk, scale));
    for (const [index, outlook] of [200 / 3, 50, 200 / 7].entries())
      expect(outlooks[index]).toBeCloseTo(outlook, 9);
    expect([outlookOf(0, scale), outlookOf(1, scale)]).toEqual([100, 0]);
  }
});

test("without a base rate the limits are those of 0.1.0, and the outlook is 100 less the risk in percent", () => {
  expect(riskScaleOf(null)).toEqual(absoluteRiskScale);
  for (const risk of [0, 0.1, 0.37, 1])
    expect(outlookOf(risk, absoluteRiskScale)).toBeCloseTo(100 * (1 - risk), 12);
});

test("bounds that the organization set replace those of the bands, and not the limits of health", () => {
  const { cap, evenOdds } = riskScaleOf(0.1);
  expect(riskScaleOf(0.1, { medium: 0.05, high: 0.9 })).toEqual({ medium: 0.05, high: 0.9, cap, evenOdds });
});
