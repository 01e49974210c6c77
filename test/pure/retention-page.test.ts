/** What the retention page chooses by itself: the period of cohorts, and the shades of the grid. */
import { expect, test } from "bun:test";
import { type GridGroup, scaleOf } from "../../dashboard/charts/cohort-model.ts";
import { hasFewUsers } from "../../dashboard/pages/retention/usual-period.ts";

const cohort = (cohortUsers: number, more: object = {}) => ({
  period: 0,
  cohortUsers,
  isComplete: true,
  isAlreadyHere: false,
  ...more,
});

test.each([
  ["29 users a week on average", [cohort(20), cohort(38)], true],
  ["30 users a week on average", [cohort(20), cohort(40)], false],
  [
    "users from before the data, who are no new users",
    [cohort(900, { isAlreadyHere: true }), cohort(5)],
    true,
  ],
  ["the week that is not over", [cohort(40), cohort(1, { isComplete: false })], false],
  ["later periods, which are of the same cohorts", [cohort(40), cohort(1, { period: 1 })], false],
  ["nobody yet", [], false],
])("cohorts are months with %s: %s", (_, cells, isFew) => {
  expect(hasFewUsers(cells)).toBe(isFew);
});

const group = (size: number, shares: readonly number[]): GridGroup => {
  const isSmall = size < 30;
  const cells = shares.map((share, period) => ({ period, share, isSmall, isComplete: true }));
  const cohorts = [{ day: "2026-03-02", size, isSmall, cells }];
  return { key: "=a", label: "a", size, mean: [], cohorts };
};

test("shades are of all shares, also those of small cohorts, and never closer than 20 points", () => {
  expect(scaleOf([group(400, [1, 0.9, 0.65]), group(12, [1, 0.49, 0.19])])).toEqual({ low: 0.19, high: 0.9 });
  const { low, high } = scaleOf([group(400, [1, 0.7, 0.7])]);
  expect(high - low).toBeCloseTo(0.2, 9);
  expect(scaleOf([])).toEqual({ low: 0, high: 1 });
});
