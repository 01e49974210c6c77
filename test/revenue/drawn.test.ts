/** Figures with intervals by chance: MRR at risk, and MRR that cohorts kept. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { indicesOfLargest } from "../../server/revenue/drawn.ts";
import { CohortChance, keptMrrOf } from "../../server/revenue/kept-mrr.ts";
import {
  drawnRecalibrations,
  type Exposure,
  expectedLossOf,
  revenueAtRisk,
} from "../../server/revenue/revenue-at-risk.ts";
import { uniformFrom } from "../../server/scoring/statistics/random.ts";
import { Random } from "../../simulation/random.ts";

const chance = new CohortChance(() => uniformFrom(1));

/** MRR of many customers: a few have most of it. */
const heavyTail = (random: Random) => Math.round(Math.exp(random.normal(8, 1.5)));

function quantiles(drawn: readonly number[], part: number): { low: number; high: number } {
  const sorted = drawn.toSorted((a, b) => a - b);
  const at = (level: number) => sorted[Math.round(level * (sorted.length - 1))] ?? Number.NaN;
  return { low: at((1 - part) / 2), high: at((1 + part) / 2) };
}

/** The distance of two intervals' ends, in lengths of the second. */
function distance(one: { low: number; high: number }, other: { low: number; high: number }): number {
  const length = other.high - other.low;
  return Math.max(Math.abs(one.low - other.low), Math.abs(one.high - other.high)) / length;
}

describe("MRR at risk", () => {
  test("is the sum of churn risk × MRR, and accounts whose end is certain count in full", () => {
    expect(expectedLossOf({ mrr: 4_900, churnRisk: 0.2 })).toBe(980);
    const certain = [
      { mrr: 500, churnRisk: 1 },
      { mrr: 700, churnRisk: 0 },
    ];
    expect(revenueAtRisk(certain, [{ slope: 1, intercept: -9 }], uniformFrom(1))).toEqual({
      mrr: 1_200,
      expectedLoss: 500,
      interval: { low: 500, high: 500 },
    });
    expect(revenueAtRisk([], [], uniformFrom(1))).toEqual({
      mrr: 0,
      expectedLoss: 0,
      interval: { low: 0, high: 0 },
    });
  });

  test("of few accounts has an interval of what can be lost", () => {
    const accounts = [
      { mrr: 100, churnRisk: 0.5 },
      { mrr: 1_000, churnRisk: 0.5 },
    ];
    expect(revenueAtRisk(accounts, [], uniformFrom(1))).toMatchObject({
      expectedLoss: 550,
      interval: { low: 0, high: 1_100 },
    });
  });

  test("of many accounts equals draws of each of them", () => {
    const random = new Random(5);
    const accounts = Array.from(
      { length: 3_000 },
      (): Exposure => ({ mrr: heavyTail(random), churnRisk: random.next() ** 3 * 0.6 + 0.001 }),
    );
    const recalibrations = Array.from({ length: 200 }, () => ({
      slope: random.normal(0.9, 0.1),
      intercept: random.normal(-0.2, 0.2),
    }));
    const logOdds = accounts.map(({ churnRisk }) => Math.log(churnRisk / (1 - churnRisk)));
    const drawn = Array.from({ length: 3_000 }, () => {
      const { slope, intercept } = random.pick(recalibrations);
      return accounts.reduce((lost, { mrr }, index) => {
        const odds = Math.exp(intercept + slope * (logOdds[index] ?? 0));
        return random.chance(odds / (1 + odds)) ? lost + mrr : lost;
      }, 0);
    });
    const { interval } = revenueAtRisk(accounts, recalibrations, uniformFrom(1));
    // The ends of 1,000 draws have an error of 2 % of this length.
    expect(distance(interval, quantiles(drawn, 0.9))).toBeLessThan(0.06);
    const calibrated = revenueAtRisk(accounts, [], uniformFrom(1));
    expect(calibrated.expectedLoss).toBeCloseTo(
      accounts.reduce((sum, one) => sum + expectedLossOf(one), 0),
      6,
    );
    const lengthOf = ({ low, high }: { low: number; high: number }) => high - low;
    expect(lengthOf(calibrated.interval)).toBeLessThan(lengthOf(interval));
    expect(revenueAtRisk(accounts, recalibrations, uniformFrom(1)).interval).toEqual(interval);
  });

  test("draws recalibrations with the variances and the covariance of the back-test", () => {
    const covariance = { slope: 0.04, intercept: 0.09, both: -0.03 };
    const drawn = drawnRecalibrations({ slope: 0.9, intercept: -0.2, covariance }, uniformFrom(3));
    expect(drawn).toHaveLength(1_000);
    const meanOf = (of: (one: (typeof drawn)[number]) => number) =>
      drawn.reduce((sum, one) => sum + of(one), 0) / drawn.length;
    const [slope, intercept] = [meanOf((one) => one.slope), meanOf((one) => one.intercept)];
    expect(slope).toBeCloseTo(0.9, 1);
    expect(intercept).toBeCloseTo(-0.2, 1);
    expect(meanOf((one) => (one.slope - slope) ** 2) / covariance.slope).toBeCloseTo(1, 0);
    expect(meanOf((one) => (one.intercept - intercept) ** 2) / covariance.intercept).toBeCloseTo(1, 0);
    const both = meanOf((one) => (one.slope - slope) * (one.intercept - intercept));
    expect(both / covariance.both).toBeWithin(0.8, 1.2);
  });

  test("stays between nothing and everything", () => {
    const accounts = Array.from({ length: 2_000 }, () => ({ mrr: 10, churnRisk: 0.999_999_9 }));
    const { interval } = revenueAtRisk(accounts, [{ slope: 5, intercept: 50 }], uniformFrom(1));
    expect(interval).toEqual({ low: 20_000, high: 20_000 });
  });
});

describe("MRR that a cohort kept", () => {
  test("is MRR over MRR at entry, with an interval that holds it", () => {
    const [month, later] = keptMrrOf(
      [100, 100, 200],
      [
        [100, 100, 200],
        [0, 150, 200],
      ],
      chance,
    );
    expect(month).toEqual({ mrr: 400, ratio: 1, interval: { low: 1, high: 1 } });
    expect(later).toMatchObject({ mrr: 350, ratio: 0.875 });
    expect(later?.interval?.low).toBeLessThan(0.5);
    expect(later?.interval?.high).toBeGreaterThan(1);
    expect(keptMrrOf([100], [[50]], chance)).toEqual([{ mrr: 50, ratio: 0.5, interval: null }]);
  });

  test.each([
    ["few payers", 200, 0.7],
    ["many payers", 4_000, 0.7],
    ["many payers of whom few left", 4_000, 0.998],
  ])("of %s equals resamples of all of them", (_, count, kept) => {
    const random = new Random(7);
    const entry = Array.from({ length: count }, () => heavyTail(random));
    const later = entry.map((mrr) =>
      random.chance(kept) ? Math.round(mrr * (random.chance(0.1) ? 1.3 : 1)) : 0,
    );
    const drawn = Array.from({ length: 5_000 }, () => {
      let [start, end] = [0, 0];
      for (let taken = 0; taken < count; taken += 1) {
        const index = Math.floor(random.next() * count);
        start += entry[index] ?? 0;
        end += later[index] ?? 0;
      }
      return end / start;
    });
    const [cell] = keptMrrOf(entry, [later], chance);
    expect(distance(cell?.interval ?? { low: 0, high: 0 }, quantiles(drawn, 0.95))).toBeLessThan(0.06);
  });
});

test("the indices of the largest values are those of sorting", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 }),
      fc.integer({ min: 0, max: 40 }),
      (values, count) => {
        const indices = indicesOfLargest(Float64Array.from(values), count);
        expect(new Set(indices).size).toBe(Math.min(count, values.length));
        const largest = values.toSorted((a, b) => b - a).slice(0, count);
        expect(indices.map((index) => values[index] ?? 0).sort((a, b) => b - a)).toEqual(largest);
      },
    ),
  );
});
