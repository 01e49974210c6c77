/** Paddle's notifications, one test for each type, and their users. */
import { describe, expect, test } from "bun:test";
import { eventsOf, expectNoHarm, ignored, itemsOf, traitsOf, translated } from "../support.ts";
import {
  adjustment,
  customer,
  ending,
  item,
  notification,
  subscription,
  transaction,
  trialing,
  unpaid,
} from "./payloads.ts";

export const runsOn = { postgres: true };

const events = (type: string, data: object, traits = {}) =>
  eventsOf("paddle", notification(type, data), {
    users: { ada: traits },
    links: { "paddle:ctm_1": "ada" },
  });

const plan = { plan: "Team", amount: 43_200, currency: "USD", interval: "month", quantity: 10 };
const state = { subscriptionId: "sub_1", ...plan, currentPeriodEnd: "2026-06-01T10:00:00.500Z" };
const trial = { ...state, amount: 32_400, currentPeriodEnd: "2026-05-11T10:00:00.000Z" };
const trialEndsAt = "2026-05-11T10:00:00.000Z";

describe("a subscription", () => {
  test.each(["subscription.created", "subscription.imported"])("%s starts it", async (type) => {
    expect(await events(type, subscription())).toEqual([["subscription_started", state]]);
    expect(await events(type, trialing())).toEqual([["subscription_started", { ...trial, trialEndsAt }]]);
  });

  test("that is imported paused or canceled is so", async () => {
    const paused = await events("subscription.imported", subscription({ status: "paused" }));
    expect(paused.map(([event]) => event)).toEqual(["subscription_started", "subscription_paused"]);
    const canceled = await events("subscription.imported", subscription({ status: "canceled" }));
    expect(canceled.map(([event]) => event)).toEqual(["subscription_canceled"]);
    const toEnd = await events("subscription.imported", ending());
    expect(toEnd.map(([event]) => event)).toEqual(["subscription_started", "cancellation_scheduled"]);
    expect(toEnd[1]?.[1].endsAt).toBe("2026-06-01T10:00:00.500Z");
  });

  test("subscription.trialing and subscription.activated begin and convert a trial", async () => {
    expect(await events("subscription.trialing", trialing())).toEqual([
      ["trial_started", { ...trial, trialEndsAt }],
    ]);
    const converted = trialing({ status: "active" });
    expect(await events("subscription.activated", converted)).toEqual([["trial_converted", trial]]);
    const without = notification("subscription.activated", subscription());
    expect(await ignored("paddle", without)).toContain("had no trial");
  });

  test("subscription.updated tells the state, and a scheduled end", async () => {
    expect(await events("subscription.updated", subscription())).toEqual([
      ["subscription_changed", { endsAt: null, ...state }],
    ]);
    const endsAt = "2026-06-01T10:00:00.500Z";
    expect(await events("subscription.updated", ending())).toEqual([
      ["cancellation_scheduled", { ...state, endsAt }],
    ]);
    expect(await traitsOf("paddle", notification("subscription.updated", ending()))).toMatchObject({
      subscriptionEndsAt: endsAt,
    });
    expect(await events("subscription.updated", trialing())).toEqual([
      ["subscription_changed", { endsAt: null, ...trial, trialEndsAt }],
    ]);
  });

  test("subscription.updated withdraws an end that a trait of the user tells", async () => {
    const before = { subscriptionEndsAt: "2026-06-01T10:00:00.500Z" };
    const changed = await events("subscription.updated", subscription(), before);
    expect(changed).toEqual([
      ["subscription_changed", { endsAt: null, ...state }],
      ["cancellation_withdrawn", state],
    ]);
    const body = notification("subscription.updated", subscription());
    const known = { users: { ada: before }, links: { "paddle:ctm_1": "ada" } };
    expect(await traitsOf("paddle", body, known)).toMatchObject({ subscriptionEndsAt: null });
  });

  test("subscription.updated repeats neither a pause nor an end", async () => {
    for (const status of ["paused", "canceled"]) {
      const body = notification("subscription.updated", subscription({ status }));
      expect(await ignored("paddle", body)).toContain(`subscription.${status} says`);
    }
  });

  test("a scheduled pause is no end", async () => {
    const pause = { action: "pause", effective_at: "2026-06-01T10:00:00Z", resume_at: null };
    const changed = await events("subscription.updated", subscription({ scheduled_change: pause }));
    expect(changed.map(([event]) => event)).toEqual(["subscription_changed"]);
  });

  test("subscription.past_due is a trait: the event is the payment's", async () => {
    const data = subscription({ status: "past_due" });
    expect(await events("subscription.past_due", data)).toEqual([]);
    expect(await traitsOf("paddle", notification("subscription.past_due", data))).toEqual({
      ...{ plan: "Team", planAmount: 43_200, planCurrency: "USD", planInterval: "month" },
      subscriptionStatus: "past_due",
    });
  });

  test("subscription.paused, .resumed and .canceled", async () => {
    const paused = subscription({ status: "paused", current_billing_period: null });
    const { currentPeriodEnd: _, ...withoutPeriod } = state;
    expect(await events("subscription.paused", paused)).toEqual([["subscription_paused", withoutPeriod]]);
    expect(await events("subscription.resumed", subscription())).toEqual([["subscription_resumed", state]]);
    const canceled = subscription({ status: "canceled" });
    expect(await events("subscription.canceled", canceled)).toEqual([["subscription_canceled", state]]);
    expect(await traitsOf("paddle", notification("subscription.canceled", canceled))).toEqual({
      ...{ plan: null, planAmount: null, planCurrency: null, planInterval: null },
      subscriptionStatus: "canceled",
    });
  });
});

describe("the amount", () => {
  const amountOf = async (data: object) => (await events("subscription.created", data))[0]?.[1].amount;

  test("is that of all recurring items, in the subscription's currency", async () => {
    const once = item("19900", 1, { recurring: false }, { billing_cycle: null });
    expect(await amountOf(subscription({ items: [item("500", 3), once] }))).toBe(1_500);
    const australian = (...amounts: string[]) =>
      item("500", 2, {}, { unit_price_overrides: amounts.map((amount) => override(amount, "AUD")) });
    const inAud = (...amounts: string[]) =>
      subscription({ currency_code: "AUD", items: [australian(...amounts)] });
    expect(await amountOf(inAud("800"))).toBe(1_600);
    expect(await amountOf(inAud("800", "800"))).toBe(1_600);
    expect(await amountOf(inAud("800", "900"))).toBeUndefined();
    expect(await amountOf(inAud())).toBeUndefined();
    expect(await amountOf(subscription({ items: [] }))).toBeUndefined();
  });

  test("is for one interval, which may have several units", async () => {
    const quarterly = subscription({ billing_cycle: { interval: "month", frequency: 3 } });
    expect((await events("subscription.created", quarterly))[0]?.[1].interval).toBe("3 months");
  });
});

const override = (amount: string, currency_code: string) => ({
  country_codes: ["AU"],
  unit_price: { amount, currency_code },
});

describe("a payment", () => {
  const paid = {
    ...{ amount: 46_980, currency: "USD", plan: "Team", origin: "subscription_recurring" },
    ...{ subscriptionId: "sub_1", invoiceId: "txn_1" },
  };

  test("transaction.completed succeeds once, and a change of the card is none", async () => {
    const body = notification("transaction.completed", transaction());
    expect(await eventsOf("paddle", body)).toEqual([
      ["payment_succeeded", { ...paid, currentPeriodEnd: "2026-06-01T10:00:00.000Z" }],
    ]);
    expect((await itemsOf("paddle", body)).at(-1)?.messageId).toBe("txn_1:payment_succeeded");
    const free = notification("transaction.completed", transaction({}, "0"));
    expect(await ignored("paddle", free)).toContain("amount 0");
  });

  test("transaction.payment_failed says why, and how often", async () => {
    expect(await events("transaction.payment_failed", unpaid())).toEqual([
      ["payment_failed", { ...paid, invoiceId: "txn_2", reason: "expired_card", attempt: 2 }],
    ]);
    const change = { ...unpaid(), ...transaction({ origin: "subscription_payment_method_change" }, "0") };
    expect(await ignored("paddle", notification("transaction.payment_failed", change))).toContain("amount 0");
    const overdue = await events("transaction.past_due", { ...unpaid(), invoice_id: "inv_2" });
    expect(overdue).toEqual([["payment_overdue", { ...paid, invoiceId: "inv_2" }]]);
  });

  test("an adjustment is a refund once it is approved, or a chargeback", async () => {
    const refunded = {
      ...{ amount: 1_000, currency: "USD", reason: "requested" },
      ...{ subscriptionId: "sub_1", invoiceId: "txn_1" },
    };
    for (const type of ["adjustment.created", "adjustment.updated"]) {
      const body = notification(type, adjustment());
      expect(await eventsOf("paddle", body)).toEqual([["payment_refunded", refunded]]);
      expect((await itemsOf("paddle", body)).at(-1)?.messageId).toBe("adj_1:payment_refunded");
    }
    const disputed = await events("adjustment.created", adjustment({ action: "chargeback" }));
    expect(disputed).toEqual([["payment_disputed", refunded]]);
    for (const other of [{ status: "pending_approval" }, { status: "rejected" }, { action: "credit" }]) {
      const body = notification("adjustment.updated", adjustment(other));
      expect(await ignored("paddle", body)).toContain("An adjustment");
    }
  });
});

describe("the user", () => {
  const first = async (body: object, known = {}) => (await itemsOf("paddle", body, known))[0];

  test.each(["userId", "user_id", "rekindle_user_id"])("is named by custom data as %s", async (key) => {
    const created = subscription({ custom_data: { [key]: 42, account_id: "acme" } });
    expect(await first(notification("subscription.created", created))).toMatchObject({
      ...{ type: "identify", userId: "42", anonymousId: "paddle:ctm_1", account: { id: "acme" } },
      traits: { plan: "Team", planAmount: 43_200, subscriptionStatus: "active" },
      atMs: Date.parse("2026-05-01T10:00:00.123Z"),
    });
  });

  test.each(["undefined", "null", "", {}])("is not named by %p", async (value) => {
    const created = subscription({ custom_data: { user_id: value } });
    const item = await first(notification("subscription.created", created));
    expect(item).toMatchObject({ userId: undefined, anonymousId: "paddle:ctm_1" });
  });

  test.each(["customer.created", "customer.updated", "customer.imported"])(
    "%s links the customer to an e-mail address",
    async (type) => {
      expect(await itemsOf("paddle", notification(type, customer()))).toMatchObject([
        { type: "alias", previousId: "paddle:ctm_1", userId: "mailto:ada@example.com" },
      ]);
      const known = { emails: { "ada@example.com": ["ada"] } };
      expect((await itemsOf("paddle", notification(type, customer()), known)).at(-1)).toMatchObject({
        type: "identify",
        userId: "ada",
      });
    },
  );

  test("is whom the customer's address names", async () => {
    const known = {
      emails: { "ada@example.com": ["ada"] },
      links: { "paddle:ctm_1": "mailto:ada@example.com" },
    };
    const body = notification("subscription.created", subscription());
    expect((await itemsOf("paddle", body, known)).at(-1)).toMatchObject({ type: "track", userId: "ada" });
  });

  test("nobody is named without a customer", async () => {
    const body = notification("subscription.created", subscription({ customer_id: null }));
    expect(await ignored("paddle", body)).toContain("names neither");
  });
});

test.each(["address.created", "transaction.paid", "constructor", "__proto__"])(
  "%s is not used",
  async (type) =>
    expect(await ignored("paddle", notification(type, subscription()))).toContain("is not used"),
);

test.each([null, 1, "x", [], {}, { event_id: "e", event_type: "t" }, { alert_name: "subscription_created" }])(
  "%p is no notification",
  async (body) => expect(await translated("paddle", body)).toHaveProperty("invalid"),
);

test("takes no harm from fields of other kinds", async () => {
  await expectNoHarm("paddle", [
    notification("customer.created", customer({ custom_data: { user_id: "42" } })),
    notification("subscription.created", trialing({ custom_data: { user_id: "42", account_id: "a" } })),
    notification("subscription.updated", ending()),
    notification("transaction.completed", transaction()),
    notification("transaction.payment_failed", unpaid()),
    notification("adjustment.updated", adjustment()),
  ]);
});
