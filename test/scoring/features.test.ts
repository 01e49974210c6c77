import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChurnChange } from "../../server/scoring/scores/churn-changes.ts";
import { isScored, stateOf } from "../../server/scoring/scores/state.ts";
import { cellOf, type DayEvent, featuresOf } from "./features.ts";
import { snapshotOf } from "./snapshot.ts";

/** The day of the cut-off. Days below count backwards from it. */
const T = 20_000;
const ago = (days: number, event = "open", count = 1): DayEvent => ({ day: T - days, event, count });

function features(log: readonly DayEvent[], settings: Parameters<typeof featuresOf>[2] = {}) {
  const found = featuresOf(
    log.toSorted((a, b) => a.day - b.day),
    T,
    settings,
  );
  if (found === null) throw new Error("there is an event before the cut-off");
  return found;
}

describe("features", () => {
  test("count days, events and gaps within their windows", () => {
    const log = [ago(200), ago(84), ago(85), ago(57), ago(56), ago(29), ago(28), ago(28, "save", 3), ago(1)];
    expect(features(log)).toMatchObject({
      idleDays: 1,
      tenureDays: 200,
      activeDays28: 2,
      activeDaysPrevious28: 2,
      activeDays84: 6,
      volume28: 5,
      eventNames28: 2,
      meanGapDays: 199 / 7,
      hasSingleActiveDay: false,
      adoption: null,
      hasLeft: false,
    });
  });

  test("of a single active day have the tenure for a gap", () => {
    expect(features([ago(9)])).toMatchObject({
      hasSingleActiveDay: true,
      meanGapDays: 9,
      idleDays: 9,
      tenureDays: 9,
    });
  });

  test("weigh events and count at most 50 of one name on one day", () => {
    const weights = new Map([["pay", 10]]);
    expect(features([ago(1, "poll", 9_000), ago(2, "poll", 7), ago(1, "pay", 2)], { weights }).volume28).toBe(
      50 + 7 + 20,
    );
  });

  test("do not see passive events", () => {
    const passiveEvents = new Set(["mail_sent"]);
    expect(features([ago(30), ago(1, "mail_sent")], { passiveEvents }).idleDays).toBe(30);
    expect(featuresOf([ago(1, "mail_sent")], T, { passiveEvents })).toBeNull();
  });

  test("take adoption from the key events of 90 days", () => {
    const keyEvents = ["invite", "report", "export", "pay"];
    const log = [ago(91, "invite"), ago(90, "report"), ago(3, "export"), ago(2, "export")];
    expect(features(log, { keyEvents }).adoption).toBe(0.5);
  });

  test("do not change with events at or after the cut-off", () => {
    const event = fc.record({
      day: fc.integer({ min: T - 250, max: T + 60 }),
      event: fc.constantFrom("a", "b", "c"),
      count: fc.integer({ min: 1, max: 80 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const log = events.toSorted((a, b) => a.day - b.day);
        const past = log.filter(({ day }) => day < T);
        const settings = { keyEvents: ["a", "b"] };
        expect(featuresOf(log, T, settings)).toEqual(featuresOf(past, T, settings));
      }),
    );
  });
});

describe("a cell", () => {
  test.each([
    ["yesterday only", [1], { x: 0, t: 0, n: 0 }],
    ["seven days ago is still the last week", [7], { x: 0, t: 0, n: 0 }],
    ["eight days ago is the week before", [8], { x: 0, t: 0, n: 1 }],
    ["two days of one week count once", [15, 2, 3], { x: 1, t: 2, n: 2 }],
    ["period 0 is not counted", [15, 16, 8], { x: 1, t: 1, n: 2 }],
    ["the window has 26 weeks", [182, 1], { x: 1, t: 25, n: 25 }],
    ["what lies before the window is not seen", [183, 400, 15, 1], { x: 1, t: 2, n: 2 }],
  ])("%s", (_, days, cell) => {
    const activeDays = days.map((day) => T - day).sort((a, b) => a - b);
    expect(cellOf(activeDays, T)).toEqual(cell);
  });

  test("of a user without events in the window does not exist", () => {
    expect(cellOf([T - 183], T)).toBeNull();
    expect(cellOf([T, T + 3], T)).toBeNull();
  });
});

describe("the state", () => {
  test("is the first that holds", () => {
    expect(stateOf(null, 28)).toBe("no_data");
    expect(stateOf(features([ago(28)]), 28)).toBe("churned");
    expect(stateOf(features([ago(27)]), 28)).toBe("active");
    expect(stateOf(features([ago(13)]), 28)).toBe("new");
    expect(stateOf(features([ago(14)]), 28)).toBe("active");
    expect(stateOf(features([ago(14)]), 14)).toBe("churned");
  });

  test("with a declared target is churned when it is met, and inactive when idle for the horizon", () => {
    const by = { by: "event" } as const;
    const [busy, idle] = [features([ago(27)]), features([ago(28)])];
    expect(stateOf(busy, 28, by)).toBe("active");
    expect(stateOf(idle, 28, by)).toBe("inactive");
    expect(stateOf(features([ago(40)]), 56, by)).toBe("active");
    expect(stateOf({ ...busy, hasLeft: true }, 28, by)).toBe("churned");
    expect(stateOf({ ...idle, hasLeft: true }, 28, by)).toBe("churned");
  });

  test("decides who is scored", () => {
    expect(isScored(features([ago(27)]), 28)).toBe(true);
    expect(isScored(features([ago(28)]), 28)).toBe(false);
    expect(isScored(null, 28)).toBe(false);
    const [idle, lost] = [features([ago(182)]), features([ago(183)])];
    expect(isScored(idle, 28, { by: "event" })).toBe(true);
    expect(isScored({ ...idle, hasLeft: true }, 28, { by: "event" })).toBe(false);
    expect(isScored(lost, 28, { by: "trait" })).toBe(false);
    expect(isScored(features([ago(1)]), 28, { by: "subscription" })).toBe(false);
  });
});

describe("a snapshot", () => {
  const log = (...days: number[]) => ({ log: days.sort((a, b) => b - a).map((day) => ago(day)) });

  test("fits everybody seen in the window and scores the active and the new", () => {
    const { cells, rows } = snapshotOf([log(60), log(60), log(20), log(3, -5), log(300)], T, 28);
    expect(cells).toEqual([
      { x: 0, t: 0, n: 8, count: 2 },
      { x: 0, t: 0, n: 2, count: 1 },
      { x: 0, t: 0, n: 0, count: 1 },
    ]);
    expect(rows.map(({ features: { idleDays }, label }) => [idleDays, label])).toEqual([
      [20, true],
      [3, false],
    ]);
  });

  test("the horizon begins with the cut-off and ends before its last day", () => {
    expect(snapshotOf([log(3, 0)], T, 28).rows[0]?.label).toBe(false);
    expect(snapshotOf([log(3, -27)], T, 28).rows[0]?.label).toBe(false);
    expect(snapshotOf([log(3, -28)], T, 28).rows[0]?.label).toBe(true);
  });

  test("of a declared target has its labels, however busy or silent an entity is", () => {
    const target = { by: "event", event: "bye", undoneBy: "back" } as const;
    const labelOf = (changes: ChurnChange[], ...days: number[]) =>
      snapshotOf([{ ...log(...days), changes }], T, 28, { target }).rows.map(({ label }) => label);
    const change = (daysAgo: number, isChurned: boolean) => ({ day: T - daysAgo, timeMs: 0, isChurned });
    expect(labelOf([], 3)).toEqual([false]);
    expect(labelOf([change(-2, true)], 3, -1, -20)).toEqual([true]);
    expect(labelOf([change(-2, true), change(-27, false)], 3)).toEqual([false]);
    expect(labelOf([change(-2, true), change(-28, false)], 3)).toEqual([true]);
    expect(labelOf([change(-28, true)], 3)).toEqual([false]);
    expect(labelOf([change(2, true)], 3)).toEqual([]);
    expect(labelOf([change(2, true), change(1, false)], 40)).toEqual([false]);
  });
});
