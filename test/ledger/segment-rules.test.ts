/** Segments below a segment: each is there once, however many lead to it. */
import { expect, test } from "bun:test";
import { segmentWithThoseBelow } from "../../server/ledger/rules/segment-rules.ts";

const node = (id: number, below: readonly number[]) => ({
  ...{ id, kind: "users" as const, name: `segment ${id}` },
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
