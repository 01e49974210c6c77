/** Calendar periods, and the retention table made of counts: intervals, completeness, mean, projection. */
import { describe, expect, test } from "bun:test";
import type { CohortRow } from "../../server/analytics/retention/cohorts.ts";
import { daysOfCell, gridOf } from "../../server/analytics/retention/retention-question.ts";
import { periodsBetween, periodsLater, startOfPeriod } from "../../server/calendar/period-starts.ts";
import { cohortRow, day, month, question, sundays, tableOf, week } from "./retention-support.ts";

describe("periods", () => {
  test.each([
    ["2026-03-01", week, "2026-02-23"],
    ["2026-03-02", week, "2026-03-02"],
    ["2026-03-01", sundays, "2026-03-01"],
    ["2026-03-07", sundays, "2026-03-01"],
    ["1970-01-01", week, "1969-12-29"],
    ["1970-01-01", sundays, "1969-12-28"],
    ["2024-02-29", month, "2024-02-01"],
    ["1970-01-31", month, "1970-01-01"],
  ] as const)("%s lies in the period %j of %s", (text, period, start) => {
    expect(startOfPeriod(day(text), period)).toBe(day(start));
  });

  test("months have their own lengths, and a year's end is none", () => {
    expect(periodsLater(day("2025-12-01"), 3, month)).toBe(day("2026-03-01"));
    expect(periodsLater(day("2026-03-01"), -3, month)).toBe(day("2025-12-01"));
    expect(periodsBetween(day("2024-01-01"), day("2026-03-01"), month)).toBe(26);
    expect(periodsBetween(day("2026-03-02"), day("2026-03-30"), week)).toBe(4);
  });
});

describe("the table", () => {
  test("has 95% intervals by Wilson, and nothing beyond 0 and 1", () => {
    const { cells } = tableOf([
      cohortRow("2026-03-02", 10, [
        ["2026-03-02", 10],
        ["2026-03-09", 2],
      ]),
    ]);
    // Brown, Cai and DasGupta (2001) and any table: 0 of 10, 2 of 10, 10 of 10.
    expect(cells.map(({ low }) => low.toFixed(4))).toEqual(["0.7225", "0.0567", "0.0000", "0.0000"]);
    expect(cells.map(({ high }) => high.toFixed(4))).toEqual(["1.0000", "0.5098", "0.2775", "0.2775"]);
  });

  test("marks a cell as incomplete until its last day is over", () => {
    const rows = [cohortRow("2026-03-23", 4, [["2026-03-23", 4]])];
    const isComplete = (today: string) =>
      tableOf(rows, { today: day(today) }).cells.map((cell) => cell.isComplete);
    expect(isComplete("2026-03-29")).toEqual([false]);
    expect(isComplete("2026-03-30")).toEqual([true, false]);
    expect(isComplete("2026-04-06")).toEqual([true, true, false]);
  });

  test("weighs the mean by size, of complete cells alone", () => {
    const { mean } = tableOf([
      cohortRow("2026-03-02", 100, [
        ["2026-03-09", 50],
        ["2026-03-16", 20],
        ["2026-03-23", 99],
      ]),
      cohortRow("2026-03-09", 10, [
        ["2026-03-16", 10],
        ["2026-03-23", 9],
      ]),
    ]);
    expect(
      mean.map(({ period, cohorts, cohortUsers, users, share }) => [
        period,
        cohorts,
        cohortUsers,
        users,
        share,
      ]),
    ).toEqual([
      [0, 2, 110, 0, 0],
      [1, 2, 110, 60, 60 / 110],
      [2, 1, 100, 20, 0.2],
    ]);
  });

  test("counts who was active in a period or later also where nobody was active in it", () => {
    const row = cohortRow("2026-03-02", 10, [
      ["2026-03-02", 10],
      ["2026-03-16", 4],
      ["2026-03-30", 1],
    ]);
    const today = day("2026-04-05");
    const users = (periods: number) =>
      tableOf([row], { measure: "inOrAfter", today, periods }).cells.map((cell) => cell.users);
    expect(users(10)).toEqual([10, 4, 4, 1, 1]);
    expect(users(2)).toEqual([10, 4]);
  });

  test("orders groups by their size, with the others and those without a value last", () => {
    const row = (kind: CohortRow["kind"], value: string | null, members: number) => ({
      ...cohortRow("2026-03-23", members, []),
      kind,
      value,
    });
    const rows = [
      row("none", null, 9),
      row("value", "b", 2),
      row("other", null, 8),
      row("value", "a", 2),
      row("value", "c", 3),
    ];
    const { cells } = tableOf(rows, { split: { trait: "plan", of: "user", asOf: "now" } });
    expect(cells.map(({ kind, value }) => value ?? kind)).toEqual(["c", "a", "b", "other", "none"]);
  });
});

describe("the projection", () => {
  // Fader and Hardie (2007), the "regular" customers: survival of years 0 to 7, in per mille.
  const regular = [1_000, 631, 468, 382, 326, 289, 262, 241];
  const rows = (periods: number) => {
    const pairs = regular
      .slice(0, periods + 1)
      .map((users, k) => [day("2026-01-05") + 7 * k, users] as const);
    return [{ kind: "all", value: null, cohort: day("2026-01-05"), members: 1_000, active: pairs } as const];
  };
  const asked = (periods: number) => ({
    measure: "inOrAfter" as const,
    fromDay: day("2026-01-05"),
    toDay: day("2026-01-05"),
    // Complete when a churn horizon has passed.
    today: day("2026-01-05") + 7 * (periods + 1) + 28,
  });

  test("gives the published parameters for the published curve", () => {
    const [projection] = tableOf(rows(7), asked(7)).projections;
    expect(projection?.completePeriods).toBe(7);
    expect(projection?.fit?.alpha).toBeCloseTo(0.704, 2);
    expect(projection?.fit?.beta).toBeCloseTo(1.182, 2);
    expect(projection?.fit?.isReliable).toBe(true);
    const shares = projection?.fit?.shares ?? [];
    // It begins with the last share that was observed, and the published projection goes on from there.
    expect(shares.map(({ period }) => period)).toEqual(Array.from({ length: 13 }, (_, n) => 7 + n));
    expect(shares[0]?.share).toBeCloseTo(0.241, 6);
    expect(shares[5]?.share).toBeCloseTo(0.171, 2);
    const widths = shares.map(({ low, share, high }) => {
      expect(low <= share && share <= high).toBe(true);
      return Math.log(high / low);
    });
    expect(widths).toEqual(widths.toSorted((a, b) => a - b));
  });

  test("needs five complete periods, and is made of the second measure alone", () => {
    expect(tableOf(rows(4), asked(4)).projections).toEqual([
      { kind: "all", value: null, completePeriods: 4, fit: null },
    ]);
    expect(tableOf(rows(5), asked(5)).projections[0]?.fit).not.toBeNull();
    expect(tableOf(rows(7), { ...asked(7), measure: "in" }).projections).toEqual([]);
  });
});

describe("a question", () => {
  const split = { trait: "plan", of: "user", asOf: "now" } as const;
  test.each([
    [{ fromDay: day("2026-03-30") }, "after today"],
    [{ fromDay: day("2026-03-20"), toDay: day("2026-03-09") }, "from lies after to"],
    [{ fromDay: day("2023-01-01") }, "cohorts are more than 120"],
    [{ split, fromDay: day("2025-03-01"), periods: 100 }, "are too much"],
  ])("of %j is refused", (more, message) => {
    expect(() => gridOf(question(more))).toThrow(message);
  });

  test("looks at the periods that it shows, and for in or after at everything until today", () => {
    const more = { fromDay: day("2026-01-05"), toDay: day("2026-01-12"), periods: 2 };
    const starts = (measure: "in" | "inOrAfter") => gridOf(question({ ...more, measure }));
    expect(starts("in")).toMatchObject({
      starts: [day("2026-01-05"), day("2026-01-12"), day("2026-01-19")],
      endDay: day("2026-01-26"),
    });
    expect(starts("inOrAfter")).toMatchObject({
      starts: [day("2026-01-05"), day("2026-01-12"), day("2026-01-19"), day("2026-01-26")],
      endDay: day("2026-03-30"),
    });
    expect(daysOfCell(question({ measure: "in" }), day("2026-03-04"), 3)).toEqual({
      activeFrom: day("2026-03-23"),
      activeEnd: day("2026-03-30"),
    });
  });
});
