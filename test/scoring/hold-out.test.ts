/** What a control group shows, by published values. */
import { describe, expect, test } from "bun:test";
import { newcombe } from "../../server/scoring/statistics/difference.ts";
import {
  entriesNeeded,
  holdOutResult,
  quantileOfLooks,
  sampleRatioProbability,
} from "../../server/scoring/statistics/hold-out.ts";

const hits = (count: number, of: number) => ({ hits: count, count: of });

test.each([
  [hits(56, 70), hits(48, 80), 0.052431, 0.333873],
  [hits(9, 10), hits(3, 10), 0.170523, 0.809018],
  [hits(10, 10), hits(0, 20), 0.679086, 1],
  [hits(30, 100), hits(12, 100), 0.067429, 0.288109],
  [hits(10, 50), hits(20, 200), -0.000539, 0.234815],
])("the interval of %j against %j is that of Newcombe 1998", (a, b, low, high) => {
  const interval = newcombe(a, b);
  expect(interval.low).toBeCloseTo(low, 6);
  expect(interval.high).toBeCloseTo(high, 6);
});

test("the quantile of looks is that of the confidence sequence", () => {
  expect(quantileOfLooks(6_550, 5_000, 0.05)).toBeCloseTo(3.03893, 5);
});

test.each([
  [0.2, 0.3, 2_072, 1_223],
  [0.4, 0.3, 791, 481],
  [0.6, 0.5, 128, 78],
  [0.75, 0.3, 194, 135],
])("of %d who leave, saving %d shows after so many entries", (base, saved, atFifth, atHalf) => {
  expect(entriesNeeded({ base, saved, share: 0.2 })).toBe(atFifth);
  expect(entriesNeeded({ base, saved, share: 0.5 })).toBe(atHalf);
});

describe("a result", () => {
  test("says nothing while an arm has fewer than five that left, or that stayed", () => {
    const few = { treated: hits(4, 100), control: hits(60, 100) };
    expect(holdOutResult(few, 1_000)).toMatchObject({ verdict: "few", isFinal: false });
    expect(holdOutResult({ treated: hits(96, 100), control: hits(10, 100) }, 100).verdict).toBe("few");
  });

  test("at the planned number is read once, with 1.96", () => {
    const arms = { control: hits(30, 100), treated: hits(18, 100) };
    const { verdict, kept, isFinal } = holdOutResult(arms, 200);
    expect([verdict, isFinal]).toEqual(["keeps", true]);
    // 30 of 100 left without a call, 18 of 100 with one: calls keep 0 to 23 more of 100.
    expect([Math.round(100 * kept.low), Math.round(100 * kept.high)]).toEqual([0, 23]);
    expect(holdOutResult(arms, 400)).toMatchObject({ verdict: "open", isFinal: false });
  });

  test("says so when the treated left more often", () => {
    expect(holdOutResult({ control: hits(20, 200), treated: hits(60, 200) }, 400).verdict).toBe("harms");
  });
});

describe("the sample ratio", () => {
  test("of the drawn share is likely, and of another one is not", () => {
    expect(sampleRatioProbability({ treated: 80, control: 20 }, 0.2)).toBe(1);
    // χ² = (30 − 20)² / 20 + (70 − 80)² / 80 = 6.25 with one degree of freedom.
    expect(sampleRatioProbability({ treated: 70, control: 30 }, 0.2)).toBeCloseTo(0.012419, 6);
    expect(sampleRatioProbability({ treated: 500, control: 500 }, 0.2)).toBeLessThan(0.001);
    expect(sampleRatioProbability({ treated: 0, control: 0 }, 0.2)).toBe(1);
  });
});
