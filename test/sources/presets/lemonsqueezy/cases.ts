/** What each webhook of LemonSqueezy becomes, and whose it is. */
import { nobody, type PresetCase, type PresetCases, some, withAddress } from "../cases.ts";
import { ending, invoice, lemonsqueezyEvent, subscription, trialing } from "./payloads.ts";

const endsAt = "2026-06-01T10:00:00.000Z";
const trialEndsAt = "2026-05-11T10:00:00.000Z";
const resourceVersion = Date.UTC(2026, 4, 1, 10) * 1_000;
const plan = { subscriptionId: "11", plan: "Team Monthly", interval: "month", resourceVersion };
const seats = { ...plan, quantity: 3 };
const state = { ...seats, currentPeriodEnd: endsAt, status: "active" };
const trial = { ...plan, currentPeriodEnd: trialEndsAt, trialEndsAt, status: "trialing" };
const { interval: _, ...withoutInterval } = trial;
const links = { "lemonsqueezy:71": "ada" };
const wasToEnd = { known: { users: { ada: { subscriptionEndsAt: endsAt } }, links } };
const changed = ["subscription_changed", { endsAt: null, ...state }] as const;
const payment = { currency: "EUR", subscriptionId: "11", invoiceId: "21" };
const price = ["subscription_changed", { subscriptionId: "11", amount: 14_700, currency: "EUR" }] as const;
const success = ["payment_succeeded", { ...payment, amount: 17_493 }] as const;
const ended = {
  plan: null,
  planAmount: null,
  planCurrency: null,
  planInterval: null,
  subscriptionStatus: "expired",
};

const subscriptions: readonly PresetCase[] = [
  ["subscription_created", subscription(), ["subscription_started", state]],
  ["subscription_created of a trial", trialing(), ["subscription_started", trial]],
  [
    "subscription_created, whose variant says no interval",
    subscription({ variant_name: "Default", renews_at: "2027-05-01T10:00:00Z" }),
    some("subscription_started", { plan: "Team", interval: "year" }),
  ],
  [
    "subscription_created of a trial, whose variant says no interval",
    trialing({ variant_name: "7 day trial" }),
    ["subscription_started", { ...withoutInterval, plan: "Team 7 day trial" }],
  ],
  [
    "subscription_created that is billed by the year",
    subscription({ variant_name: "Monthly, billed annually", renews_at: "2027-05-01T10:00:00Z" }),
    some("subscription_started", { interval: "year" }),
  ],
  ["subscription_updated", subscription(), changed],
  ["subscription_updated in a trial", trialing(), ["subscription_changed", { endsAt: null, ...trial }]],
  [
    "subscription_updated that is past due",
    subscription({ status: "past_due" }),
    ["subscription_changed", { endsAt: null, ...seats, status: "past_due" }],
    { traits: { subscriptionStatus: "past_due" } },
  ],
  [
    "subscription_updated, unpaid",
    subscription({ status: "unpaid" }),
    ["subscription_canceled", { ...seats, reason: "payment_failed" }],
  ],
  [
    "subscription_updated when one that was unpaid is paid",
    subscription(),
    { known: { users: { ada: { subscriptionStatus: "unpaid" } }, links } },
    ["subscription_started", { endsAt: null, ...state }],
  ],
  [
    "subscription_updated, paused",
    subscription({ status: "paused" }),
    some("subscription_changed", { status: "paused" }),
  ],
  [
    "subscription_updated with an end",
    ending(),
    ["cancellation_scheduled", { ...seats, currentPeriodEnd: endsAt, endsAt }],
    { traits: { subscriptionEndsAt: endsAt, subscriptionStatus: "cancelled" } },
  ],
  [
    "subscription_updated when an end is withdrawn",
    subscription(),
    wasToEnd,
    changed,
    ["cancellation_withdrawn", state],
    { traits: { subscriptionEndsAt: null } },
  ] as const,
  ["subscription_updated, expired", subscription({ status: "expired" }), "subscription_expired says"],
  ["subscription_cancelled", ending(), some("cancellation_scheduled", { endsAt })],
  ["subscription_cancelled without an end", ending({ ends_at: null }), "without an end"],
  ["subscription_resumed", subscription(), ["cancellation_withdrawn", state]],
  [
    "subscription_paused",
    subscription({ status: "paused" }),
    some("subscription_paused", { status: "paused" }),
  ],
  ["subscription_unpaused", subscription(), ["subscription_resumed", state]],
  [
    "subscription_expired after a cancellation",
    ending({ status: "expired" }),
    ["subscription_canceled", seats],
    { allTraits: ended },
  ],
  [
    "subscription_expired that nobody cancelled",
    subscription({ status: "expired", ends_at: "2026-06-01T10:00:00Z" }),
    some("subscription_canceled", { reason: "payment_failed" }),
  ],
];

const payments: readonly PresetCase[] = [
  [
    "subscription_payment_success",
    invoice(),
    price,
    success,
    { traits: { planAmount: 14_700, planCurrency: "EUR" } },
  ],
  ["subscription_payment_success of a renewal", invoice({ billing_reason: "renewal" }), price, success],
  ["subscription_payment_success of a change in a period", invoice({ billing_reason: "updated" }), success],
  [
    "subscription_payment_success with tax in its price",
    invoice({ tax_inclusive: true, total: 14_700, tax: 2_347 }),
    some("subscription_changed", { amount: 12_353 }),
    some("payment_succeeded", { amount: 14_700 }),
  ],
  ["subscription_payment_success of nothing", invoice({ total: 0, tax: 0 }), "amount 0"],
  [
    "subscription_payment_recovered has the id of the success",
    invoice(),
    { last: { messageId: "invoice:21:payment_succeeded" } },
  ],
  [
    "subscription_payment_failed",
    invoice({ status: "pending" }),
    ["payment_failed", { ...payment, amount: 17_493 }],
  ],
  [
    "subscription_payment_refunded in part",
    invoice({ refunded_amount: 500 }),
    ["payment_refunded", { ...payment, amount: 500 }],
  ],
];

const custom = (custom_data: object) => ({ ...subscription(), custom_data });

const people: readonly PresetCase[] = [
  [
    "subscription_created of a known address",
    subscription(),
    withAddress("ada@example.com", "ada"),
    { last: { userId: "ada" } },
  ],
  ["subscription_created of nobody", subscription(), nobody, { last: { anonymousId: "lemonsqueezy:71" } }],
  [
    "subscription_created with custom data",
    custom({ user_id: 42, account_id: "acme", interval: "2 weeks" }),
    {
      known: {},
      last: { userId: "42", account: { id: "acme" }, properties: { interval: "2 weeks", accountId: "acme" } },
    },
  ],
  ["subscription_created in test mode", subscription({ test_mode: true }), "test mode is no money"],
];

export const lemonsqueezyCases: PresetCases = {
  payload: (type, { custom_data, ...data }: { custom_data?: object }) =>
    lemonsqueezyEvent(type, data, custom_data && { custom_data }),
  known: { users: { ada: {} }, links },
  cases: [...subscriptions, ...payments, ...people],
  unused: ["order_created", "order_refunded", "license_key_created", "constructor"],
  data: subscription(),
  noPayloads: [lemonsqueezyEvent("subscription_created", { id: "1" }), { data: subscription() }],
  toSpoil: [
    lemonsqueezyEvent("subscription_created", trialing(), {
      custom_data: { user_id: "u", interval: "month" },
    }),
    lemonsqueezyEvent("subscription_updated", ending()),
    lemonsqueezyEvent("subscription_payment_success", invoice()),
    lemonsqueezyEvent("subscription_payment_refunded", invoice({ refunded_amount: 500 })),
  ],
};
