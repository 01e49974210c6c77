/** Means and projections of retention leave data out: cells that are not complete yet, and users from before
 * the data begins. */
import { describe, expect, test } from "bun:test";
import type { CohortRow } from "../../server/analytics/retention/cohorts.ts";
import type { RetentionQuestion } from "../../server/analytics/retention/retention-question.ts";
import { day, tableOf } from "./retention-support.ts";

describe("users of whom nine of ten never leave", () => {
  // A third of them comes in nine weeks of ten, a third in four, a third in three of twenty.
  const rhythms = [0.9, 0.4, 0.15];
  const cohorts = 12;
  const size = 3_000;

  /** The expected counts of 12 weekly cohorts, seen until the end of the twelfth week. */
  function expectedRows(): CohortRow[] {
    return Array.from({ length: cohorts }, (_, index) => {
      const weeksSeen = cohorts - index - 1;
      const active = Array.from({ length: weeksSeen + 1 }, (_, k) => {
        const silent = rhythms.map((rhythm) => (1 - rhythm) ** (weeksSeen - k + 1));
        const back = 1 - silent.reduce((sum, share) => sum + share, 0) / rhythms.length;
        const users = k === 0 ? size : Math.round(size * 0.9 * back);
        return [day("2026-01-05") + 7 * (index + k), users] as const;
      });
      return { kind: "all", value: null, cohort: day("2026-01-05") + 7 * index, members: size, active };
    });
  }

  const asked = {
    measure: "inOrAfter" as const,
    fromDay: day("2026-01-05"),
    toDay: day("2026-01-05") + 7 * (cohorts - 1),
    today: day("2026-01-05") + 7 * cohorts,
    periods: cohorts,
  };

  test("are not said to be leaving: cells that silent users may yet return to are not complete", () => {
    const { cells, mean, projections } = tableOf(expectedRows(), asked);
    // The mean row ended at 48 % when every past period counted. The model then projected 38 % after 12
    // weeks.
    expect(mean.at(-1)?.share).toBeGreaterThan(0.7);
    expect(Math.max(...cells.filter(({ isComplete }) => isComplete).map(({ period }) => period))).toBe(7);
    const [projection] = projections;
    const projected = projection?.fit?.shares.find(({ period }) => period === 12);
    expect(projected === undefined || projected.share > 0.65).toBe(true);
    expect(projection?.completePeriods).toBe(7);
  });

  test("a horizon that is longer than most silences shows the truth", () => {
    const { mean } = tableOf(expectedRows(), { ...asked, horizonDays: 56 });
    expect(mean.at(-1)?.share).toBeGreaterThan(0.8);
  });
});

describe("users who were there before the data begins", () => {
  // The data begins on a Wednesday. Its fourth week and its tenth have a campaign.
  const from = day("2026-01-05");
  const sizes = [500, 60, 30, 200, 30, 28, 33, 30, 31, 400, 30];
  const rows = sizes.map((members, n): CohortRow => {
    const active = Array.from({ length: sizes.length - n }, (_, k) => {
      return [from + 7 * (n + k), k === 0 ? members : members / 2] as const;
    });
    return { kind: "all", value: null, cohort: from + 7 * n, members, active };
  });
  const asked = { fromDay: from, toDay: from + 7 * 11 - 1, today: from + 7 * 11 - 1, periods: 12 };

  const marked = (more: Partial<RetentionQuestion>, dataFrom: number | null) => {
    const { cells } = tableOf(rows, { ...asked, ...more }, dataFrom);
    return [...new Set(cells.filter(({ isAlreadyHere }) => isAlreadyHere).map((cell) => cell.cohortDay))];
  };

  test("are the weeks of the first 28 days of data with over 3 times the usual number", () => {
    expect(marked({}, from + 2)).toEqual([from, from + 21]);
    // Where the data goes further back, no cohort of these is the first.
    expect(marked({}, from - 60)).toEqual([]);
    expect(marked({}, null)).toEqual([]);
    expect(marked({ entry: { kind: "signUp" } }, from + 2)).toEqual([]);
  });

  test("are left out of the mean unless they are counted", () => {
    const usersOf = (more: Partial<RetentionQuestion>) =>
      tableOf(rows, { ...asked, ...more }, from + 2).mean.find(({ period }) => period === 1)?.cohortUsers;
    const all = sizes.slice(0, -2).reduce((sum, size) => sum + size, 0);
    expect(usersOf({})).toBe(all - 500 - 200);
    expect(usersOf({ countsAlreadyHere: true })).toBe(all);
  });
});

describe("a bad fit", () => {
  test("is marked as such, and nothing is projected from it", () => {
    // All users stay for four weeks, and then half of them leave. No curve of the family does so.
    const pairs = [1_000, 1_000, 1_000, 1_000, 1_000, 500, 490, 480].map(
      (users, k) => [day("2026-01-05") + 7 * k, users] as const,
    );
    const row: CohortRow = {
      kind: "all",
      value: null,
      cohort: day("2026-01-05"),
      members: 1_000,
      active: pairs,
    };
    const fromDay = day("2026-01-05");
    const [projection] = tableOf([row], {
      measure: "inOrAfter",
      fromDay,
      toDay: fromDay,
      today: fromDay + 7 * 8 + 28,
    }).projections;
    expect(projection?.fit).toMatchObject({ isReliable: false, shares: [] });
  });
});
