/** Entries of the history of a subscription, by its changes. */
import { expect, test } from "bun:test";
import type { SubscriptionChange } from "../../server/revenue/changes.ts";
import { historyOf } from "../../server/revenue/history.ts";

const base: SubscriptionChange = {
  fromMs: 0,
  status: "active",
  plan: "Team",
  mrr: 4_900,
  currency: "EUR",
  quantity: 1,
  interval: undefined,
  trialEndsAtMs: undefined,
  periodEndMs: undefined,
  endsAtMs: undefined,
  payer: { account: 1, user: 1 },
  isInvoluntary: false,
  lastEventMs: 0,
};
const trial = { status: "trialing", mrr: 0 } as const;
const late = { status: "past_due" } as const;
const paused = { status: "paused", mrr: 0 } as const;
const ended = { status: "canceled", mrr: 0 } as const;

test.each([
  ["a start, and an upgrade", [{}, { mrr: 9_900, plan: "Gold" }], ["started", "upgraded"]],
  ["a downgrade within a plan", [{}, { mrr: 4_000 }], ["started", "downgraded"]],
  ["another plan at the same price", [{}, { plan: "Club" }], ["started", "plan_changed"]],
  [
    "another currency, whose amounts are not compared",
    [{ mrr: 5_000, currency: "JPY" }, { currency: "USD" }],
    ["started", "plan_changed"],
  ],
  ["an amount after none", [{ mrr: 0, currency: undefined }, {}], ["started", "upgraded"]],
  ["a trial that converts", [trial, {}], ["trial_started", "trial_converted"]],
  [
    "a trial whose first payment fails",
    [trial, late],
    ["trial_started", "trial_converted", "payment_failed"],
  ],
  ["a payment that fails and succeeds", [{}, late, {}], ["started", "payment_failed", "payment_recovered"]],
  ["a pause", [{}, paused, {}], ["started", "paused", "resumed"]],
  ["a pause that ends while payments fail", [{}, paused, late], ["started", "paused", "resumed"]],
  ["an end that is withdrawn", [{}, { endsAtMs: 9 }, {}], ["started", "end_scheduled", "end_withdrawn"]],
  ["an end, and a start after it", [{}, ended, {}], ["started", "ended", "started_again"]],
  ["a trial after an end", [{}, ended, trial], ["started", "ended", "trial_started"]],
  ["a plan that is told after the end", [{}, ended, { ...ended, plan: "Old" }], ["started", "ended"]],
  ["an end alone", [ended], ["ended"]],
  [
    "two things at once",
    [{}, { plan: "Gold", mrr: 9_900, endsAtMs: 9 }],
    ["started", "upgraded", "end_scheduled"],
  ],
  ["seats at no price", [{}, { quantity: 7 }], ["started"]],
] as const)("%s", (_, changes, expected) => {
  const history = historyOf(
    changes.map((change, fromMs): SubscriptionChange => ({ ...base, ...change, fromMs })),
  );
  expect(history.map(({ what }) => what)).toEqual([...expected]);
});

test("a history that is cut off goes on from the change before it", () => {
  const [entry] = historyOf([{ ...base, mrr: 9_900 }], base);
  expect(entry).toMatchObject({ what: "upgraded", before: { mrr: 4_900 }, now: { mrr: 9_900 } });
});
