/** What each notification of Paddle becomes, and whose it is. */
import { nobody, type PresetCase, type PresetCases, some, withAddress } from "../cases.ts";
import * as paddle from "./payloads.ts";

const { adjustment, customer, ending, item, notification, subscription, transaction, trialing } = paddle;

const endsAt = "2026-06-01T10:00:00.500Z";
const trialEndsAt = "2026-05-11T10:00:00.000Z";
const plan = { plan: "Team", amount: 43_200, currency: "USD", interval: "month", quantity: 10 };
const resourceVersion = Date.UTC(2026, 4, 1, 10) * 1_000;
const hasEnded = { subscriptionId: "sub_1", ...plan, currentPeriodEnd: endsAt, resourceVersion };
const state = { ...hasEnded, status: "active" };
const isPaused = { ...hasEnded, status: "paused" };
const { currentPeriodEnd: _, ...withoutPeriod } = isPaused;
const converted = { ...state, amount: 32_400, currentPeriodEnd: trialEndsAt };
const trial = { ...converted, trialEndsAt, status: "trialing" };
const pastDue = {
  plan: "Team",
  planAmount: 43_200,
  planCurrency: "USD",
  planInterval: "month",
  subscriptionStatus: "past_due",
};
const ended = {
  plan: null,
  planAmount: null,
  planCurrency: null,
  planInterval: null,
  subscriptionStatus: "canceled",
};
const links = { "paddle:ctm_1": "ada" };
const wasToEnd = { known: { users: { ada: { subscriptionEndsAt: endsAt } }, links } };
const [paused, canceled] = [subscription({ status: "paused" }), subscription({ status: "canceled" })];
const unlimited = subscription({ status: "paused", current_billing_period: null });
const pause = { action: "pause", effective_at: "2026-06-01T10:00:00Z", resume_at: null };
const quarterly = subscription({ billing_cycle: { interval: "month", frequency: 3 } });
const changed = ["subscription_changed", { endsAt: null, ...state }] as const;

const subscriptions: readonly PresetCase[] = [
  ["subscription.created", subscription(), ["subscription_started", state]],
  ["subscription.created of a trial", trialing(), ["subscription_started", trial]],
  ["subscription.created for a quarter", quarterly, some("subscription_started", { interval: "3 months" })],
  ["subscription.imported", subscription(), ["subscription_started", state]],
  ["subscription.imported of a trial", trialing(), ["subscription_started", trial]],
  ["subscription.imported, paused", paused, some("subscription_started"), some("subscription_paused")],
  ["subscription.imported, canceled", canceled, some("subscription_canceled")],
  [
    "subscription.imported with an end",
    ending(),
    some("subscription_started"),
    some("cancellation_scheduled", { endsAt }),
  ],
  ["subscription.trialing", trialing(), ["trial_started", trial]],
  ["subscription.activated", trialing({ status: "active" }), ["trial_converted", converted]],
  ["subscription.activated without a trial", subscription(), changed],
  ["subscription.updated", subscription(), changed],
  ["subscription.updated with an end", ending(), ["cancellation_scheduled", { ...state, endsAt }]],
  ["subscription.updated, of whose end a trait tells", ending(), { traits: { subscriptionEndsAt: endsAt } }],
  ["subscription.updated in a trial", trialing(), ["subscription_changed", { endsAt: null, ...trial }]],
  [
    "subscription.updated when an end is withdrawn",
    subscription(),
    wasToEnd,
    changed,
    ["cancellation_withdrawn", state],
    { traits: { subscriptionEndsAt: null } },
  ] as const,
  ["subscription.updated, paused", paused, ["subscription_changed", { endsAt: null, ...isPaused }]],
  [
    "subscription.updated at a part of a second",
    subscription({ updated_at: "2026-05-01T10:00:00.123456Z" }),
    some("subscription_changed", { resourceVersion: resourceVersion + 123_456 }),
  ],
  ["subscription.updated, canceled", canceled, "subscription.canceled says"],
  [
    "subscription.updated with a pause",
    subscription({ scheduled_change: pause }),
    some("subscription_changed"),
  ],
  // The event is the payment's.
  [
    "subscription.past_due",
    subscription({ status: "past_due" }),
    ["subscription_changed", { endsAt: null, ...hasEnded, status: "past_due" }],
    { allTraits: pastDue },
  ],
  ["subscription.paused", unlimited, ["subscription_paused", withoutPeriod]],
  ["subscription.resumed", subscription(), ["subscription_resumed", state]],
  ["subscription.canceled", canceled, ["subscription_canceled", hasEnded], { allTraits: ended }],
];

const override = (amount: string) => ({
  country_codes: ["AU"],
  unit_price: { amount, currency_code: "AUD" },
});
const inAud = (...amounts: string[]) => {
  const items = [item("500", 2, {}, { unit_price_overrides: amounts.map(override) })];
  return subscription({ currency_code: "AUD", items });
};
const once = item("19900", 1, { recurring: false }, { billing_cycle: null });

const amounts: readonly PresetCase[] = [
  ["subscription.created, with items", subscription({ items: [item("500", 3), once] }), { amount: 1_500 }],
  ["subscription.created, a price in its currency", inAud("800"), { amount: 1_600 }],
  ["subscription.created, equal prices in its currency", inAud("800", "800"), { amount: 1_600 }],
  ["subscription.created, two prices in its currency", inAud("800", "900"), { amount: undefined }],
  ["subscription.created, no price in its currency", inAud(), { amount: undefined }],
  ["subscription.created, no items", subscription({ items: [] }), { amount: undefined }],
];

const ofInvoice = { subscriptionId: "sub_1", invoiceId: "txn_1" };
const ofPlan = { currency: "USD", plan: "Team", origin: "subscription_recurring" };
const paid = { amount: 46_980, ...ofPlan, ...ofInvoice };
const untilEnd = { ...paid, currentPeriodEnd: "2026-06-01T10:00:00.000Z" };
const failed = { ...paid, invoiceId: "txn_2", reason: "expired_card", attempt: 2 };
const refund = { amount: 1_000, currency: "USD", reason: "requested", ...ofInvoice };
const refunded = [["payment_refunded", refund], { last: { messageId: "adj_1:payment_refunded" } }] as const;
const ofCard = { ...paddle.unpaid(), ...transaction({ origin: "subscription_payment_method_change" }, "0") };
const overdue = { ...paddle.unpaid(), invoice_id: "inv_2" };

const payments: readonly PresetCase[] = [
  ["transaction.completed", transaction(), ["payment_succeeded", untilEnd]],
  ["transaction.completed once", transaction(), { last: { messageId: "txn_1:payment_succeeded" } }],
  ["transaction.completed of nothing", transaction({}, "0"), "amount 0"],
  ["transaction.payment_failed", paddle.unpaid(), ["payment_failed", failed]],
  ["transaction.payment_failed when a card changes", ofCard, "amount 0"],
  ["transaction.past_due", overdue, ["payment_overdue", { ...paid, invoiceId: "inv_2" }]],
  ["adjustment.created", adjustment(), ...refunded],
  ["adjustment.updated", adjustment(), ...refunded],
  ["adjustment.created, a chargeback", adjustment({ action: "chargeback" }), ["payment_disputed", refund]],
  ["adjustment.updated, pending", adjustment({ status: "pending_approval" }), "An adjustment"],
  ["adjustment.updated, rejected", adjustment({ status: "rejected" }), "An adjustment"],
  ["adjustment.updated, a credit", adjustment({ action: "credit" }), "An adjustment"],
];

const visitor = { userId: undefined, anonymousId: "paddle:ctm_1" };
const byAddress = { "ada@example.com": ["ada"] };
const ofAda = { known: { emails: byAddress, links: { "paddle:ctm_1": "mailto:ada@example.com" } } };
const first = {
  type: "identify",
  userId: "42",
  anonymousId: "paddle:ctm_1",
  account: { id: "acme" },
  traits: { plan: "Team", planAmount: 43_200, subscriptionStatus: "active" },
  atMs: Date.parse("2026-05-01T10:00:00.123Z"),
};
const alias = { type: "alias", previousId: "paddle:ctm_1", userId: "mailto:ada@example.com" };

const people: readonly PresetCase[] = [
  ...["userId", "user_id", "rekindle_user_id"].map((key): PresetCase => {
    const named = subscription({ custom_data: { [key]: 42, account_id: "acme" } });
    return [`subscription.created of a ${key}`, named, { first }, nobody];
  }),
  ...["undefined", "null", "", {}].map((user_id): PresetCase => {
    const named = subscription({ custom_data: { user_id } });
    return [`subscription.created of user_id ${JSON.stringify(user_id)}`, named, { first: visitor }, nobody];
  }),
  ...["customer.created", "customer.updated", "customer.imported"].flatMap((type): PresetCase[] => {
    const last = { type: "identify", userId: "ada" };
    return [
      [type, customer(), { items: [alias] }, nobody],
      [`${type} of a known address`, customer(), { last }, withAddress("ada@example.com", "ada")],
    ];
  }),
  ["subscription.created of an address", subscription(), { last: { type: "track", userId: "ada" } }, ofAda],
  ["subscription.created of no customer", subscription({ customer_id: null }), "names neither", nobody],
];

export const paddleCases: PresetCases = {
  payload: notification,
  known: { users: { ada: {} }, links },
  cases: [...subscriptions, ...amounts, ...payments, ...people],
  unused: ["address.created", "transaction.paid", "constructor", "__proto__"],
  data: subscription(),
  noPayloads: [{ event_id: "e", event_type: "t" }, { alert_name: "subscription_created" }],
  toSpoil: [
    notification("customer.created", customer({ custom_data: { user_id: "42" } })),
    notification("subscription.created", trialing({ custom_data: { user_id: "42", account_id: "a" } })),
    notification("subscription.updated", ending()),
    notification("transaction.completed", transaction()),
    notification("transaction.payment_failed", paddle.unpaid()),
    notification("adjustment.updated", adjustment()),
  ],
};
