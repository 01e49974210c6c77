/** Notifications of Paddle Billing, with the fields of https://developer.paddle.com/webhooks. */

let notifications = 0;

/** A notification of this type. */
export function notification(type: string, data: object, occurredAt = "2026-05-01T10:00:00.123456Z") {
  notifications += 1;
  return {
    event_id: `evt_${String(notifications).padStart(26, "0")}`,
    event_type: type,
    occurred_at: occurredAt,
    notification_id: `ntf_${notifications}`,
    data,
  };
}

export const customer = (more: object = {}) => ({
  id: "ctm_1",
  name: "Ada Park",
  email: "ada@example.com",
  status: "active",
  locale: "en",
  custom_data: null,
  marketing_consent: false,
  import_meta: null,
  created_at: "2026-05-01T10:00:00Z",
  updated_at: "2026-05-01T10:00:00Z",
  ...more,
});

/** An item of a subscription: a price of so many units. */
export const item = (amount: string, quantity: number, more: object = {}, price: object = {}) => ({
  status: "active",
  quantity,
  recurring: true,
  trial_dates: null,
  created_at: "2026-05-01T10:00:00Z",
  updated_at: "2026-05-01T10:00:00Z",
  next_billed_at: "2026-06-01T10:00:00Z",
  previously_billed_at: "2026-05-01T10:00:00Z",
  price: {
    id: "pri_seats",
    product_id: "pro_team",
    description: "Monthly, per seat",
    name: "Monthly",
    type: "standard",
    tax_mode: "account_setting",
    trial_period: null,
    unit_price_overrides: [],
    billing_cycle: { interval: "month", frequency: 1 },
    unit_price: { amount, currency_code: "USD" },
    ...price,
  },
  product: { id: "pro_team", name: "Team", tax_category: "saas", status: "active", custom_data: null },
  ...more,
});

/** A subscription of 10 seats and an add-on: 324.00 + 108.00 a month. */
export const subscription = (more: object = {}) => ({
  id: "sub_1",
  status: "active",
  customer_id: "ctm_1",
  address_id: "add_1",
  business_id: null,
  currency_code: "USD",
  collection_mode: "automatic",
  billing_details: null,
  custom_data: null,
  created_at: "2026-05-01T10:00:00Z",
  updated_at: "2026-05-01T10:00:00Z",
  started_at: "2026-05-01T10:00:00Z",
  first_billed_at: "2026-05-01T10:00:00Z",
  next_billed_at: "2026-06-01T10:00:00Z",
  paused_at: null,
  canceled_at: null,
  discount: null,
  billing_cycle: { interval: "month", frequency: 1 },
  scheduled_change: null,
  import_meta: null,
  current_billing_period: { starts_at: "2026-05-01T10:00:00Z", ends_at: "2026-06-01T10:00:00.500000Z" },
  items: [
    item("3240", 10),
    item("10800", 1, { product: { id: "pro_rooms", name: "Rooms" } }, { id: "pri_rooms", name: "Rooms" }),
  ],
  ...more,
});

/** The same in its trial of ten days. */
export const trialing = (more: object = {}) =>
  subscription({
    status: "trialing",
    first_billed_at: null,
    next_billed_at: "2026-05-11T10:00:00Z",
    current_billing_period: { starts_at: "2026-05-01T10:00:00Z", ends_at: "2026-05-11T10:00:00Z" },
    items: [
      item("3240", 10, {
        status: "trialing",
        trial_dates: { starts_at: "2026-05-01T10:00:00Z", ends_at: "2026-05-11T10:00:00Z" },
      }),
    ],
    ...more,
  });

const cancel = { action: "cancel", effective_at: "2026-06-01T10:00:00.500000Z", resume_at: null };

/** The same with a scheduled end. */
export const ending = (more: object = {}) =>
  subscription({ scheduled_change: cancel, next_billed_at: null, ...more });

/** A transaction of the subscription: 432.00 and tax. */
export const transaction = (more: object = {}, total = "46980") => ({
  id: "txn_1",
  status: "completed",
  customer_id: "ctm_1",
  address_id: "add_1",
  business_id: null,
  currency_code: "USD",
  origin: "subscription_recurring",
  subscription_id: "sub_1",
  invoice_id: null,
  collection_mode: "automatic",
  discount_id: null,
  custom_data: null,
  billed_at: "2026-05-01T10:00:00Z",
  billing_period: { starts_at: "2026-05-01T10:00:00Z", ends_at: "2026-06-01T10:00:00Z" },
  items: [
    { price: { id: "pri_setup", name: "Set-up", billing_cycle: null }, quantity: 1, proration: null },
    {
      price: { id: "pri_seats", name: "Monthly", billing_cycle: { interval: "month", frequency: 1 } },
      quantity: 10,
      proration: null,
    },
  ],
  details: {
    totals: {
      subtotal: "43200",
      discount: "0",
      tax: "3780",
      total: "46980",
      credit: "0",
      balance: "0",
      grand_total: total,
      fee: "2399",
      earnings: "40801",
      currency_code: "USD",
    },
    line_items: [
      { id: "txnitm_1", price_id: "pri_setup", quantity: 1, product: { id: "pro_setup", name: "Set-up" } },
      { id: "txnitm_2", price_id: "pri_seats", quantity: 10, product: { id: "pro_team", name: "Team" } },
    ],
  },
  payments: [
    { amount: total, status: "captured", error_code: null, captured_at: "2026-05-01T10:00:00Z" },
    { amount: total, status: "error", error_code: "declined", captured_at: null },
  ],
  ...more,
});

/** A transaction that two attempts could not pay. */
export const unpaid = () =>
  transaction({
    id: "txn_2",
    status: "past_due",
    billed_at: null,
    payments: [
      { amount: "46980", status: "error", error_code: "expired_card", captured_at: null },
      { amount: "46980", status: "error", error_code: "declined", captured_at: null },
    ],
  });

export const adjustment = (more: object = {}) => ({
  id: "adj_1",
  action: "refund",
  type: "partial",
  reason: "requested",
  status: "approved",
  customer_id: "ctm_1",
  subscription_id: "sub_1",
  transaction_id: "txn_1",
  currency_code: "USD",
  totals: { subtotal: "920", tax: "80", total: "1000", fee: "50", earnings: "870", currency_code: "USD" },
  items: [],
  created_at: "2026-05-02T10:00:00Z",
  updated_at: "2026-05-02T10:00:00Z",
  ...more,
});
