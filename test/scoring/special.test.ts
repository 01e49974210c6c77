import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { logAdd, logistic, logit, logRisingFactorials } from "../../server/scoring/statistics/special.ts";

/** ln Γ(a+j) − ln Γ(a), computed with 40 digits. */
const risingFactorials: readonly (readonly [number, number, number])[] = [
  [0.01, 1, -4.605170185988092],
  [0.01, 2, -4.595219855134923],
  [0.01, 39, 98.40522689847162],
  [0.01, 103, 368.4262881630762],
  [0.7, 1, -0.3566749439387324],
  [0.7, 2, 0.173953307123438],
  [0.7, 39, 105.26913687626453],
  [0.7, 103, 375.9618931766124],
  [4.5, 1, 1.5040773967762742],
  [4.5, 2, 3.2088254890146994],
  [4.5, 39, 117.19583797550246],
  [4.5, 103, 391.4574978436705],
  [900, 1, 6.802394763324311],
  [900, 2, 13.60590002093265],
  [900, 39, 266.1052337810389],
  [900, 103, 706.2735658131124],
];

describe("special functions", () => {
  test.each(risingFactorials)("ln (%p)_%p is right to 1e-13 of its value", (a, j, value) => {
    const table = logRisingFactorials(a, j + 1);
    expect(Math.abs((table[j] ?? Number.NaN) - value)).toBeLessThanOrEqual(1e-13 * Math.abs(value));
    expect(table[0]).toBe(0);
  });

  test("logistic and logit undo each other, and log-odds never overflow", () => {
    fc.assert(
      fc.property(fc.double({ min: -30, max: 30, noNaN: true }), (z) => {
        // Near one a probability has only 1e-16 to say how far from one it is.
        expect(Math.abs(logit(logistic(z)) - z)).toBeLessThan(1e-14 + 1e-15 * Math.exp(Math.max(0, z)));
      }),
    );
    expect([logistic(-1e4), logistic(1e4)]).toEqual([0, 1]);
  });

  test("log-add neither overflows nor loses the smaller part", () => {
    expect(logAdd(1_000, 1_000)).toBeCloseTo(1_000 + Math.LN2, 12);
    expect(logAdd(-2_000, -2_000)).toBeCloseTo(-2_000 + Math.LN2, 12);
    expect(logAdd(0, -30)).toBe(Math.log1p(Math.exp(-30)));
    expect(logAdd(Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY)).toBe(Number.NEGATIVE_INFINITY);
    expect(logAdd(Number.NEGATIVE_INFINITY, 3)).toBe(3);
  });
});
