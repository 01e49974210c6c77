/** Segments below a segment: each is there once, however many lead to it. */
import { expect, test } from "bun:test";
import { segmentLimits } from "../../contract/segments/segments.ts";
import {
  countConditions,
  refuseTooManyConditions,
  segmentWithThoseBelow,
} from "../../server/ledger/rules/segment-rules.ts";

const node = (id: number, below: readonly number[]) => ({
  id,
  kind: "users" as const,
  name: `segment ${id}`,
  filter: below.length === 0 ? null : { segments: below.map((segment) => ({ segment })) },
});

test("three full levels have their segments, and not all ways to them", () => {
  const level = (first: number) => Array.from({ length: 8 }, (_, n) => first + n);
  const segments = [
    ...level(1).map((id) => node(id, [])),
    ...level(11).map((id) => node(id, level(1))),
    ...level(21).map((id) => node(id, level(11))),
    node(31, level(21)),
    node(41, [1]),
  ];
  const found = segmentWithThoseBelow(segments, 31).map(({ id }) => id);
  expect(found[0]).toBe(31);
  expect(found.toSorted((a, b) => a - b)).toEqual([...level(1), ...level(11), ...level(21), 31]);
  expect(segmentWithThoseBelow(segments, 99)).toEqual([]);
});

test("a segment that was changed has a limit of conditions, with those below it, and so has each above it", () => {
  const events = (count: number) => Array.from({ length: count }, (_, at) => ({ event: `e${at}`, days: 28 }));
  const made = (id: number, conditions: number, below: readonly number[] = []) => ({
    ...node(id, below),
    filter: { events: events(conditions), segments: below.map((segment) => ({ segment })) },
  });
  const half = segmentLimits.conditions / 2;
  // 4 and the fixed 5 are below both 2 and 3, and count once.
  const segments = (conditions: number) => [
    node(5, []),
    made(4, half - 7, [5]),
    made(3, 1, [4, 5]),
    made(2, conditions, [4, 5]),
    made(1, 1, [2, 3]),
    made(9, 10 * half),
  ];
  expect(countConditions(segmentWithThoseBelow(segments(half), 1))).toBe(segmentLimits.conditions + 3);
  expect(() => refuseTooManyConditions(segments(half - 3), 2)).not.toThrow();
  expect(() => refuseTooManyConditions(segments(half - 2), 2)).toThrow("segment 1 would have 51 conditions");
  expect(() => refuseTooManyConditions(segments(half), 9)).toThrow("segment 9 would have 250 conditions");
  expect(() => refuseTooManyConditions(segments(1), 2)).not.toThrow();
});
