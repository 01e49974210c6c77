/** Webhooks of Polar, with the fields of https://docs.polar.sh/api-reference. */

/** A webhook of this type. */
export function polarEvent(type: string, data: object, timestamp = "2026-05-01T10:00:00.123456Z") {
  return { type, timestamp, data };
}

export const customer = (more: object = {}) => ({
  id: "cus-1",
  created_at: "2026-05-01T09:00:00Z",
  modified_at: null,
  metadata: {},
  external_id: null,
  email: "ada@example.com",
  email_verified: true,
  name: "Ada Park",
  organization_id: "org",
  ...more,
});

/** A subscription of five seats: 100.00 a month. */
export const subscription = (more: object = {}) => ({
  id: "sub-1",
  created_at: "2026-05-01T10:00:00Z",
  modified_at: "2026-05-01T10:00:00.000500Z",
  amount: 10_000,
  currency: "usd",
  recurring_interval: "month",
  recurring_interval_count: 1,
  seats: 5,
  status: "active",
  current_period_start: "2026-05-01T10:00:00Z",
  current_period_end: "2026-06-01T10:00:00Z",
  cancel_at_period_end: false,
  canceled_at: null,
  started_at: "2026-05-01T10:00:00Z",
  ends_at: null,
  ended_at: null,
  trial_start: null,
  trial_end: null,
  customer_id: "cus-1",
  product_id: "prod-1",
  discount_id: null,
  checkout_id: null,
  customer_cancellation_reason: null,
  metadata: {},
  customer_cancellation_comment: null,
  customer: customer(),
  discount: null,
  meters: [],
  product: { id: "prod-1", name: "Team", recurring_interval: "month", is_recurring: true },
  ...more,
});

/** The subscription in its trial of ten days. */
export const trialing = (more: object = {}) =>
  subscription({
    status: "trialing",
    trial_start: "2026-05-01T10:00:00Z",
    trial_end: "2026-05-11T10:00:00Z",
    current_period_end: "2026-05-11T10:00:00Z",
    ...more,
  });

/** The subscription with a scheduled end. */
export const ending = (more: object = {}) =>
  subscription({
    cancel_at_period_end: true,
    canceled_at: "2026-05-10T10:00:00Z",
    ends_at: "2026-06-01T10:00:00Z",
    customer_cancellation_reason: "too_expensive",
    customer_cancellation_comment: "See you",
    ...more,
  });

/** An order of the subscription: 100.00 and 19.00 of tax. */
export const order = (more: object = {}) => ({
  id: "ord-1",
  created_at: "2026-05-01T10:00:00Z",
  modified_at: null,
  status: "paid",
  paid: true,
  subtotal_amount: 10_000,
  discount_amount: 0,
  net_amount: 10_000,
  tax_amount: 1_900,
  total_amount: 11_900,
  refunded_amount: 0,
  refunded_tax_amount: 0,
  currency: "usd",
  billing_reason: "subscription_create",
  customer_id: "cus-1",
  product_id: "prod-1",
  subscription_id: "sub-1",
  metadata: {},
  customer: customer(),
  product: { id: "prod-1", name: "Team" },
  items: [],
  ...more,
});

export const refund = (more: object = {}) => ({
  id: "ref-1",
  created_at: "2026-05-02T10:00:00Z",
  modified_at: null,
  status: "succeeded",
  reason: "customer_request",
  amount: 1_000,
  tax_amount: 190,
  currency: "usd",
  organization_id: "org",
  order_id: "ord-1",
  subscription_id: "sub-1",
  customer_id: "cus-1",
  metadata: {},
  ...more,
});
