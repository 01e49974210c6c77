/** RevenueCat's events, one test for each type, their prices and their users. */
import { describe, expect, test } from "bun:test";
import { presetTexts } from "../../../../dashboard/pages/sources/presets.ts";
import { eventsOf, expectNoHarm, ignored, itemsOf, traitsOf, translated } from "../support.ts";
import { anonymousId, endMs, refund, revenuecatEvent, startMs, trial } from "./payloads.ts";

export const runsOn = { postgres: true };

const events = (type: string, more: object = {}, traits = {}) =>
  eventsOf("revenuecat", revenuecatEvent(type, more), { users: { ada: traits } });

const endsAt = "2026-06-01T10:00:00.000Z";
const state = { subscriptionId: "1000", plan: "pro.monthly", currentPeriodEnd: endsAt };
const price = { amount: 799, currency: "EUR", interval: "month" };
const ofStore = { plan: "pro.monthly", currency: "EUR", store: "APP_STORE", invoiceId: "2000" };
const paid = ["payment_succeeded", { ...ofStore, amount: 999, subscriptionId: "1000" }] as const;
const day = 86_400_000;

describe("a purchase", () => {
  test("INITIAL_PURCHASE starts a subscription and is paid", async () => {
    expect(await events("INITIAL_PURCHASE")).toEqual([
      ["subscription_started", { ...state, ...price }],
      paid,
    ]);
    expect(await traitsOf("revenuecat", revenuecatEvent("INITIAL_PURCHASE"))).toEqual({
      ...{ plan: "pro.monthly", planAmount: 799, planCurrency: "EUR", planInterval: "month" },
      subscriptionStatus: "active",
    });
  });

  test("INITIAL_PURCHASE of a trial has no amount, which its RENEWAL tells", async () => {
    const trialEndsAt = "2026-05-08T10:00:00.000Z";
    expect(await eventsOf("revenuecat", trial())).toEqual([
      ["subscription_started", { ...state, currency: "EUR", currentPeriodEnd: trialEndsAt, trialEndsAt }],
    ]);
    expect(await events("RENEWAL", { is_trial_conversion: true })).toEqual([
      ["subscription_started", { endsAt: null, ...state, ...price }],
      ["trial_converted", { ...state, ...price }],
      paid,
    ]);
  });

  test("the page of sources says what a RENEWAL becomes", async () => {
    const renewals = [{}, { is_trial_conversion: true }, { store: "PLAY_STORE" }];
    const found = (await Promise.all(renewals.map((more) => events("RENEWAL", more)))).flat();
    const told = presetTexts.revenuecat.meanings
      .filter(([theirs]) => theirs.includes("RENEWAL") || theirs === "purchases with a price")
      .flatMap(([, ours]) => ours.split(", "));
    expect([...new Set(told)].sort()).toEqual([...new Set(found.map(([event]) => event))].sort());
  });

  test("RENEWAL is a start, whatever the traits say, and resumes a subscription of Google's store", async () => {
    const renewed = { ...state, ...price };
    const started = ["subscription_started", { endsAt: null, ...renewed }] as const;
    const traits = [{}, { subscriptionStatus: "canceled" }, { subscriptionEndsAt: endsAt }];
    for (const known of traits) expect(await events("RENEWAL", {}, known)).toEqual([started, paid]);
    const ofGoogle = await events("RENEWAL", { store: "PLAY_STORE" });
    expect(ofGoogle.map(([event]) => event)).toEqual([
      ...["subscription_started", "subscription_resumed", "payment_succeeded"],
    ]);
    const known = { users: { ada: { subscriptionEndsAt: endsAt } } };
    expect(await traitsOf("revenuecat", revenuecatEvent("RENEWAL"), known)).toMatchObject({
      ...{ subscriptionStatus: "active", subscriptionEndsAt: null },
    });
  });

  test("NON_RENEWING_PURCHASE is a payment of no subscription", async () => {
    const { subscriptionId: _, ...once } = paid[1];
    const more = { expiration_at_ms: null };
    expect(await events("NON_RENEWING_PURCHASE", more)).toEqual([["payment_succeeded", once]]);
    const free = revenuecatEvent("NON_RENEWING_PURCHASE", { price_in_purchased_currency: 0 });
    expect(await ignored("revenuecat", free)).toContain("price 0");
  });

  test("SUBSCRIPTION_EXTENDED moves the end of the period", async () => {
    expect(await events("SUBSCRIPTION_EXTENDED", { price_in_purchased_currency: 0 })).toEqual([
      ["subscription_changed", state],
    ]);
  });

  test("of a family is paid by another user", async () => {
    expect(await events("INITIAL_PURCHASE", { is_family_share: true })).toEqual([
      ["subscription_started", { ...state, ...price, amount: 0 }],
    ]);
  });
});

describe("an end", () => {
  test("CANCELLATION schedules it, and UNCANCELLATION withdraws that", async () => {
    expect(await events("CANCELLATION", { cancel_reason: "UNSUBSCRIBE" })).toEqual([
      ["cancellation_scheduled", { ...state, endsAt, reason: "unsubscribe" }],
    ]);
    const body = revenuecatEvent("CANCELLATION", { cancel_reason: "UNSUBSCRIBE" });
    expect(await traitsOf("revenuecat", body)).toEqual({ plan: "pro.monthly", subscriptionEndsAt: endsAt });
    expect(await events("UNCANCELLATION")).toEqual([["cancellation_withdrawn", state]]);
  });

  test("CANCELLATION with a negative price is a refund", async () => {
    expect(await eventsOf("revenuecat", refund())).toEqual([
      ["payment_refunded", { ...ofStore, amount: 999, subscriptionId: "1000", reason: "customer_support" }],
    ]);
  });

  test("CANCELLATION for a payment, or of what does not renew, says nothing more", async () => {
    const failed = revenuecatEvent("CANCELLATION", { cancel_reason: "BILLING_ERROR" });
    expect(await ignored("revenuecat", failed)).toContain("BILLING_ISSUE");
    const once = revenuecatEvent("CANCELLATION", { expiration_at_ms: null });
    expect(await ignored("revenuecat", once)).toContain("does not renew");
  });

  test("EXPIRATION ends it, or pauses it", async () => {
    for (const [expiration_reason, reason] of [
      ["UNSUBSCRIBE", "unsubscribe"],
      ["BILLING_ERROR", "payment_failed"],
    ]) {
      expect(await events("EXPIRATION", { expiration_reason })).toEqual([
        ["subscription_canceled", { ...state, reason }],
      ]);
    }
    const body = revenuecatEvent("EXPIRATION");
    const known = { users: { ada: { subscriptionEndsAt: endsAt } } };
    expect(await traitsOf("revenuecat", body, known)).toEqual({
      ...{ plan: null, planAmount: null, planCurrency: null, planInterval: null },
      ...{ subscriptionStatus: "canceled", subscriptionEndsAt: null },
    });
    expect(await events("EXPIRATION", { expiration_reason: "SUBSCRIPTION_PAUSED" })).toEqual([
      ["subscription_paused", state],
    ]);
  });

  test("BILLING_ISSUE is a failed payment", async () => {
    expect(await events("BILLING_ISSUE", { grace_period_expiration_at_ms: endMs })).toEqual([
      ["payment_failed", { ...paid[1], graceEndsAt: endsAt }],
    ]);
    expect(await traitsOf("revenuecat", revenuecatEvent("BILLING_ISSUE"))).toEqual({
      ...{ plan: "pro.monthly", subscriptionStatus: "past_due" },
    });
  });
});

describe("the amount", () => {
  const startedWith = async (more: object) => (await events("INITIAL_PURCHASE", more))[0]?.[1];

  test.each([
    ["USD", 4.99, 0, 499],
    ["usd", 0.29, 0, 29],
    ["JPY", 1_200, 0.1, 1_080],
    ["KWD", 1.234, 0, 1_234],
    ["EUR", 9.99, null, 999],
    ["EUR", 9.99, 1, 999],
    ["EUR", null, 0.2, undefined],
    [null, 9.99, 0.2, undefined],
  ])("in %s of %p with %p tax is in minor units, without tax", async (currency, paidPrice, tax, amount) => {
    const more = { currency, price_in_purchased_currency: paidPrice, tax_percentage: tax };
    expect((await startedWith(more))?.amount).toBe(amount);
  });

  test.each([
    [7, "week"],
    [14, "2 weeks"],
    [3, "3 days"],
    [0.01, "1 days"],
    [28, "month"],
    [31.04, "month"],
    [61, "2 months"],
    [92, "3 months"],
    [182, "6 months"],
    [365, "year"],
    [366, "year"],
  ])("is for %p days, which is the interval %s", async (days, interval) => {
    const expected = interval === "1 days" ? "day" : interval;
    expect((await startedWith({ expiration_at_ms: startMs + days * day }))?.interval).toBe(expected);
  });
});

describe("the user", () => {
  const first = async (more: object, known = {}) =>
    (await itemsOf("revenuecat", revenuecatEvent("INITIAL_PURCHASE", more), known))[0];

  test("is the app's, and the ids before are its visitor's", async () => {
    expect(await first({})).toMatchObject({
      ...{ type: "identify", userId: "ada", anonymousId: `revenuecat:${anonymousId}` },
      ...{ email: "ada@example.com", atMs: startMs + 5_000 },
    });
    const known = { users: { ada: {} }, emails: { "a@example.com": ["ada"] } };
    expect(await first({}, known)).toMatchObject({ userId: "ada", email: undefined });
  });

  test("is in the aliases, or in attributes, which say more", async () => {
    const aliased = { app_user_id: anonymousId, aliases: [anonymousId, "null", "ada"] };
    expect(await first(aliased)).toMatchObject({ userId: "ada" });
    const subscriber_attributes = { user_id: { value: "42" }, account_id: { value: "acme" } };
    expect(await first({ subscriber_attributes })).toMatchObject({ userId: "42", account: { id: "acme" } });
  });

  test("is unknown while the app has named none, and has the e-mail address", async () => {
    const unnamed = { app_user_id: anonymousId, aliases: [anonymousId] };
    const visitor = { previousId: `revenuecat:${anonymousId}`, userId: "mailto:ada@example.com" };
    expect(await first(unnamed)).toMatchObject({ type: "alias", ...visitor });
    const body = revenuecatEvent("RENEWAL", unnamed);
    const known = { emails: { "ada@example.com": ["ada"] } };
    expect((await itemsOf("revenuecat", body, known)).at(-1)).toMatchObject({ type: "track", userId: "ada" });
  });
});

test.each([
  ...["PRODUCT_CHANGE", "SUBSCRIPTION_PAUSED", "TRANSFER", "SUBSCRIBER_ALIAS", "REFUND_REVERSED"],
  ...["TEMPORARY_ENTITLEMENT_GRANT", "INVOICE_ISSUANCE", "EXPERIMENT_ENROLLMENT", "constructor"],
])("%s is not used", async (type) =>
  expect(await ignored("revenuecat", revenuecatEvent(type))).toContain("is not used"),
);

test("a test of RevenueCat and a sandbox say nothing", async () => {
  expect(await ignored("revenuecat", revenuecatEvent("TEST"))).toContain("A test");
  const sandbox = revenuecatEvent("RENEWAL", { environment: "SANDBOX" });
  expect(await ignored("revenuecat", sandbox)).toContain("sandbox");
});

test.each([null, 1, "x", [], {}, { event: [] }, { event: { id: "e" } }, { id: "e", type: "RENEWAL" }])(
  "%p is no event",
  async (body) => expect(await translated("revenuecat", body)).toHaveProperty("invalid"),
);

test("takes no harm from fields of other kinds", async () => {
  await expectNoHarm("revenuecat", [
    revenuecatEvent("INITIAL_PURCHASE"),
    trial(),
    revenuecatEvent("RENEWAL", { is_trial_conversion: true }),
    refund(),
    revenuecatEvent("CANCELLATION", { cancel_reason: "UNSUBSCRIBE" }),
    revenuecatEvent("EXPIRATION", { expiration_reason: "BILLING_ERROR" }),
    revenuecatEvent("BILLING_ISSUE", { grace_period_expiration_at_ms: endMs }),
    revenuecatEvent("NON_RENEWING_PURCHASE"),
  ]);
});
