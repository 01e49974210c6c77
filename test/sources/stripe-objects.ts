/** Objects of Stripe's, as its own package types them: of each what its webhooks always say. */
import Stripe from "stripe";

export const signingSecret = "whsec_testsecretofthesetests";

/** Half past nine on a day in May. */
export const startSeconds = Date.UTC(2026, 4, 17, 9, 30) / 1_000;

/** The header that Stripe would send with this body. */
export function signed(payload: string, secret = signingSecret, timestamp = Math.floor(Date.now() / 1_000)) {
  return Stripe.webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp });
}

export function price(more: Partial<Stripe.Price> = {}) {
  return {
    id: "price_team_month",
    object: "price",
    active: true,
    currency: "eur",
    lookup_key: "team-monthly",
    metadata: {},
    nickname: "Team",
    product: "prod_team",
    recurring: {
      interval: "month",
      interval_count: 1,
      usage_type: "licensed",
      meter: null,
      trial_period_days: null,
    },
    type: "recurring",
    unit_amount: 4_900,
    ...more,
  } satisfies Partial<Stripe.Price>;
}

export function subscriptionItem(more: Partial<Stripe.SubscriptionItem> = {}, itsPrice: object = price()) {
  return {
    id: "si_1",
    object: "subscription_item",
    created: startSeconds,
    current_period_start: startSeconds,
    current_period_end: startSeconds + 30 * 86_400,
    metadata: {},
    price: itsPrice as Stripe.Price,
    quantity: 1,
    subscription: "sub_1",
    ...more,
  } satisfies Partial<Stripe.SubscriptionItem>;
}

export function subscription(
  more: Partial<Stripe.Subscription> = {},
  items: object[] = [subscriptionItem()],
) {
  return {
    id: "sub_1",
    object: "subscription",
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    created: startSeconds,
    currency: "eur",
    customer: "cus_1",
    ended_at: null,
    items: listOf<Stripe.SubscriptionItem>(items),
    livemode: true,
    metadata: {},
    pause_collection: null,
    start_date: startSeconds,
    status: "active",
    trial_end: null,
    trial_start: null,
    ...more,
  } satisfies Partial<Stripe.Subscription>;
}

export function customer(more: Partial<Stripe.Customer> = {}) {
  return {
    id: "cus_1",
    object: "customer",
    balance: 0,
    created: startSeconds,
    description: null,
    email: "ada@example.com",
    livemode: true,
    metadata: {},
    name: "Ada Lovelace",
    ...more,
  } satisfies Partial<Stripe.Customer>;
}

export function invoice(more: Partial<Stripe.Invoice> = {}) {
  return {
    id: "in_1",
    object: "invoice",
    amount_due: 4_900,
    amount_paid: 4_900,
    amount_remaining: 0,
    attempt_count: 1,
    billing_reason: "subscription_cycle",
    created: startSeconds,
    currency: "eur",
    customer: "cus_1",
    customer_email: "ada@example.com",
    lines: listOf<Stripe.InvoiceLineItem>([]),
    livemode: true,
    metadata: {},
    next_payment_attempt: null,
    parent: {
      type: "subscription_details",
      quote_details: null,
      subscription_details: { metadata: {}, subscription: "sub_1" },
    },
    status: "paid",
    total: 4_900,
    ...more,
  } satisfies Partial<Stripe.Invoice>;
}

export function session(more: Partial<Stripe.Checkout.Session> = {}) {
  return {
    id: "cs_1",
    object: "checkout.session",
    amount_total: 4_900,
    client_reference_id: null,
    currency: "eur",
    customer: "cus_1",
    customer_email: null,
    livemode: true,
    metadata: {},
    mode: "subscription",
    payment_status: "paid",
    status: "complete",
    subscription: "sub_1",
    ...more,
  } satisfies Partial<Stripe.Checkout.Session>;
}

export function charge(more: Partial<Stripe.Charge> = {}) {
  return {
    id: "ch_1",
    object: "charge",
    amount: 4_900,
    amount_refunded: 1_500,
    currency: "eur",
    customer: "cus_1",
    livemode: true,
    metadata: {},
    receipt_email: null,
    refunded: false,
    status: "succeeded",
    ...more,
  } satisfies Partial<Stripe.Charge>;
}

export function dispute(more: Partial<Stripe.Dispute> = {}) {
  return {
    id: "dp_1",
    object: "dispute",
    amount: 4_900,
    charge: "ch_1",
    currency: "eur",
    livemode: true,
    metadata: {},
    reason: "fraudulent",
    status: "needs_response",
    ...more,
  } satisfies Partial<Stripe.Dispute>;
}

/** An event. By default its id is made of its type and time. */
export function stripeEvent(
  type: Stripe.Event["type"],
  object: object,
  { before, id, created = startSeconds }: { before?: object; id?: string; created?: number } = {},
) {
  return {
    id: id ?? `evt_${type.replaceAll(".", "_")}_${created}`,
    object: "event",
    api_version: Stripe.API_VERSION,
    created,
    data: { object, ...(before && { previous_attributes: before }) },
    livemode: true,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  };
}

function listOf<Item>(data: object[]): Stripe.ApiList<Item> {
  return { object: "list", data: data as Item[], has_more: false, url: "/v1/list" };
}
