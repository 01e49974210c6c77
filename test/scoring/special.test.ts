import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  lbeta,
  lgamma,
  logAdd,
  logistic,
  logit,
  logRisingFactorials,
} from "../../server/scoring/statistics/special.ts";

/** Computed with 40 digits. */
const logGammas: readonly (readonly [number, number])[] = [
  [1e-8, 18.42068073818021],
  [0.01, 4.599479878042022],
  [0.25, 1.2880225246980774],
  [0.4999, 0.5725613186041184],
  [0.5, 0.5723649429247001],
  [0.9, 0.06637623973474295],
  [0.999999, 5.772164873855652e-7],
  [1.000001, -5.772148423874147e-7],
  [1.25, -0.09827183642181316],
  [1.4616321, -0.12148629053584863],
  [1.75, -0.08440112102048555],
  [1.999999, -4.227840125965854e-7],
  [2.000001, 4.2278465762452923e-7],
  [2.6, 0.35741186354897986],
  [4.5, 2.4537365708424423],
  [7.3, 7.147892523022248],
  [11.99, 17.477885575426185],
  [12, 17.502307845873887],
  [25.5, 56.389167643719944],
  [100, 359.1342053695754],
  [1000.5, 5908.674175848678],
  [1e6, 12815504.569147613],
];

const logBetas: readonly (readonly [number, number, number])[] = [
  [0.5, 0.5, 1.1447298858494002],
  [0.001, 5, 6.905672657062075],
  [0.7, 1.2, 0.21447743245143408],
  [3, 4.5, -4.387480485356345],
  [1, 1000, -6.907755278982137],
  [2.5, 1e5, -28.497649541827652],
  [11.9, 12.1, -16.601190846370113],
  [15, 20, -24.049722172259504],
  [300, 700, -612.6186037950922],
  [1e5, 1e6, -335104.4969524304],
  [0.01, 1e6, 4.46132477741238],
];

describe("special functions", () => {
  test.each(logGammas)("ln Γ(%p) is right to 1e-13 of its value", (x, value) => {
    expect(Math.abs(lgamma(x) - value)).toBeLessThanOrEqual(1e-13 * Math.abs(value));
  });

  test("ln Γ is zero at one and at two", () => {
    expect(lgamma(1)).toBe(0);
    expect(lgamma(2)).toBe(0);
  });

  test.each(logBetas)("ln B(%p, %p) is right to 1e-13 of its value, in either order", (a, b, value) => {
    expect(Math.abs(lbeta(a, b) - value)).toBeLessThanOrEqual(1e-13 * Math.abs(value));
    expect(lbeta(b, a)).toBe(lbeta(a, b));
  });

  test("rising factorials are ratios of gamma functions", () => {
    const table = logRisingFactorials(0.7, 40);
    for (const [j, value] of table.entries()) expect(value).toBeCloseTo(lgamma(0.7 + j) - lgamma(0.7), 11);
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
