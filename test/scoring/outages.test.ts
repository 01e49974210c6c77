/** Which days of the past are outages. */
import { describe, expect, test } from "bun:test";
import { type DayOfData, outagesOf } from "../../server/scoring/scores/outages.ts";
import { Random } from "../../simulation/random.ts";

const T = 20_006;

/** Days before T, which is a Thursday, as days ago. */
function log(isActive: (daysAgo: number, weekday: number) => number, length = 100): DayOfData[] {
  return Array.from({ length }, (_, index) => T - length + index)
    .map((day) => ({ day, users: isActive(T - day, (day + 4) % 7) }))
    .filter(({ users }) => users > 0);
}

const found = (days: readonly DayOfData[], at = T) =>
  outagesOf(
    days.filter(({ day }) => day < at),
    at,
  ).map(({ from, to }) => [T - from, T - to]);

describe("days without users are an outage", () => {
  test("when three of them were expected, and not before", () => {
    const gap = (days: number) => log((ago) => (ago > 40 || ago <= 40 - days ? 10 : 0));
    expect(found(gap(2))).toEqual([]);
    expect(found(gap(3))).toEqual([[40, 37]]);
    expect(found(gap(20))).toEqual([[40, 20]]);
  });

  test("as soon as they were, though no data has come since", () => {
    const days = log((ago) => (ago > 10 ? 10 : 0));
    expect([8, 7, 6, 1].map((ago) => found(days, T - ago))).toEqual([[], [[10, 7]], [[10, 6]], [[10, 1]]]);
  });

  test("but no longer than eight weeks without an end", () => {
    const days = log((ago) => (ago > 70 ? 10 : 0), 130);
    expect(found(days, T - 14)).toEqual([[70, 14]]);
    expect(found(days, T - 13)).toEqual([]);
    expect(found([...days, { day: T - 1, users: 1 }])).toEqual([[70, 1]]);
  });

  test("in working hours from Monday to Friday only without three of these days", () => {
    const isAtWork = (weekday: number) => weekday > 0 && weekday < 6;
    // T − 42 is a Thursday.
    const gap = (from: number, to: number) =>
      log((ago, weekday) => (isAtWork(weekday) && (ago > from || ago <= to) ? 10 : 0));
    expect(found(gap(42, 38))).toEqual([]);
    expect(found(gap(42, 37))).toEqual([[42, 37]]);
  });
});

describe("days without users are no outage", () => {
  test("with less than a week before", () => {
    const began = (days: number) => log((ago) => (ago > 40 || ago <= 20 ? 10 : 0), 40 + days);
    expect([began(7), began(8)].map((days) => found(days))).toEqual([[], [[40, 20]]]);
  });

  test("where fewer than five users were active on every day before", () => {
    const withUsers = (users: number) => log((ago) => (ago > 40 || ago <= 20 ? users : 0));
    expect([withUsers(4), withUsers(5)].map((days) => found(days))).toEqual([[], [[40, 20]]]);
  });

  test("where such gaps are usual", () => {
    expect(found(log((ago) => (ago % 10 < 2 ? 10 : 0)))).toEqual([]);
    const seldom = new Random(7);
    expect(found(log(() => (seldom.chance(0.3) ? 10 : 0), 400))).toEqual([]);
  });
});

test("what comes at the cut-off or later changes no outage before it", () => {
  const random = new Random(11);
  const days = log((ago) => (random.chance(0.9) && ago % 90 > 12 ? random.between(3, 9) : 0), 400);
  const all = found(days);
  expect(all.length).toBeGreaterThan(2);
  for (let ago = 0; ago < 300; ago += 1) {
    const ended = all.filter(([, end = 0]) => end >= ago + 1);
    expect(found(days, T - ago).filter(([, end = 0]) => end > ago)).toEqual(ended);
  }
});

test("no data, no outage", () => {
  expect(outagesOf([], T)).toEqual([]);
});
