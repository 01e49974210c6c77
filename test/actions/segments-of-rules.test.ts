/** The readings of a rule about a segment: pure. */
import { expect, test } from "bun:test";
import { readingsByScope } from "../../server/actions/rules/segments.ts";
import type { Reading } from "../../server/actions/rules/step.ts";

const inside: Reading = {
  ...{ day: 20_000, isInside: true, isInsideAsBefore: true, isOut: false, standing: "present" },
};
const readings = new Map([
  [1, inside],
  [2, inside],
  [3, inside],
]);
const followed = new Set([2]);

test("those beyond the scope are not looked at, and one that is followed is out", () => {
  const segments = { inScope: new Set([1]), readsScores: false };
  const read = readingsByScope(readings, segments, { followed, areRulesOther: true });
  const out = { ...inside, isInside: false, isInsideAsBefore: false, isOut: true };
  expect([...read]).toEqual([
    [1, inside],
    [2, out],
  ]);
});

test("without a segment in its scope a rule looks at all", () => {
  const segments = { inScope: undefined, readsScores: false };
  expect(readingsByScope(readings, segments, { followed, areRulesOther: true })).toEqual(readings);
});

test("members by scores are inside by settings where the model or the bands are other ones", () => {
  const segments = { inScope: undefined, readsScores: true };
  const asBefore = (areRulesOther: boolean) =>
    [...readingsByScope(readings, segments, { followed, areRulesOther }).values()].map(
      ({ isInside, isInsideAsBefore }) => [isInside, isInsideAsBefore],
    );
  expect(asBefore(false)).toEqual(Array.from({ length: 3 }, () => [true, true]));
  expect(asBefore(true)).toEqual(Array.from({ length: 3 }, () => [true, false]));
});
