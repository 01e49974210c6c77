/** Shares of periods that never rise. */
import { expect, test } from "bun:test";
import { neverRising } from "../../server/scoring/statistics/isotonic.ts";
import { randomOfThisRun } from "../warehouse/support.ts";

const of = (...cells: readonly (readonly [hits: number, count: number])[]) =>
  neverRising(cells.map(([hits, count]) => ({ hits, count })));

test("shares that fall stay as they are, and a higher one is taken together with those before", () => {
  expect(of([90, 100], [60, 80], [20, 40])).toEqual([0.9, 0.75, 0.5]);
  // One old cohort of eight users, all still there, lifted the curve to 100 %.
  expect(of([90, 100], [60, 80], [8, 8])).toEqual([0.9, 68 / 88, 68 / 88]);
  // The higher one is above both.
  expect(of([50, 100], [30, 80], [40, 40])).toEqual([120 / 220, 120 / 220, 120 / 220]);
  expect(of()).toEqual([]);
});

test("no falling row is closer to the shares, weighted by users", () => {
  const random = randomOfThisRun("never rising");
  for (let run = 0; run < 300; run += 1) {
    const cells = Array.from({ length: 4 }, () => {
      const count = random.between(1, 20);
      return [random.between(0, count), count] as const;
    });
    const shares = of(...cells);
    expect(shares).toEqual(shares.toSorted((a, b) => b - a));
    const error = (row: readonly number[]) =>
      cells.reduce((sum, [hits, count], at) => sum + count * (hits / count - (row[at] ?? 0)) ** 2, 0);
    for (let other = 0; other < 50; other += 1) {
      const row = Array.from({ length: 4 }, () => random.next()).sort((a, b) => b - a);
      expect(error(shares)).toBeLessThanOrEqual(error(row) + 1e-9);
    }
  }
});
