/** MRR has a past: rows of Stripe's exports become the billing events from which subscriptions and MRR are
 * derived. */
import { expect, test } from "bun:test";
import type { BillingEventName } from "../../contract/billing/events.ts";
import type { JsonObject } from "../../contract/json.ts";
import { type BillingEvent, billingProperties } from "../../server/revenue/billing-event.ts";
import { changesOf } from "../../server/revenue/changes.ts";
import { exportTranslations } from "../../server/sources/exports/exports.ts";
import { invoice, price, subscription, subscriptionItem } from "../sources/stripe-objects.ts";
import { dayMs, utc } from "./support.ts";

const second = (day: number) => dayMs(day) / 1_000;
const context = {
  nowMs: dayMs(200),
  zone: undefined,
  accountProperty: undefined,
  createdCustomers: new Set<string>(),
};

/** The billing events of rows, as they are stored for user 1. */
function billingEvents(rows: readonly object[]): BillingEvent[] {
  return rows.flatMap((row) => {
    const translated = exportTranslations.stripe(row as JsonObject, context);
    if (!("items" in translated)) return [];
    return translated.items.flatMap((item) =>
      item.type === "track"
        ? {
            event: item.event as BillingEventName,
            atMs: item.atMs,
            tieBreak: item.messageId ?? "",
            user: 1,
            account: 0,
            isAccountNamed: false,
            properties: billingProperties(item.properties, utc),
          }
        : [],
    );
  });
}

const told = (rows: readonly object[]) =>
  changesOf(billingEvents(rows)).map(
    ({ fromMs, status, mrr }) => `${(fromMs - dayMs(0)) / 86_400_000} ${status} ${mrr}`,
  );

test("a trial, a yearly plan, a scheduled cancellation and its end", () => {
  const yearly = price({
    unit_amount: 60_000,
    recurring: {
      interval: "year",
      interval_count: 1,
      usage_type: "licensed",
      meter: null,
      trial_period_days: null,
    },
  });
  const row = subscription(
    {
      status: "canceled",
      start_date: second(0),
      trial_end: second(14),
      canceled_at: second(50),
      ended_at: second(100),
    },
    [subscriptionItem({ current_period_end: second(379) }, yearly)],
  );
  const changes = told([row]);
  expect(changes).toEqual(["0 trialing 0", "14 active 5000", "50 active 5000", "100 canceled 0"]);
});

test.each<[string, object, string[]]>([
  ["waits for a card", { status: "paused" }, ["0 trialing 0", "14 paused 0"]],
  [
    "is past due since",
    { status: "past_due", current_period_start: second(14) },
    ["0 trialing 0", "14 past_due 4900"],
  ],
  [
    "is past due after a paid month",
    { status: "past_due", current_period_start: second(44) },
    ["0 trialing 0", "14 active 4900", "44 past_due 4900"],
  ],
  [
    "ended without a payment",
    {
      status: "canceled",
      current_period_start: second(14),
      canceled_at: second(35),
      ended_at: second(35),
      cancellation_details: { reason: "payment_failed" },
    },
    ["0 trialing 0", "14 canceled 0"],
  ],
  [
    "is unpaid after a paid month",
    { status: "unpaid", current_period_start: second(44) },
    ["0 trialing 0", "14 active 4900", "44 canceled 0"],
  ],
])("a trial that %s counts as with the webhook", (_, more, history) => {
  const row = { ...subscription({ start_date: second(0), trial_end: second(14) }), ...more };
  expect(told([row])).toEqual(history);
});

test("a subscription whose payments are not collected is paused, as with the webhook", () => {
  const times = { start_date: second(0), current_period_start: second(60) };
  const row = { ...subscription(times), pause_collection: { behavior: "void", resumes_at: null } };
  expect(told([row])).toEqual(["0 active 4900", "60 paused 0"]);
  const ended = { ...row, status: "canceled", canceled_at: second(90), ended_at: second(90) };
  expect(told([ended])).toEqual(["0 active 4900", "90 canceled 0"]);
});

test.each([
  ["paused", `sub_1:subscription_paused:${second(14)}`],
  ["unpaid", `sub_1:subscription_canceled:${second(44)}`],
])("a subscription that is %s has ids for good, so that a second import repeats nothing", (status, id) => {
  const times = { start_date: second(0), trial_end: second(14), current_period_start: second(44) };
  const events = billingEvents([{ ...subscription(times), status }]);
  expect(events.map(({ tieBreak }) => tieBreak)).toContain(id);
  expect(events.filter(({ tieBreak }) => tieBreak === "")).toEqual([]);
});

test("an open invoice is past due until it is paid, and an import that repeats changes nothing", () => {
  const running = subscription({ start_date: second(0) }, [
    subscriptionItem({ current_period_end: second(210) }),
  ]);
  const open = invoice({ status: "open", amount_paid: 0, attempt_count: 1, created: second(30) });
  const paid = invoice({
    id: "in_2",
    created: second(60),
    status_transitions: {
      finalized_at: second(60),
      marked_uncollectible_at: null,
      paid_at: second(61),
      voided_at: null,
    },
  });
  expect(told([running, open])).toEqual(["0 active 4900", "30 past_due 4900"]);
  const all = told([paid, open, running]);
  expect(all).toEqual(["0 active 4900", "30 past_due 4900", "61 active 4900"]);
  expect(told([running, open, paid, paid, open, running])).toEqual(all);
});

test("the dashboard's CSV has amounts of all currencies in major units", () => {
  const row = (currency: string, amount: string) => ({
    id: "sub_1",
    "Customer ID": "cus_1",
    Quantity: "2",
    Interval: "month",
    Status: "active",
    Plan: "p",
    Currency: currency,
    Amount: amount,
    "Start Date (UTC)": "2026-01-01 00:00",
  });
  const mrrOf = (currency: string, amount: string) => told([row(currency, amount)]);
  expect(mrrOf("eur", "20.50")).toEqual(["0 active 4100"]);
  expect(mrrOf("jpy", "980")).toEqual(["0 active 1960"]);
  // Without minor units in ISO 4217, and with two digits for Stripe.
  expect(mrrOf("isk", "500.00")).toEqual(["0 active 1000"]);
  // With two digits in ISO 4217, and without minor units for Stripe.
  expect(mrrOf("mga", "3")).toEqual(["0 active 600"]);
  expect(mrrOf("kwd", "1.250")).toEqual(["0 active 2500"]);
  expect(mrrOf("eur", "20,50")).toEqual(["0 active 4100"]);
  // A thousand, and no amount of one. The row is rejected.
  expect([mrrOf("eur", "1,000"), mrrOf("jpy", "1,000"), mrrOf("jpy", "1.000")]).toEqual([[], [], []]);
});
