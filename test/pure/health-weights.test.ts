/** Weights of health are percentages; those that older versions stored become percentages when they are
 * read. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
import { scaledTo100 } from "../../dashboard/pages/settings/scores/scaled-weights.ts";
import { healthProblem } from "../../server/ledger/rules/health-weights.ts";
import { storedSettings } from "../../server/ledger/stores/settings.ts";

const sumOf = (weights: readonly number[]) => weights.reduce((all, weight) => all + weight, 0);
const stored = (healthWeights: object) => storedSettings(JSON.stringify({ weekStart: 7, healthWeights }));

describe("stored weights", () => {
  test.each([
    [
      { engagement: 0.35, outlook: 0.35, momentum: 0.2, adoption: 0.1 },
      { engagement: 35, outlook: 35, momentum: 20, adoption: 10 },
    ],
    [
      { engagement: 1, outlook: 1, momentum: 1, adoption: 0 },
      { engagement: 33.34, outlook: 33.33, momentum: 33.33, adoption: 0 },
    ],
    [
      { engagement: 0, outlook: 0.001, momentum: 0, adoption: 0 },
      { engagement: 0, outlook: 100, momentum: 0, adoption: 0 },
    ],
    [
      { engagement: 0, outlook: 1, momentum: 0.5, adoption: 0.5 },
      { engagement: 0, outlook: 50, momentum: 25, adoption: 25 },
    ],
  ])("%p are %p", (before, after) => {
    expect(stored(before)).toMatchObject({ weekStart: 7, healthWeights: after });
  });

  test("of a version that has traits in health stay", () => {
    const settings = {
      ...defaultSettings,
      healthWeights: { engagement: 1, outlook: 0, momentum: 0, adoption: 0 },
      healthTraits: [{ trait: "nps", zeroAt: 0, hundredAt: 10, weight: 99 }],
    };
    expect(storedSettings(JSON.stringify(settings))).toEqual(settings);
  });

  test("of settings without any are the defaults", () => {
    expect(storedSettings("{}")).toEqual(defaultSettings);
  });

  test("of any proportions add up to 100, each within 0.03 of its share", () => {
    const weight = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(weight, weight, weight, weight, (engagement, outlook, momentum, adoption) => {
        const before = { engagement, outlook, momentum, adoption };
        const sum = sumOf(Object.values(before));
        if (sum < 1e-9) return;
        const { healthWeights } = stored(before);
        expect(healthProblem({ ...defaultSettings, healthWeights })).toBeUndefined();
        for (const [name, value] of Object.entries(before)) {
          const share = healthWeights[name as keyof Settings["healthWeights"]];
          expect(Math.abs(share - (100 * value) / sum)).toBeLessThan(0.03);
        }
      }),
    );
  });
});

test("weights on the page are scaled to whole numbers that add up to 100", () => {
  expect(scaledTo100([35, 35, 20, 20])).toEqual([32, 32, 18, 18]);
  expect(scaledTo100([1, 1, 1])).toEqual([34, 33, 33]);
  expect(scaledTo100([Number.NaN, 5])).toEqual([0, 100]);
  const weights = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 14 });
  fc.assert(
    fc.property(weights, (some) => {
      const scaled = scaledTo100(some);
      expect(sumOf(scaled)).toBe(100);
      expect(Math.min(...scaled)).toBeGreaterThanOrEqual(0);
    }),
  );
});
