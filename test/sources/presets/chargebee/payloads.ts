/** Events of Chargebee, with the fields of https://apidocs.chargebee.com/docs/api/events. Times are Unix
 * seconds. */

let events = 0;
export const startSeconds = Date.UTC(2026, 4, 1, 10) / 1_000;
export const endSeconds = Date.UTC(2026, 5, 1, 10) / 1_000;
const trialEndSeconds = Date.UTC(2026, 4, 15, 10) / 1_000;

/** An event of this type. */
export function chargebeeEvent(type: string, content: object, apiVersion = "v2") {
  events += 1;
  return {
    id: `ev_${events}`,
    occurred_at: startSeconds,
    source: "api",
    object: "event",
    api_version: apiVersion,
    event_type: type,
    webhook_status: "scheduled",
    content,
  };
}

export const customer = (more: object = {}) => ({
  id: "cus_1",
  object: "customer",
  first_name: "Ada",
  email: "ada@example.com",
  deleted: false,
  auto_collection: "on",
  net_term_days: 0,
  created_at: startSeconds,
  updated_at: startSeconds,
  promotional_credits: 0,
  unbilled_charges: 0,
  preferred_currency_code: "EUR",
  ...more,
});

/** A subscription of Product Catalog 2.0: 10 seats of 7.90, and support of 21.00 a month. */
export const subscription = (more: object = {}) => ({
  id: "sub_1",
  object: "subscription",
  customer_id: "cus_1",
  status: "active",
  currency_code: "EUR",
  billing_period: 1,
  billing_period_unit: "month",
  deleted: false,
  has_scheduled_changes: false,
  current_term_start: startSeconds,
  current_term_end: endSeconds,
  next_billing_at: endSeconds,
  created_at: startSeconds,
  started_at: startSeconds,
  activated_at: startSeconds,
  resource_version: startSeconds * 1_000,
  mrr: 10_000,
  subscription_items: [
    line("support-EUR-monthly", "addon", 2_100, 1),
    line("team-EUR-monthly", "plan", 7_900, 10),
    line("setup-EUR", "charge", 5_000, 1),
  ],
  ...more,
});

/** An item with its amount for the whole quantity. */
export const line = (id: string, type: string, amount: number, quantity: number, more: object = {}) => ({
  object: "subscription_item",
  item_price_id: id,
  item_type: type,
  quantity,
  unit_price: amount / quantity,
  amount,
  free_quantity: 0,
  ...more,
});

/** A subscription of Product Catalog 1.0, with an add-on. */
export const ofFirstCatalog = (more: object = {}) => ({
  ...subscription({ subscription_items: undefined }),
  plan_id: "team",
  plan_quantity: 10,
  plan_unit_price: 790,
  plan_amount: 7_900,
  addons: [{ id: "support", quantity: 2, unit_price: 1_050, object: "addon" }],
  ...more,
});

export const inTrial = (more: object = {}) =>
  subscription({
    status: "in_trial",
    trial_start: startSeconds,
    trial_end: trialEndSeconds,
    current_term_start: undefined,
    current_term_end: undefined,
    activated_at: undefined,
    ...more,
  });

export const invoice = (more: object = {}) => ({
  id: "42",
  object: "invoice",
  customer_id: "cus_1",
  subscription_id: "sub_1",
  recurring: true,
  status: "paid",
  currency_code: "EUR",
  sub_total: 10_000,
  tax: 1_900,
  total: 11_900,
  amount_paid: 11_900,
  amount_due: 0,
  date: startSeconds,
  price_type: "tax_exclusive",
  ...more,
});

export const transaction = (more: object = {}) => ({
  id: "txn_1",
  object: "transaction",
  customer_id: "cus_1",
  subscription_id: "sub_1",
  type: "payment",
  status: "success",
  payment_method: "card",
  gateway: "stripe",
  amount: 11_900,
  currency_code: "EUR",
  date: startSeconds,
  linked_invoices: [{ invoice_id: "42", applied_amount: 11_900, invoice_status: "paid" }],
  ...more,
});

/** The content of a payment's event. */
export const paid = () => ({
  transaction: transaction(),
  invoice: invoice(),
  customer: customer(),
  subscription: subscription(),
});

/** The content of a payment that failed for the second time. */
export const failed = () => ({
  transaction: transaction({ status: "failure", error_code: "insufficient_funds", error_text: "No funds" }),
  invoice: invoice({
    status: "payment_due",
    amount_paid: 0,
    amount_due: 11_900,
    dunning_status: "in_progress",
    next_retry_at: trialEndSeconds,
    dunning_attempts: [
      { attempt: 0, txn_status: "failure", created_at: startSeconds },
      { attempt: 1, txn_status: "failure", created_at: startSeconds },
    ],
  }),
  customer: customer(),
  subscription: subscription(),
});

/** The content of a refund. */
export const refunded = () => ({
  transaction: transaction({ type: "refund", amount: 1_900, linked_invoices: [] }),
  credit_note: { id: "CN-1", reference_invoice_id: "42", customer_id: "cus_1", subscription_id: "sub_1" },
  customer: customer(),
});
