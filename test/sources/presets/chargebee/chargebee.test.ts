/** Chargebee's events, one test for each type, in both product catalogs, and their users. */
import { describe, expect, test } from "bun:test";
import { eventsOf, expectNoHarm, ignored, itemsOf, traitsOf, translated } from "../support.ts";
import {
  chargebeeEvent,
  customer,
  endSeconds,
  failed,
  inTrial,
  invoice,
  line,
  ofFirstCatalog,
  paid,
  refunded,
  startSeconds,
  subscription,
  transaction,
} from "./payloads.ts";

export const runsOn = { postgres: true };

const events = (type: string, content: object, traits = {}) =>
  eventsOf("chargebee", chargebeeEvent(type, content), {
    users: { ada: traits },
    links: { "chargebee:cus_1": "ada" },
  });
const content = (of: object = subscription()) => ({ subscription: of, customer: customer() });

const plan = { plan: "team-EUR-monthly", amount: 10_000, currency: "EUR", interval: "month", quantity: 10 };
const endsAt = "2026-06-01T10:00:00.000Z";
const state = { subscriptionId: "sub_1", ...plan, currentPeriodEnd: endsAt };
const trial = { subscriptionId: "sub_1", ...plan };
const trialEndsAt = "2026-05-15T10:00:00.000Z";

describe("a subscription", () => {
  test.each([
    "subscription_created",
    "subscription_started",
    "subscription_reactivated",
    "subscription_created_with_backdating",
    "subscription_reactivated_with_backdating",
  ])("%s starts it", async (type) => {
    expect(await events(type, content())).toEqual([["subscription_started", state]]);
    expect(await events(type, content(inTrial()))).toEqual([
      ["subscription_started", { ...trial, trialEndsAt }],
    ]);
  });

  test("that is taken over from another tool is as it was there", async () => {
    const names = async (more: object) =>
      (await events("subscription_created", content(subscription(more)))).map(([event]) => event);
    expect(await names({ status: "cancelled", cancelled_at: startSeconds })).toEqual([
      "subscription_canceled",
    ]);
    expect(await names({ status: "paused" })).toEqual(["subscription_started", "subscription_paused"]);
    const ending = content(subscription({ status: "non_renewing", cancelled_at: endSeconds }));
    expect(await events("subscription_created", ending)).toEqual([
      ["subscription_started", state],
      ["cancellation_scheduled", { ...state, endsAt }],
    ]);
  });

  test("that is future has not started", async () => {
    for (const type of ["subscription_created", "subscription_changed"]) {
      const body = chargebeeEvent(type, content(subscription({ status: "future" })));
      expect(await ignored("chargebee", body)).toContain("not started");
    }
  });

  test("subscription_activated converts a trial", async () => {
    const { trial_end } = inTrial() as { trial_end?: number };
    const converted = await events("subscription_activated", content(subscription({ trial_end })));
    expect(converted).toEqual([["trial_converted", state]]);
    expect(await events("subscription_activated", content())).toEqual([["subscription_changed", state]]);
  });

  test.each(["subscription_changed", "subscription_renewed", "subscription_changed_with_backdating"])(
    "%s tells the state",
    async (type) => {
      expect(await events(type, content())).toEqual([["subscription_changed", state]]);
      const ended = chargebeeEvent(type, content(subscription({ status: "cancelled" })));
      expect(await ignored("chargebee", ended)).toContain("has ended");
    },
  );

  test("subscription_trial_extended and subscription_trial_end_reminder tell when the trial ends", async () => {
    expect(await events("subscription_trial_extended", content(inTrial()))).toEqual([
      ["subscription_changed", { ...trial, trialEndsAt }],
    ]);
    expect(await events("subscription_trial_end_reminder", content(inTrial()))).toEqual([
      ["trial_ending", { ...trial, trialEndsAt }],
    ]);
  });

  test("subscription_paused and subscription_resumed", async () => {
    const paused = await events("subscription_paused", content(subscription({ status: "paused" })));
    expect(paused).toEqual([["subscription_paused", state]]);
    expect(await events("subscription_resumed", content())).toEqual([["subscription_resumed", state]]);
  });

  test("subscription_cancellation_scheduled tells the end, and its removal withdraws it", async () => {
    const cancel_reason_code = "Too expensive";
    const ending = subscription({
      ...{ status: "non_renewing", cancelled_at: endSeconds, cancel_reason_code },
      current_term_end: endSeconds - 86_400,
    });
    const type = "subscription_cancellation_scheduled";
    const currentPeriodEnd = "2026-05-31T10:00:00.000Z";
    const reasons = { reason: cancel_reason_code, feedback: cancel_reason_code };
    expect(await events(type, content(ending))).toEqual([
      ["cancellation_scheduled", { ...state, currentPeriodEnd, endsAt, ...reasons }],
    ]);
    expect(await traitsOf("chargebee", chargebeeEvent(type, content(ending)))).toMatchObject({
      ...{ subscriptionStatus: "non_renewing", subscriptionEndsAt: endsAt },
    });
    const without = subscription({ status: "non_renewing" });
    expect((await events(type, content(without)))[0]?.[1].endsAt).toBe(endsAt);
    expect(await events("subscription_scheduled_cancellation_removed", content())).toEqual([
      ["cancellation_withdrawn", state],
    ]);
    const known = {
      users: { ada: { subscriptionEndsAt: endsAt } },
      links: { "chargebee:cus_1": "ada" },
    };
    const removed = chargebeeEvent("subscription_scheduled_cancellation_removed", content());
    expect(await traitsOf("chargebee", removed, known)).toMatchObject({ subscriptionEndsAt: null });
  });

  test.each(["subscription_cancelled", "subscription_canceled_with_backdating", "subscription_deleted"])(
    "%s ends it, and says whether it was not paid",
    async (type) => {
      const ended = (more: object) =>
        content(subscription({ status: "cancelled", cancelled_at: endSeconds, ...more }));
      expect(await events(type, ended({}))).toEqual([["subscription_canceled", state]]);
      for (const cancel_reason of ["not_paid", "no_card"]) {
        expect((await events(type, ended({ cancel_reason })))[0]?.[1].reason).toBe("payment_failed");
      }
      const other = { cancel_reason: "fraud_review_failed", cancel_reason_code: "Fraud" };
      expect((await events(type, ended(other)))[0]?.[1]).toMatchObject({
        ...{ reason: "fraud_review_failed", feedback: "Fraud" },
      });
      expect(await traitsOf("chargebee", chargebeeEvent(type, ended({})))).toEqual({
        ...{ plan: null, planAmount: null, planCurrency: null, planInterval: null },
        subscriptionStatus: "cancelled",
      });
    },
  );
});

describe("the amount", () => {
  const amountOf = async (more: object) =>
    (await events("subscription_created", content(subscription(more))))[0]?.[1].amount;
  const discount = (more: object) => ({
    ...{ id: "d1", type: "percentage", percentage: 10, duration_type: "forever", apply_on: "invoice_amount" },
    ...more,
  });

  test("is that of all recurring items of either catalog", async () => {
    const first = (await events("subscription_created", content(ofFirstCatalog())))[0]?.[1];
    expect(first).toEqual({ ...state, plan: "team" });
    const unit = ofFirstCatalog({ plan_amount: undefined, addons: undefined });
    expect((await events("subscription_created", content(unit)))[0]?.[1].amount).toBe(7_900);
    const oldest = { id: "sub_1", status: "active", plan_id: "team", plan_quantity: 1 };
    expect(await events("subscription_created", content(oldest))).toEqual([
      ["subscription_started", { subscriptionId: "sub_1", plan: "team", quantity: 1 }],
    ]);
  });

  test("is without metered items, and not known with items of another interval", async () => {
    const metered = line("api-calls", "addon", 300, 1, { metered_quantity: "300" });
    const team = line("team-EUR-monthly", "plan", 7_900, 10);
    expect(await amountOf({ subscription_items: [team, metered] })).toBe(7_900);
    const monthly = { ...team, billing_period: 1, billing_period_unit: "month" };
    expect(await amountOf({ subscription_items: [monthly] })).toBe(7_900);
    const yearly = line("support", "addon", 9_900, 1, { billing_period: 1, billing_period_unit: "year" });
    expect(await amountOf({ subscription_items: [team, yearly] })).toBeUndefined();
  });

  test("is after recurring discounts", async () => {
    expect(await amountOf({ discounts: [discount({})] })).toBe(9_000);
    expect(await amountOf({ discounts: [discount({ duration_type: "one_time" })] })).toBe(10_000);
    const limited = { duration_type: "limited_period", apply_till: endSeconds };
    expect(await amountOf({ discounts: [discount(limited)] })).toBe(9_000);
    expect(await amountOf({ discounts: [discount({ ...limited, apply_till: startSeconds })] })).toBe(10_000);
    const onItem = { apply_on: "specific_item_price", item_price_id: "team-EUR-monthly" };
    expect(await amountOf({ discounts: [discount(onItem)] })).toBe(9_210);
    const fixed = { type: "fixed_amount", percentage: undefined, amount: 1_234 };
    expect(await amountOf({ discounts: [discount(fixed), discount({})] })).toBe(7_889);
    expect(await amountOf({ discounts: [discount({ ...fixed, amount: 99_999 })] })).toBe(0);
  });
});

test("a discount that ends is told with the amount from then on", async () => {
  const limited = (percentage: number, apply_till: number) => ({
    ...{ type: "percentage", percentage, duration_type: "limited_period", apply_till },
    apply_on: "invoice_amount",
  });
  const later = endSeconds + 86_400;
  const discounts = [limited(50, later), limited(10, endSeconds), limited(99, startSeconds)];
  const told = await events("subscription_created", content(subscription({ discounts })));
  expect(told[0]?.[1]).toMatchObject({
    ...{ amount: 4_500, discountEndsAt: endsAt, amountAfterDiscount: 5_000 },
  });
  const once = [{ ...limited(10, endSeconds), duration_type: "one_time" }];
  const whole = await events("subscription_created", content(subscription({ discounts: once })));
  expect(whole[0]?.[1]).toEqual(state);
});

describe("a payment", () => {
  const payment = { amount: 11_900, currency: "EUR", subscriptionId: "sub_1", invoiceId: "42" };

  test("payment_succeeded", async () => {
    expect(await events("payment_succeeded", paid())).toEqual([
      ["payment_succeeded", { ...payment, currentPeriodEnd: endsAt }],
    ]);
    const free = chargebeeEvent("payment_succeeded", { ...paid(), transaction: transaction({ amount: 0 }) });
    expect(await ignored("chargebee", free)).toContain("amount 0");
  });

  test("payment_failed says why, how often, and when it is tried again", async () => {
    const more = { reason: "insufficient_funds", attempt: 2, nextAttemptAt: trialEndsAt };
    expect(await events("payment_failed", failed())).toEqual([["payment_failed", { ...payment, ...more }]]);
  });

  test("payment_refunded", async () => {
    expect(await events("payment_refunded", refunded())).toEqual([
      ["payment_refunded", { ...payment, amount: 1_900 }],
    ]);
  });

  test("transaction_created is a chargeback when it reverses a payment", async () => {
    const reversal = { transaction: transaction({ type: "payment_reversal", subscription_id: undefined }) };
    const { subscriptionId: _, ...ofInvoice } = payment;
    expect(await events("transaction_created", reversal)).toEqual([["payment_disputed", ofInvoice]]);
    const other = chargebeeEvent("transaction_created", { transaction: transaction() });
    expect(await ignored("chargebee", other)).toContain("reverses a payment");
  });
});

describe("the user", () => {
  const first = async (type: string, of: object, known = {}) =>
    (await itemsOf("chargebee", chargebeeEvent(type, of), known))[0];

  test.each([
    ["metadata of the subscription", { meta_data: { user_id: 42, account_id: "acme" } }, {}],
    ["a custom field of the subscription", { cf_user_id: "42", cf_account_id: "acme" }, {}],
    ["a custom field of the customer", {}, { cf_rekindle_user_id: "42", cf_rekindle_account_id: "acme" }],
  ])("is named by %s", async (_name, ofSubscription, ofCustomer) => {
    const named = { subscription: subscription(ofSubscription), customer: customer(ofCustomer) };
    expect(await first("subscription_created", named)).toMatchObject({
      ...{ type: "identify", userId: "42", anonymousId: "chargebee:cus_1", account: { id: "acme" } },
      ...{ email: "ada@example.com", atMs: startSeconds * 1_000 },
      traits: { plan: "team-EUR-monthly", planAmount: 10_000, subscriptionStatus: "active" },
    });
  });

  test("has the customer's id, if a user has it", async () => {
    const known = { users: { cus_1: {} } };
    expect(await first("subscription_created", content(), known)).toMatchObject({ userId: "cus_1" });
    expect(
      (await itemsOf("chargebee", chargebeeEvent("subscription_created", content()))).at(-1),
    ).toMatchObject({ type: "track", userId: undefined, anonymousId: "chargebee:cus_1" });
  });

  test("has the customer's address", async () => {
    const known = { emails: { "ada@example.com": ["ada"] } };
    for (const type of ["customer_created", "customer_changed"]) {
      const items = await itemsOf("chargebee", chargebeeEvent(type, { customer: customer() }), known);
      expect(items.at(-1)).toMatchObject({ type: "identify", userId: "ada" });
    }
  });

  test("is of the resource that names the customer, and nobody without one", async () => {
    const body = chargebeeEvent("payment_succeeded", { invoice: invoice(), transaction: {} });
    expect((await itemsOf("chargebee", body)).at(-1)).toMatchObject({ anonymousId: "chargebee:cus_1" });
    expect(await ignored("chargebee", chargebeeEvent("payment_succeeded", {}))).toContain("names neither");
  });

  test("customer_deleted", async () => {
    expect(await events("customer_deleted", { customer: customer({ deleted: true }) })).toEqual([
      ["customer_deleted", { customerId: "cus_1" }],
    ]);
  });
});

test.each(["invoice_generated", "plan_created", "toString", "__proto__", "_with_backdating"])(
  "%s is not used",
  async (type) =>
    expect(await ignored("chargebee", chargebeeEvent(type, content()))).toContain("is not used"),
);

test.each([null, 1, "x", [], {}, { id: "e", event_type: "payment_failed" }, { id: 1, content: {} }])(
  "%p is no event",
  async (body) => expect(await translated("chargebee", body)).toHaveProperty("invalid"),
);

test("takes no harm from fields of other kinds", async () => {
  const discounts = [{ type: "percentage", percentage: 10, duration_type: "limited_period", apply_till: 1 }];
  const ending = subscription({ status: "non_renewing", cancelled_at: endSeconds, discounts });
  await expectNoHarm("chargebee", [
    chargebeeEvent("customer_created", { customer: customer({ meta_data: { user_id: "42" } }) }),
    chargebeeEvent("subscription_created", content(inTrial({ cf_user_id: "42", cf_account_id: "a" }))),
    chargebeeEvent("subscription_changed", content(ofFirstCatalog())),
    chargebeeEvent("subscription_cancellation_scheduled", content(ending)),
    chargebeeEvent("payment_failed", failed()),
    chargebeeEvent("payment_refunded", refunded()),
  ]);
});

test("many discounts cost little", async () => {
  const discounts = Array.from({ length: 20_000 }, () => ({ amount: 1, item_price_id: "p19999" }));
  const subscription_items = Array.from({ length: 20_000 }, (_, index) => line(`p${index}`, "addon", 1, 1));
  const body = chargebeeEvent(
    "subscription_changed",
    content(subscription({ discounts, subscription_items })),
  );
  const before = process.cpuUsage();
  expect((await eventsOf("chargebee", body))[0]?.[1].amount).toBe(0);
  // Each discount looked for its item among all takes seconds.
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});
