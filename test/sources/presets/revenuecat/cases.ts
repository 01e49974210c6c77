/** What each event of RevenueCat becomes, and whose it is. */
import { nobody, type PresetCase, type PresetCases, some, withAddress } from "../cases.ts";
import { anonymousId, endMs, refund, revenuecatEvent, startMs, trial } from "./payloads.ts";

const day = 86_400_000;
const endsAt = "2026-06-01T10:00:00.000Z";
const trialEndsAt = "2026-05-08T10:00:00.000Z";
const state = { subscriptionId: "1000", plan: "pro.monthly", currentPeriodEnd: endsAt };
const priced = { ...state, amount: 799, currency: "EUR", interval: "month" };
const inTrial = { ...state, currency: "EUR", currentPeriodEnd: trialEndsAt, trialEndsAt };
const payment = { plan: "pro.monthly", currency: "EUR", store: "APP_STORE", invoiceId: "2000", amount: 999 };
const ofPeriod = { ...payment, subscriptionId: "1000" };
const active = {
  subscriptionIds: ["1000"],
  plan: "pro.monthly",
  planAmount: 799,
  planCurrency: "EUR",
  planInterval: "month",
  subscriptionStatus: "active",
};
const ended = {
  plan: null,
  planAmount: null,
  planCurrency: null,
  planInterval: null,
  subscriptionStatus: "canceled",
  subscriptionEndsAt: null,
};
const toEnd = { plan: "pro.monthly", subscriptionEndsAt: endsAt };
const pastDue = { plan: "pro.monthly", subscriptionStatus: "past_due" };
const goesOn = { subscriptionStatus: "active", subscriptionEndsAt: null };

const wasCanceled = { known: { users: { ada: { subscriptionStatus: "canceled" } } } };
const wasToEnd = { known: { users: { ada: { subscriptionEndsAt: endsAt } } } };
const paid = ["payment_succeeded", ofPeriod] as const;
const renewed = ["subscription_started", { endsAt: null, ...priced }] as const;
const resumed = ["subscription_started", "subscription_resumed", "payment_succeeded"].map((name) =>
  some(name),
);
const unsubscribe = { cancel_reason: "UNSUBSCRIBE" };
const grace = { grace_period_expiration_at_ms: endMs };

const subscriptions: readonly PresetCase[] = [
  ["INITIAL_PURCHASE", {}, ["subscription_started", priced], paid, { allTraits: active }],
  ["INITIAL_PURCHASE of a trial", trial().event, ["subscription_started", inTrial]],
  // Another user pays.
  [
    "INITIAL_PURCHASE of a family",
    { is_family_share: true },
    ["subscription_started", { ...priced, amount: 0 }],
  ],
  ["RENEWAL of a trial", { is_trial_conversion: true }, renewed, ["trial_converted", priced], paid],
  ["RENEWAL", {}, renewed, paid],
  ["RENEWAL of a canceled one", {}, renewed, paid, wasCanceled],
  ["RENEWAL of one that was to end", {}, renewed, paid, { traits: goesOn }, wasToEnd],
  ["RENEWAL of Google's store, which may resume", { store: "PLAY_STORE" }, ...resumed],
  ["RENEWAL in a sandbox", { environment: "SANDBOX" }, "sandbox"],
  ["NON_RENEWING_PURCHASE", { expiration_at_ms: null }, ["payment_succeeded", payment]],
  ["NON_RENEWING_PURCHASE of nothing", { price_in_purchased_currency: 0 }, "price 0"],
  ["SUBSCRIPTION_EXTENDED", { price_in_purchased_currency: 0 }, ["subscription_changed", state]],
  [
    "CANCELLATION",
    unsubscribe,
    { allTraits: toEnd },
    ["cancellation_scheduled", { ...state, endsAt, reason: "unsubscribe" }],
  ],
  ["UNCANCELLATION", {}, ["cancellation_withdrawn", state]],
  [
    "CANCELLATION with a negative price",
    refund().event,
    ["payment_refunded", { ...ofPeriod, reason: "customer_support" }],
  ],
  ["CANCELLATION for a payment", { cancel_reason: "BILLING_ERROR" }, "BILLING_ISSUE"],
  ["CANCELLATION of what does not renew", { expiration_at_ms: null }, "does not renew"],
  ...[["UNSUBSCRIBE", "unsubscribe"] as const, ["BILLING_ERROR", "payment_failed"] as const].map(
    ([expiration_reason, reason]): PresetCase => [
      "EXPIRATION",
      { expiration_reason },
      ["subscription_canceled", { ...state, reason }],
    ],
  ),
  ["EXPIRATION of one that was to end", {}, { allTraits: ended }, wasToEnd],
  ["EXPIRATION", { expiration_reason: "SUBSCRIPTION_PAUSED" }, ["subscription_paused", state]],
  ["BILLING_ISSUE", grace, ["payment_failed", { ...ofPeriod, graceEndsAt: endsAt }]],
  ["BILLING_ISSUE without a grace", {}, { allTraits: pastDue }],
  ["TEST", {}, "A test"],
];

/** In minor units, without tax. */
const amounts = (
  [
    ["USD", 4.99, 0, 499],
    ["usd", 0.29, 0, 29],
    ["JPY", 1_200, 0.1, 1_080],
    ["KWD", 1.234, 0, 1_234],
    ["EUR", 9.99, null, 999],
    ["EUR", 9.99, 1, 999],
    ["EUR", null, 0.2, undefined],
    [null, 9.99, 0.2, undefined],
  ] as const
).map(([currency, price_in_purchased_currency, tax_percentage, amount]): PresetCase => {
  const more = { currency, price_in_purchased_currency, tax_percentage };
  return [`INITIAL_PURCHASE of ${Object.values(more)}`, more, { amount }];
});

const intervals = (
  [
    [7, "week"],
    [14, "2 weeks"],
    [3, "3 days"],
    [0.01, "day"],
    [28, "month"],
    [31.04, "month"],
    [61, "2 months"],
    [92, "3 months"],
    [182, "6 months"],
    [365, "year"],
    [366, "year"],
  ] as const
).map(([days, interval]): PresetCase => {
  const more = { expiration_at_ms: startMs + days * day };
  return [`INITIAL_PURCHASE for ${days} days`, more, some("subscription_started", { interval }), paid];
});

const visitor = `revenuecat:${anonymousId}`;
const address = "ada@example.com";
const atMs = startMs + 5_000;
const app = { type: "identify", userId: "ada", anonymousId: visitor, email: address, atMs };
const otherAddress = { known: { users: { ada: {} }, emails: { "a@example.com": ["ada"] } } };
const unnamed = { app_user_id: anonymousId, aliases: [anonymousId] };
const aliased = { app_user_id: anonymousId, aliases: [anonymousId, "null", "ada"] };
const attributes = { subscriber_attributes: { user_id: { value: "42" }, account_id: { value: "acme" } } };
const alias = { type: "alias", previousId: visitor, userId: `mailto:${address}` };
const ofAda = { last: { type: "track", userId: "ada" } };

const people: readonly PresetCase[] = [
  ["INITIAL_PURCHASE of the app's user", {}, { first: app }, nobody],
  ["INITIAL_PURCHASE with an address", {}, { first: { userId: "ada", email: undefined } }, otherAddress],
  ["INITIAL_PURCHASE of aliases", aliased, { first: { userId: "ada" } }, nobody],
  // They say more than aliases.
  [
    "INITIAL_PURCHASE of attributes",
    attributes,
    { first: { userId: "42", account: { id: "acme" } } },
    nobody,
  ],
  ["INITIAL_PURCHASE before the app has named a user", unnamed, { first: alias }, nobody],
  ["RENEWAL before the app has named a user", unnamed, ofAda, withAddress(address, "ada")],
];

const gave = {
  plan: "pro.monthly",
  planAmount: 799,
  subscriptionStatus: "active",
  subscriptionIds: ["1000"],
};
const parties = (from: readonly unknown[], to: readonly unknown[]) => ({
  app_user_id: undefined,
  original_app_user_id: undefined,
  aliases: undefined,
  transferred_from: from,
  transferred_to: to,
});
const passed = ["subscription_changed", { subscriptionId: "1000", isTransfer: true }] as const;
const givesTraits = {
  type: "identify",
  userId: "giver",
  traits: { plan: null, planAmount: null, subscriptionStatus: "transferred", subscriptionIds: null },
};
const takesTraits = {
  type: "identify",
  userId: "taker",
  traits: { ...gave, subscriptionIds: ["7", "1000"] },
};
const takes = { type: "track", userId: "taker" };
const knownGiver = { known: { users: { giver: gave, taker: { subscriptionIds: ["7"] } } } };
const becomesTaker = { type: "alias", previousId: visitor, userId: "taker" };

const transfers: readonly PresetCase[] = [
  [
    "TRANSFER",
    parties(["giver"], [anonymousId, "taker"]),
    passed,
    knownGiver,
    { items: [givesTraits, takesTraits, takes] },
  ],
  [
    "TRANSFER of a linked visitor",
    parties([anonymousId], ["taker"]),
    passed,
    {
      known: { ...knownGiver.known, links: { [visitor]: "giver" } },
      items: [givesTraits, takesTraits, takes],
    },
  ],
  [
    "TRANSFER of a visitor",
    parties([anonymousId], ["taker"]),
    { events: 0, items: [becomesTaker] },
    knownGiver,
  ],
  ["TRANSFER of an unknown giver", parties(["else"], ["taker"]), "No subscription is known", knownGiver],
  ["TRANSFER to the giver's own id", parties(["giver"], ["giver"]), "No subscription is known", knownGiver],
  ["TRANSFER to nobody", parties(["giver"], [anonymousId]), "no user is known", knownGiver],
  ["TRANSFER without parties", parties([], []), "no user is known", knownGiver],
  [
    "TRANSFER in a sandbox",
    { ...parties(["giver"], ["taker"]), environment: "SANDBOX" },
    "sandbox",
    knownGiver,
  ],
];

export const revenuecatCases: PresetCases = {
  payload: revenuecatEvent,
  known: { users: { ada: {} } },
  cases: [...subscriptions, ...amounts, ...intervals, ...people, ...transfers],
  unused: [
    "PRODUCT_CHANGE",
    "SUBSCRIPTION_PAUSED",
    "TRANSFER",
    "SUBSCRIBER_ALIAS",
    "REFUND_REVERSED",
    "TEMPORARY_ENTITLEMENT_GRANT",
    "INVOICE_ISSUANCE",
    "EXPERIMENT_ENROLLMENT",
    "constructor",
  ],
  data: {},
  noPayloads: [{ event: [] }, { event: { id: "e" } }, { id: "e", type: "RENEWAL" }],
  toSpoil: [
    revenuecatEvent("INITIAL_PURCHASE"),
    trial(),
    revenuecatEvent("RENEWAL", { is_trial_conversion: true }),
    refund(),
    revenuecatEvent("CANCELLATION", unsubscribe),
    revenuecatEvent("EXPIRATION", { expiration_reason: "BILLING_ERROR" }),
    revenuecatEvent("BILLING_ISSUE", grace),
    revenuecatEvent("NON_RENEWING_PURCHASE"),
  ],
};
