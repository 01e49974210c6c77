/** A declared churn target as changes of an entity: its state on a day, its departure, and what nobody
 * saw. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type ChurnChange, departureBy } from "../../server/scoring/scores/churn-changes.ts";
import { hasLeftBy, wasUnseen } from "./churn-changes.ts";

const churn = (day: number, timeMs = 0): ChurnChange => ({ day, timeMs, isChurned: true });
const undo = (day: number, timeMs = 0): ChurnChange => ({ day, timeMs, isChurned: false });

describe("an entity has left", () => {
  test("by the last change before the day", () => {
    const changes = [churn(5), undo(8), churn(9)];
    expect([5, 6, 8, 9, 10].map((day) => hasLeftBy(changes, day))).toEqual([false, true, true, false, true]);
    expect(hasLeftBy([], 10)).toBe(false);
    expect(hasLeftBy([undo(2)], 10)).toBe(false);
  });

  test("unless it is undone later: at the same time is not later", () => {
    expect(hasLeftBy([churn(5, 100), undo(5, 101)], 6)).toBe(false);
    expect(hasLeftBy([churn(5, 100), undo(5, 100)], 6)).toBe(true);
    expect(hasLeftBy([undo(5, 100), churn(5, 100)], 6)).toBe(true);
  });

  test("with the first churn that nothing undid", () => {
    const changes = [churn(1), undo(3), churn(5), churn(7), churn(20)];
    expect([2, 4, 6, 9].map((day) => departureBy(changes, day)?.day)).toEqual([1, undefined, 5, 5]);
  });
});

test("nobody saw an entity leave whose first known value of a trait is a churned one of the span", () => {
  const span = { from: 10, to: 38 };
  const unseen = (...changes: ChurnChange[]) => wasUnseen({ by: "trait" }, changes, span);
  expect(unseen(churn(10))).toBe(true);
  expect(unseen(churn(12), undo(14), churn(20))).toBe(true);
  expect(unseen(undo(3), churn(12))).toBe(false);
  expect(unseen(churn(3), undo(5), churn(12))).toBe(false);
  expect(unseen(churn(38), churn(50))).toBe(false);
  expect(unseen()).toBe(false);
  expect(wasUnseen({ by: "event" }, [churn(12)], span)).toBe(false);
});

const change = fc.record({
  day: fc.integer({ min: 0, max: 60 }),
  timeMs: fc.integer({ min: 0, max: 3 }),
  isChurned: fc.boolean(),
});

test("the order of arrival changes nothing, and neither do changes at or after the day", () => {
  const arrived = fc
    .array(change, { maxLength: 12 })
    .chain((changes) =>
      fc.tuple(fc.constant(changes), fc.shuffledSubarray(changes, { minLength: changes.length })),
    );
  fc.assert(
    fc.property(arrived, fc.integer({ min: 0, max: 60 }), ([changes, shuffled], day) => {
      const [before, span] = [changes.filter((one) => one.day < day), { from: day - 28, to: day }];
      expect(hasLeftBy(shuffled, day)).toBe(hasLeftBy(before, day));
      expect(departureBy(shuffled, day)).toEqual(departureBy(before, day));
      expect(wasUnseen({ by: "trait" }, shuffled, span)).toBe(wasUnseen({ by: "trait" }, before, span));
      expect(departureBy(changes, day) !== undefined).toBe(hasLeftBy(changes, day));
    }),
  );
});
