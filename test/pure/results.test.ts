/** What counts as done for a customer, and what came of it. */
import { describe, expect, test } from "bun:test";
import type { GivenVerdict } from "../../server/features/alerts/store/verdicts.ts";
import { hintOf, type TouchedCustomer } from "../../server/features/results/results.ts";
import { totalsOf } from "../../server/features/results/totals.ts";
import { handledTouches } from "../../server/features/results/touches.ts";

const day = 86_400_000;
const given = (one: Partial<GivenVerdict>): GivenVerdict => ({
  id: 1,
  user: 0,
  account: 7,
  alert: 5,
  rule: { id: 2, name: "High risk" },
  verdict: "handled",
  outcome: null,
  note: null,
  person: { id: 3, name: "Ada" },
  by: null,
  atMs: 0,
  ...one,
});
const touches = (...verdicts: Partial<GivenVerdict>[]) =>
  handledTouches(verdicts.map(given), 28 * day).map(({ atMs, outcome, text }) => [atMs, outcome, text]);

describe("what was handled", () => {
  test("is one touch, whose outcome is the newest that was said", () => {
    expect(
      touches({ atMs: 1, outcome: "saved", note: "They stay." }, { atMs: 9, outcome: "lost", note: null }),
    ).toEqual([[1, "lost", "They stay."]]);
  });

  test("is none once the verdict is taken back, and another one when it is given again", () => {
    expect(touches({ atMs: 1 }, { atMs: 2, verdict: null })).toEqual([]);
    expect(touches({ atMs: 1 }, { atMs: 2, verdict: "notUseful" })).toEqual([]);
    expect(touches({ atMs: 1 }, { atMs: 2, verdict: null }, { atMs: 3, outcome: "noAnswer" })).toEqual([
      [3, "noAnswer", null],
    ]);
  });

  test("of two alerts is two touches; a call that comes back after the horizon is another one", () => {
    expect(touches({ atMs: 1, alert: 5 }, { atMs: 2, alert: 6 })).toHaveLength(2);
    const call = { alert: null, rule: null };
    expect(touches({ ...call, atMs: 0 }, { ...call, atMs: 27 * day, outcome: "saved" })).toEqual([
      [0, "saved", null],
    ]);
    expect(touches({ ...call, atMs: 0 }, { ...call, atMs: 28 * day, outcome: "saved" })).toEqual([
      [0, null, null],
      [28 * day, "saved", null],
    ]);
    // Who changes the outcome of an alert after months touches nobody.
    expect(touches({ atMs: 0 }, { atMs: 60 * day, outcome: "lost" })).toEqual([[0, "lost", null]]);
  });
});

const customer = (one: Partial<TouchedCustomer>): TouchedCustomer => ({
  kind: "account",
  number: 1,
  id: "a1",
  label: "Acme",
  touches: [],
  rules: [],
  outcome: null,
  mrrThen: null,
  mrrNow: null,
  useDays: 0,
  useBefore: 0,
  useAfter: 0,
  state: null,
  risk: null,
  ...one,
});

test("totals count each customer once, and money where it is known", () => {
  const all = [
    customer({ mrrThen: 100, mrrNow: 100, outcome: "saved" }),
    customer({ mrrThen: 50, mrrNow: 0, outcome: "lost" }),
    customer({ mrrThen: 0, mrrNow: 30 }),
    customer({}),
  ];
  expect(totalsOf(all)).toEqual({
    customers: 4,
    mrrThen: 150,
    mrrNow: 130,
    paying: 2,
    stillPaying: 1,
    outcomes: { saved: 1, lost: 1, noAnswer: 0, wrongAlarm: 0, other: 0 },
  });
});

describe("predicted against observed churn", () => {
  test("says nothing without customers whose horizon is over", () => {
    expect(hintOf([])).toBeNull();
  });

  test("is the sum of the risks, with the interval of a sum of independent draws", () => {
    const judged = [
      { risk: 0.5, hasChurned: true },
      { risk: 0.5, hasChurned: false },
      { risk: 0.1, hasChurned: false },
    ];
    const hint = hintOf(judged);
    expect(hint).toMatchObject({ customers: 3, churned: 1 });
    expect(hint?.predicted).toBeCloseTo(1.1, 9);
    // 1.96 × √(.25 + .25 + .09)
    expect(hint?.low).toBe(0);
    expect(hint?.high).toBeCloseTo(1.1 + 1.96 * Math.sqrt(0.59), 9);
  });

  test("never expects more than all of them", () => {
    expect(hintOf([{ risk: 0.9, hasChurned: true }])?.high).toBe(1);
  });
});
