/** What each webhook of Polar becomes, and whose it is. */
import { nobody, type PresetCase, type PresetCases, some, withAddress } from "../cases.ts";
import { customer, ending, order, polarEvent, refund, subscription, trialing } from "./payloads.ts";

const endsAt = "2026-06-01T10:00:00.000Z";
const trialEndsAt = "2026-05-11T10:00:00.000Z";
const resourceVersion = Date.UTC(2026, 4, 1, 10) * 1_000 + 500;
const plan = { plan: "Team", amount: 10_000, currency: "usd", interval: "month", quantity: 5 };
const whole = { subscriptionId: "sub-1", ...plan, resourceVersion };
const hasEnded = { ...whole, currentPeriodEnd: endsAt };
const state = { ...hasEnded, status: "active" };
const trial = { ...whole, currentPeriodEnd: trialEndsAt, trialEndsAt, status: "trialing" };
const why = { reason: "too_expensive", feedback: "See you" };
const links = { "polar:cus-1": "ada" };
const wasToEnd = { known: { users: { ada: { subscriptionEndsAt: endsAt } }, links } };
const changed = ["subscription_changed", { endsAt: null, ...state }] as const;
const canceled = ending({ status: "canceled", ended_at: "2026-05-20T10:00:00Z" });
const ended = {
  plan: null,
  planAmount: null,
  planCurrency: null,
  planInterval: null,
  subscriptionStatus: "canceled",
};

const subscriptions: readonly PresetCase[] = [
  ["subscription.created", subscription(), ["subscription_started", state]],
  ["subscription.created of a trial", trialing(), ["subscription_started", trial]],
  ["subscription.created, incomplete", subscription({ status: "incomplete" }), "has not begun"],
  [
    "subscription.created with an end",
    ending(),
    ["subscription_started", state],
    ["cancellation_scheduled", { ...state, endsAt }],
  ],
  [
    "subscription.created for a quarter",
    subscription({ recurring_interval_count: 3 }),
    some("subscription_started", { interval: "3 months" }),
  ],
  ["subscription.active", subscription(), changed],
  [
    "subscription.updated",
    subscription(),
    changed,
    { traits: { planAmount: 10_000, subscriptionStatus: "active" } },
  ],
  ["subscription.updated, incomplete", subscription({ status: "incomplete_expired" }), "has not begun"],
  ["subscription.updated, canceled", canceled, "subscription.revoked says"],
  ["subscription.updated with an end", ending(), ["cancellation_scheduled", { ...state, endsAt, ...why }]],
  [
    "subscription.updated when an end is withdrawn",
    subscription(),
    wasToEnd,
    changed,
    ["cancellation_withdrawn", state],
    { traits: { subscriptionEndsAt: null } },
  ] as const,
  [
    "subscription.past_due",
    subscription({ status: "past_due" }),
    ["subscription_changed", { endsAt: null, ...hasEnded, status: "past_due" }],
  ],
  [
    "subscription.canceled at the end of its period",
    ending(),
    ["cancellation_scheduled", { ...state, endsAt, ...why }],
  ],
  [
    "subscription.canceled at once",
    canceled,
    ["subscription_canceled", { ...hasEnded, ...why }],
    { allTraits: ended },
  ],
  [
    "subscription.updated, unpaid",
    subscription({ status: "unpaid" }),
    ["subscription_canceled", { ...hasEnded, reason: "payment_failed" }],
  ],
  [
    "subscription.active when one that was unpaid is paid",
    subscription(),
    { known: { users: { ada: { subscriptionStatus: "unpaid" } }, links } },
    ["subscription_started", { endsAt: null, ...state }],
  ],
  ["subscription.uncanceled", subscription(), ["cancellation_withdrawn", state]],
  [
    "subscription.revoked",
    canceled,
    ["subscription_canceled", { ...hasEnded, ...why }],
    { allTraits: ended },
  ],
];

const discount = (more: object) =>
  subscription({ discount: { id: "d", type: "percentage", basis_points: 2_000, ...more } });

const discounts: readonly PresetCase[] = [
  ["subscription.updated with a discount for ever", discount({ duration: "forever" }), { amount: 8_000 }],
  ["subscription.updated with a discount of one order", discount({ duration: "once" }), { amount: 10_000 }],
  [
    "subscription.updated with a fixed discount",
    subscription({ discount: { type: "fixed", amount: 12_000, currency: "usd", duration: "forever" } }),
    { amount: 0 },
  ],
  [
    "subscription.updated with a discount of some months",
    discount({ duration: "repeating", duration_in_months: 3 }),
    some("subscription_changed", {
      amount: 8_000,
      amountAfterDiscount: 10_000,
      discountEndsAt: "2026-08-01T10:00:00.000Z",
    }),
  ],
  [
    "subscription.updated after a discount of some months",
    subscription({
      started_at: "2026-01-31T10:00:00Z",
      discount: { basis_points: 2_000, duration: "repeating", duration_in_months: 1 },
    }),
    changed,
  ],
];

const paid = { amount: 11_900, currency: "usd", plan: "Team", subscriptionId: "sub-1", invoiceId: "ord-1" };
const refunded = {
  amount: 1_190,
  currency: "usd",
  reason: "customer_request",
  subscriptionId: "sub-1",
  invoiceId: "ord-1",
};

const payments: readonly PresetCase[] = [
  ["order.paid", order(), ["payment_succeeded", { ...paid, origin: "subscription_create" }]],
  ["order.paid of nothing", order({ total_amount: 0 }), "amount 0"],
  [
    "order.paid of a single purchase",
    order({ subscription_id: null }),
    some("payment_succeeded", { amount: 11_900 }),
  ],
  ["refund.created", refund(), ["payment_refunded", refunded]],
  ["refund.updated has the id of the refund", refund(), { last: { messageId: "ref-1:payment_refunded" } }],
  ["refund.created, pending", refund({ status: "pending" }), "A refund that is pending moves no money"],
];

const people: readonly PresetCase[] = [
  ["customer.created", customer(), { ...withAddress("ada@example.com", "ada"), events: 0 }],
  [
    "subscription.created of a known address",
    subscription(),
    withAddress("ada@example.com", "ada"),
    { last: { userId: "ada" } },
  ],
  ["subscription.created of nobody", subscription(), nobody, { last: { anonymousId: "polar:cus-1" } }],
  [
    "subscription.created of a customer with an external id",
    subscription({ customer: customer({ external_id: "u-7" }) }),
    { known: {}, last: { userId: "u-7", anonymousId: "polar:cus-1" } },
  ],
  [
    "subscription.created with metadata",
    subscription({
      metadata: { user_id: 42, account_id: "acme" },
      customer: customer({ external_id: "u-7" }),
    }),
    { known: {}, last: { userId: "42", account: { id: "acme" } } },
  ],
  [
    "order.paid with the customer's metadata",
    order({ customer: customer({ metadata: { user_id: "u-9" } }) }),
    { known: {}, last: { userId: "u-9" } },
  ],
];

export const polarCases: PresetCases = {
  payload: polarEvent,
  known: { users: { ada: {} }, links },
  cases: [...subscriptions, ...discounts, ...payments, ...people],
  unused: [
    "order.created",
    "order.updated",
    "order.refunded",
    "benefit.created",
    "customer.deleted",
    "constructor",
  ],
  data: subscription(),
  noPayloads: [{ type: "order.paid" }, { data: subscription() }, polarEvent("order.paid", {})],
  toSpoil: [
    polarEvent(
      "subscription.created",
      trialing({ discount: { basis_points: 1, duration: "repeating", duration_in_months: 2 } }),
    ),
    polarEvent("subscription.canceled", ending()),
    polarEvent("order.paid", order()),
    polarEvent("refund.created", refund()),
  ],
};
