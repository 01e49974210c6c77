/** What each event of Chargebee becomes, in both product catalogs, and whose it is. */
import { nobody, type PresetCase, type PresetCases, some, withAddress } from "../cases.ts";
import * as chargebee from "./payloads.ts";

const { customer, endSeconds, inTrial, invoice, line, ofFirstCatalog, startSeconds, transaction } = chargebee;

const content = (of: object) => ({ subscription: of, customer: customer() });
const of = (more: object = {}) => content(chargebee.subscription(more));

const plan = { plan: "team-EUR-monthly", amount: 10_000, currency: "EUR", interval: "month", quantity: 10 };
const endsAt = "2026-06-01T10:00:00.000Z";
const trialEndsAt = "2026-05-15T10:00:00.000Z";
const resourceVersion = startSeconds * 1_000;
const state = { subscriptionId: "sub_1", ...plan, currentPeriodEnd: endsAt, resourceVersion };
const trial = { subscriptionId: "sub_1", ...plan, trialEndsAt, resourceVersion, status: "trialing" };
const isPaused = { ...state, status: "paused" };
const ended = {
  plan: null,
  planAmount: null,
  planCurrency: null,
  planInterval: null,
  subscriptionStatus: "cancelled",
};
const links = { "chargebee:cus_1": "ada" };
const wasToEnd = { known: { users: { ada: { subscriptionEndsAt: endsAt } }, links } };
const started = ["subscription_started", state] as const;
const startedTrial = ["subscription_started", trial] as const;
const changed = ["subscription_changed", state] as const;
const canceled = ["subscription_canceled", state] as const;
const cancelled = { status: "cancelled", cancelled_at: endSeconds };
const trialOver = of({ trial_end: Date.parse(trialEndsAt) / 1_000 });

const scheduled = of({
  status: "non_renewing",
  cancelled_at: endSeconds,
  cancel_reason_code: "Too expensive",
  current_term_end: endSeconds - 86_400,
});
const toEnd = {
  ...state,
  currentPeriodEnd: "2026-05-31T10:00:00.000Z",
  endsAt,
  reason: "Too expensive",
  feedback: "Too expensive",
};
const isToEnd = { subscriptionStatus: "non_renewing", subscriptionEndsAt: endsAt };

const subscriptions: readonly PresetCase[] = [
  ...[
    "subscription_created",
    "subscription_started",
    "subscription_reactivated",
    "subscription_created_with_backdating",
    "subscription_reactivated_with_backdating",
  ].flatMap((type): PresetCase[] => [
    [type, of(), started],
    [`${type} of a trial`, content(inTrial()), startedTrial],
  ]),
  [
    "subscription_created, cancelled",
    of({ ...cancelled, cancelled_at: startSeconds }),
    some("subscription_canceled"),
  ],
  [
    "subscription_created, paused",
    of({ status: "paused" }),
    some("subscription_started"),
    some("subscription_paused"),
  ],
  [
    "subscription_created with an end",
    of({ status: "non_renewing", cancelled_at: endSeconds }),
    started,
    ["cancellation_scheduled", { ...state, endsAt }],
  ] as const,
  ["subscription_created in future", of({ status: "future" }), "not started"],
  ["subscription_changed in future", of({ status: "future" }), "not started"],
  ["subscription_activated after a trial", trialOver, ["trial_converted", state]],
  ["subscription_activated", of(), changed],
  ...["subscription_changed", "subscription_renewed", "subscription_changed_with_backdating"].flatMap(
    (type): PresetCase[] => [
      [type, of(), changed],
      [`${type}, cancelled`, of({ status: "cancelled" }), "has ended"],
    ],
  ),
  ["subscription_trial_extended", content(inTrial()), ["subscription_changed", trial]],
  ["subscription_trial_end_reminder", content(inTrial()), ["trial_ending", trial]],
  ["subscription_paused", of({ status: "paused" }), ["subscription_paused", isPaused]],
  ["subscription_changed, paused", of({ status: "paused" }), ["subscription_changed", isPaused]],
  ...[
    [0, "active"],
    [1, "past_due"],
  ].map(([due_invoices_count, status]): PresetCase => {
    const type = `subscription_changed, ${due_invoices_count} invoices due`;
    return [type, of({ due_invoices_count }), ["subscription_changed", { ...state, status }]];
  }),
  [
    "subscription_changed, about to end",
    of({ status: "non_renewing", cancelled_at: endSeconds, due_invoices_count: 0 }),
    ["subscription_changed", { ...state, endsAt, status: "active" }],
  ],
  ["subscription_resumed", of(), ["subscription_resumed", state]],
  ["subscription_cancellation_scheduled", scheduled, ["cancellation_scheduled", toEnd], { traits: isToEnd }],
  [
    "subscription_cancellation_scheduled, no date",
    of({ status: "non_renewing" }),
    some("cancellation_scheduled", { endsAt }),
  ],
  ["subscription_scheduled_cancellation_removed", of(), ["cancellation_withdrawn", state]],
  ["subscription_scheduled_cancellation_removed", of(), { traits: { subscriptionEndsAt: null } }, wasToEnd],
  ...["subscription_cancelled", "subscription_canceled_with_backdating", "subscription_deleted"].flatMap(
    (type): PresetCase[] => {
      const unpaid = some("subscription_canceled", { reason: "payment_failed" });
      const fraud = { cancel_reason: "fraud_review_failed", cancel_reason_code: "Fraud" };
      const ofFraud = some("subscription_canceled", { reason: "fraud_review_failed", feedback: "Fraud" });
      return [
        [type, of(cancelled), canceled, { allTraits: ended }],
        [`${type}, not paid`, of({ ...cancelled, cancel_reason: "not_paid" }), unpaid],
        [`${type}, no card`, of({ ...cancelled, cancel_reason: "no_card" }), unpaid],
        [`${type}, fraud`, of({ ...cancelled, ...fraud }), ofFraud],
      ];
    },
  ),
];

const team = line("team-EUR-monthly", "plan", 7_900, 10);
const metered = line("api-calls", "addon", 300, 1, { metered_quantity: "300" });
const monthly = { ...team, billing_period: 1, billing_period_unit: "month" };
const yearly = line("support", "addon", 9_900, 1, { billing_period: 1, billing_period_unit: "year" });
const items = (...subscription_items: object[]) => of({ subscription_items });
const discounts = (...given: object[]) => {
  const usual = { id: "d1", type: "percentage", percentage: 10, duration_type: "forever" };
  return of({ discounts: given.map((more) => ({ ...usual, apply_on: "invoice_amount", ...more })) });
};
const limited = { duration_type: "limited_period", apply_till: endSeconds };
const over = { ...limited, apply_till: startSeconds };
const onItem = { apply_on: "specific_item_price", item_price_id: "team-EUR-monthly" };
const fixed = { type: "fixed_amount", percentage: undefined, amount: 1_234 };
const withoutAmounts = ofFirstCatalog({ plan_amount: undefined, addons: undefined });
const oldest = { id: "sub_1", status: "active", plan_id: "team", plan_quantity: 1 };
const later = { ...limited, percentage: 50, apply_till: endSeconds + 86_400 };
const three = discounts(later, limited, { ...over, percentage: 99 });
const afterDiscount = { amount: 4_500, discountEndsAt: endsAt, amountAfterDiscount: 5_000 };

/** 79.00 a month and 99.00 a year. */
const inYear = { amount: 12 * 7_900 + 9_900, interval: "year" };
const tenth = { id: "d1", percentage: 10, duration_type: "forever", apply_on: "invoice_amount" };

const amounts: readonly PresetCase[] = [
  ["subscription_created, unit prices", content(withoutAmounts), { amount: 7_900 }],
  ["subscription_created, metered items", items(team, metered), { amount: 7_900 }],
  ["subscription_created, items of its interval", items(monthly), { amount: 7_900 }],
  [
    "subscription_created, items of another interval",
    items(team, yearly),
    some("subscription_started", inYear),
  ],
  [
    "subscription_created, items of another interval and a discount",
    of({ subscription_items: [team, yearly], discounts: [tenth] }),
    some("subscription_started", { ...inYear, amount: 94_230 }),
  ],
  [
    "subscription_created, items of another interval and a fixed discount",
    of({ subscription_items: [team, yearly], discounts: [{ ...tenth, percentage: undefined, amount: 9 }] }),
    { amount: undefined },
  ],
  ["subscription_created, a discount", discounts({}), { amount: 9_000 }],
  [
    "subscription_created, a discount of one time",
    discounts({ duration_type: "one_time" }),
    { amount: 10_000 },
  ],
  ["subscription_created, a limited discount", discounts(limited), { amount: 9_000 }],
  ["subscription_created, a past discount", discounts(over), { amount: 10_000 }],
  ["subscription_created, a discount on an item", discounts(onItem), { amount: 9_210 }],
  ["subscription_created, two discounts", discounts(fixed, {}), { amount: 7_889 }],
  ["subscription_created, a discount of all", discounts({ ...fixed, amount: 99_999 }), { amount: 0 }],
  ["subscription_created, a discount that ends", three, some("subscription_started", afterDiscount)],
  ["subscription_created, a discount once", discounts({ ...limited, duration_type: "one_time" }), started],
  [
    "subscription_created of the first catalog",
    content(ofFirstCatalog()),
    ["subscription_started", { ...state, plan: "team" }],
  ],
  [
    "subscription_created with a plan alone",
    content(oldest),
    ["subscription_started", { subscriptionId: "sub_1", plan: "team", quantity: 1 }],
  ],
];

const paid = { amount: 11_900, currency: "EUR", subscriptionId: "sub_1", invoiceId: "42" };
const { subscriptionId: _, ...disputed } = paid;
const failed = { ...paid, reason: "insufficient_funds", attempt: 2, nextAttemptAt: trialEndsAt };
const withDue = (payload: object, due_invoices_count: number, more: object = {}) => ({
  ...payload,
  subscription: chargebee.subscription({ due_invoices_count, ...more }),
});
const ofEnded = withDue(chargebee.paid(), 0, { status: "cancelled" });
const ofNothing = { ...chargebee.paid(), transaction: transaction({ amount: 0 }) };
const reversal = { transaction: transaction({ type: "payment_reversal", subscription_id: undefined }) };

const payments: readonly PresetCase[] = [
  ["payment_succeeded", chargebee.paid(), ["payment_succeeded", { ...paid, currentPeriodEnd: endsAt }]],
  [
    "payment_succeeded after which nothing is due",
    withDue(chargebee.paid(), 0),
    ["subscription_changed", { ...state, status: "active" }],
    ["payment_succeeded", { ...paid, currentPeriodEnd: endsAt }],
  ],
  [
    "payment_failed after which an invoice is due",
    withDue(chargebee.failed(), 1),
    ["subscription_changed", { ...state, status: "past_due" }],
    ["payment_failed", failed],
  ] as const,
  [
    "payment_succeeded of a subscription that has ended",
    ofEnded,
    ["payment_succeeded", { ...paid, currentPeriodEnd: endsAt }],
  ],
  ["payment_succeeded with nothing", ofNothing, "amount 0"],
  ["payment_succeeded of nobody", {}, "names neither"],
  ["payment_failed", chargebee.failed(), ["payment_failed", failed]],
  ...["payment_due", "not_paid"].map(
    (status): PresetCase => [
      `invoice_updated, ${status}`,
      { invoice: invoice({ status }) },
      ["subscription_changed", { subscriptionId: "sub_1", status: "past_due" }],
    ],
  ),
  ["invoice_updated, paid", { invoice: invoice() }, "is not overdue"],
  [
    "invoice_updated of no subscription",
    { invoice: invoice({ status: "not_paid", subscription_id: null }) },
    "no subscription",
  ],
  ["payment_refunded", chargebee.refunded(), ["payment_refunded", { ...paid, amount: 1_900 }]],
  ["transaction_created of a reversal", reversal, ["payment_disputed", disputed]],
  ["transaction_created", { transaction: transaction() }, "reverses a payment"],
];

const visitor = { anonymousId: "chargebee:cus_1" };
const first = {
  type: "identify",
  userId: "42",
  ...visitor,
  account: { id: "acme" },
  email: "ada@example.com",
  atMs: startSeconds * 1_000,
  traits: { plan: "team-EUR-monthly", planAmount: 10_000, subscriptionStatus: "active" },
};
const byCustomer = customer({ cf_rekindle_user_id: "42", cf_rekindle_account_id: "acme" });
const ofCustomer = { subscription: chargebee.subscription(), customer: byCustomer };
const byField = of({ cf_user_id: "42", cf_account_id: "acme" });
const byMetadata = of({ meta_data: { user_id: 42, account_id: "acme" } });
const ofInvoice = { invoice: invoice(), transaction: {} };
const deleted = { customer: customer({ deleted: true }) };
const ada = withAddress("ada@example.com", "ada");
const last = { type: "identify", userId: "ada" };

const people: readonly PresetCase[] = [
  ["subscription_created of metadata", byMetadata, { first }, nobody],
  ["subscription_created of a custom field", byField, { first }, nobody],
  ["subscription_created of the customer's custom field", ofCustomer, { first }, nobody],
  [
    "subscription_created of the customer's id",
    of(),
    { first: { userId: "cus_1" } },
    { known: { users: { cus_1: {} } } },
  ],
  [
    "subscription_created of an unknown id",
    of(),
    { last: { type: "track", userId: undefined, ...visitor } },
    nobody,
  ],
  ["customer_created of a known address", { customer: customer() }, { last }, ada],
  ["customer_changed of a known address", { customer: customer() }, { last }, ada],
  ["customer_deleted", deleted, ["customer_deleted", { customerId: "cus_1" }]],
  ["payment_succeeded of an invoice", ofInvoice, { last: visitor }, nobody],
];

const { chargebeeEvent } = chargebee;
const spoiled = [{ type: "percentage", percentage: 10, duration_type: "limited_period", apply_till: 1 }];
const endingWithDiscounts = { status: "non_renewing", cancelled_at: endSeconds, discounts: spoiled };

export const chargebeeCases: PresetCases = {
  payload: chargebeeEvent,
  known: { users: { ada: {} }, links },
  cases: [...subscriptions, ...amounts, ...payments, ...people],
  unused: ["invoice_generated", "plan_created", "toString", "__proto__", "_with_backdating"],
  data: of(),
  noPayloads: [
    { id: "e", event_type: "payment_failed" },
    { id: 1, content: {} },
  ],
  toSpoil: [
    chargebeeEvent("customer_created", { customer: customer({ meta_data: { user_id: "42" } }) }),
    chargebeeEvent("subscription_created", content(inTrial({ cf_user_id: "42", cf_account_id: "a" }))),
    chargebeeEvent("subscription_changed", content(ofFirstCatalog())),
    chargebeeEvent("subscription_cancellation_scheduled", of(endingWithDiscounts)),
    chargebeeEvent("payment_failed", chargebee.failed()),
    chargebeeEvent("payment_refunded", chargebee.refunded()),
  ],
};
