/** Webhooks of LemonSqueezy, with the fields of https://docs.lemonsqueezy.com/api. */

/** A webhook of this type. @param data the object */
export function lemonsqueezyEvent(type: string, data: object, meta: object = {}) {
  return { meta: { event_name: type, test_mode: false, custom_data: {}, ...meta }, data };
}

/** A subscription of three seats, in its first month. */
export const subscription = (more: object = {}) => ({
  type: "subscriptions",
  id: "11",
  attributes: {
    store_id: 1,
    customer_id: 71,
    order_id: 5,
    order_item_id: 6,
    product_id: 7,
    variant_id: 8,
    product_name: "Team",
    variant_name: "Monthly",
    user_name: "Ada Park",
    user_email: "ada@example.com",
    status: "active",
    status_formatted: "Active",
    card_brand: "visa",
    card_last_four: "4242",
    pause: null,
    cancelled: false,
    trial_ends_at: null,
    billing_anchor: 1,
    urls: { customer_portal: "https://x.example" },
    first_subscription_item: { id: 9, subscription_id: 11, price_id: 3, quantity: 3, is_usage_based: false },
    renews_at: "2026-06-01T10:00:00.000000Z",
    ends_at: null,
    test_mode: false,
    created_at: "2026-05-01T10:00:00.000000Z",
    updated_at: "2026-05-01T10:00:00.000000Z",
    ...more,
  },
});

/** The subscription in its trial of ten days. */
export const trialing = (more: object = {}) =>
  subscription({
    status: "on_trial",
    first_subscription_item: null,
    trial_ends_at: "2026-05-11T10:00:00.000000Z",
    renews_at: "2026-05-11T10:00:00.000000Z",
    ...more,
  });

/** The subscription after its cancellation, until its end. */
export const ending = (more: object = {}) =>
  subscription({ status: "cancelled", cancelled: true, ends_at: "2026-06-01T10:00:00.000000Z", ...more });

/** An invoice of 147.00 and 27.93 of tax. */
export const invoice = (more: object = {}) => ({
  type: "subscription-invoices",
  id: "21",
  attributes: {
    store_id: 1,
    subscription_id: 11,
    customer_id: 71,
    user_name: "Ada Park",
    user_email: "ada@example.com",
    billing_reason: "initial",
    card_brand: "visa",
    card_last_four: "4242",
    currency: "EUR",
    currency_rate: "1.08",
    status: "paid",
    status_formatted: "Paid",
    refunded: false,
    refunded_at: null,
    subtotal: 15_000,
    discount_total: 300,
    tax: 2_793,
    tax_inclusive: false,
    total: 17_493,
    refunded_amount: 0,
    test_mode: false,
    created_at: "2026-05-01T10:00:00.000000Z",
    updated_at: "2026-05-01T10:00:01.000000Z",
    ...more,
  },
});
