/** The interval of the difference of two AUCs on equal rows. */
import { expect, test } from "bun:test";
import { aucDifference, type PairedScores } from "../../server/scoring/statistics/auc-difference.ts";
import { aucOf } from "../../server/scoring/statistics/metrics.ts";
import { randomOfThisRun } from "../warehouse/support.ts";

const random = randomOfThisRun("auc difference");

/** Rows of which the second score tells more when `better` is above 0. */
function rowsOf(count: number, better: number): PairedScores[] {
  return Array.from({ length: count }, () => {
    const label = random.chance(0.2);
    const [signal, own] = [Number(label), random.normal(0, 1)];
    return { label, first: signal + own, second: signal * (1 + better) + 0.8 * own + random.normal(0, 0.6) };
  });
}

const middle = (rows: readonly PairedScores[]) => {
  const { low = Number.NaN, high = Number.NaN } = aucDifference(rows) ?? {};
  return (low + high) / 2;
};

test("its middle is the difference of the two, ties counted half", () => {
  for (const round of [1, 10]) {
    const rows = rowsOf(300, 0.5).map((row) => ({
      ...row,
      first: Math.round(row.first * round) / round,
      second: Math.round(row.second * round) / round,
    }));
    const auc = (of: "first" | "second") =>
      aucOf(rows.map((row) => ({ predicted: row[of], label: row.label }))) ?? 0;
    expect(middle(rows)).toBeCloseTo(auc("second") - auc("first"), 9);
  }
});

test("of equally good scores it has 0 in about 19 of 20 samples, and of a better one seldom", () => {
  const hasZero = (better: number) =>
    Array.from({ length: 200 }, () => aucDifference(rowsOf(400, better))).filter(
      (interval) => interval !== null && interval.low <= 0 && interval.high >= 0,
    ).length;
  expect(hasZero(0)).toBeGreaterThan(176);
  expect(hasZero(1)).toBeLessThan(40);
});

test("a score against itself differs by nothing, and one outcome alone cannot be compared", () => {
  const rows = rowsOf(50, 0).map((row) => ({ ...row, second: row.first }));
  expect(aucDifference(rows)).toEqual({ low: 0, high: 0 });
  expect(aucDifference(rows.filter(({ label }) => label))).toBeNull();
});
