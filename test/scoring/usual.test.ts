/** Changes that are larger than the usual difference between weeks, and weeks with fewer users than usual. */
import { expect, test } from "bun:test";
import { studentT975 } from "../../server/scoring/statistics/student.ts";
import { judgeChange, quietWeeks } from "../../server/scoring/statistics/usual.ts";

test("Student's t agrees with the table in any textbook", () => {
  for (const [degrees, percentile] of [
    [7, 2.3646],
    [11, 2.201],
    [25, 2.0595],
    [100, 1.984],
  ] as const) {
    expect(Math.abs(studentT975(degrees) - percentile)).toBeLessThan(0.003);
  }
});

/** Levels, the newest first, that end at 100 and went up by these changes, the newest first. */
function levelsOf(changes: readonly number[]): number[] {
  const levels = [100];
  for (const change of changes) levels.push((levels.at(-1) ?? 0) - change);
  return levels;
}

const steady = [3, -3, 2, -2, 1, -1, 3, -3, 2, -2];

test("a change is unusual outside of the prediction interval of those before", () => {
  // By hand: mean 0, s² = 46/9, t(9) = 2.262, √(1 + 1/10).
  const half = 2.2622 * Math.sqrt((54 / 9) * 1.1);
  const judged = judgeChange(levelsOf([4, ...steady]));
  expect(judged).toMatchObject({ change: 4, side: "within" });
  const spread = steady.reduce((sum, each) => sum + each ** 2, 0);
  expect(judged?.usual?.high).toBeCloseTo(half * Math.sqrt(spread / 54), 2);
  expect(judged?.usual?.weeks).toBe(10);
  expect(judgeChange(levelsOf([9, ...steady]))?.side).toBe("above");
  expect(judgeChange(levelsOf([-9, ...steady]))?.side).toBe("below");
});

test("steady growth is usual, and its end is not", () => {
  const growing = Array.from({ length: 12 }, (_, index) => 20 + (index % 3));
  expect(judgeChange(levelsOf([21, ...growing]))?.side).toBe("within");
  expect(judgeChange(levelsOf([0, ...growing]))?.side).toBe("below");
});

test("one or two persons are never unusual, however still it was before", () => {
  const still = Array.from({ length: 10 }, () => 0);
  const sides = [1, 2, 3, -2, -3].map((by) => judgeChange(levelsOf([by, ...still]))?.side);
  expect(sides).toEqual(["within", "within", "above", "within", "below"]);
});

test("with fewer than eight changes before, nothing is said", () => {
  expect(judgeChange(levelsOf([50, ...steady.slice(0, 7)]))).toEqual({
    change: 50,
    usual: null,
    side: null,
  });
  expect(judgeChange(levelsOf([50, ...steady.slice(0, 8)]))?.side).toBe("above");
  expect(judgeChange([5])).toBeUndefined();
});

test("a week that says nothing takes its two changes away, and the newest cannot be judged without the one before", () => {
  const levels: (number | null)[] = levelsOf([4, ...steady]);
  levels[5] = null;
  expect(judgeChange(levels)?.usual?.weeks).toBe(8);
  expect(judgeChange([5, null, 4])).toBeUndefined();
});

test("a quiet week is compared with the weeks before it that were none", () => {
  // The median of the four oldest is 150. With the week of 3 among them it would be 100.
  expect([...quietWeeks([60, 3, 100, 100, 200, 200])]).toEqual([
    [1, 150],
    [0, 150],
  ]);
});

test("a week is quiet below half of the usual, by five users at least, and after three weeks at least", () => {
  expect([...quietWeeks([49, 100, 100, 100])]).toEqual([[0, 100]]);
  expect([...quietWeeks([50, 100, 100, 100])]).toEqual([]);
  expect([...quietWeeks([1, 6, 6, 6])]).toEqual([[0, 6]]);
  expect([...quietWeeks([1, 5, 5, 5])]).toEqual([]);
  expect([...quietWeeks([1, 100, 100])]).toEqual([]);
});

test("a fall that lasts for twelve weeks becomes the usual", () => {
  const fallen = (weeks: number) => [...Array.from({ length: weeks }, () => 20), 100, 100, 100, 100];
  expect(quietWeeks(fallen(9)).size).toBe(9);
  expect(quietWeeks(fallen(9 + 4)).has(0)).toBe(false);
});
