/** The texts of billing tools that are read by a preset. Their events do not count as activity. */
import type { WebhookPreset } from "../../../contract/source-settings.ts";
import type { Meaning } from "./clients.ts";

interface PresetTexts {
  readonly preset: WebhookPreset;
  readonly tool: string;
  /** Where the address goes. */
  readonly place: string;
  /** The events to switch on there. */
  readonly events: string;
  readonly user: string;
  readonly amounts: string;
  readonly secret: string;
  readonly secretHelp: string;
  /** The sentence about verified requests, with the end of the secret. */
  readonly verified: (lastFour: string) => string;
  /** Its types and the events here. */
  readonly meanings: readonly Meaning[];
}

/** Of every tool. */
const others: readonly Meaning[] = [
  [
    "the subscription in each",
    "The traits plan, planAmount, planCurrency, planInterval, subscriptionStatus, subscriptionEndsAt",
  ],
  ["a status in each, also past due without a failed charge", "The subscription's status"],
  ["a customer who matches no user", "Held for up to 30 days"],
  ["all of these events", "Do not count as activity"],
  ["all others", "Ignored"],
];

export const presetTexts: Readonly<Record<WebhookPreset, PresetTexts>> = {
  paddle: {
    preset: "paddle",
    tool: "Paddle",
    place:
      "In Paddle Billing, under Developer tools, Notifications: add a destination of the type URL with the address.",
    events:
      "All events of customer and subscription, and transaction.completed, transaction.payment_failed, transaction.past_due, adjustment.created, adjustment.updated.",
    user: "custom_data.user_id of the subscription or the customer. Otherwise the user with the customer's e-mail address. custom_data.account_id is the account.",
    amounts:
      "Plan amounts are the prices of all recurring items. Paddle sends no amount of a subscription's discount, and does not say whether prices include tax. Simulated notifications are ignored. Paddle's sandbox is told by its addresses alone: connect the live account.",
    secret: "Secret key of the destination",
    secretHelp: "From the destination in Paddle. It begins with pdl_ntfset_.",
    verified: (lastFour) => `Only requests that Paddle signed with …${lastFour} are accepted.`,
    meanings: [
      ["customer.created, customer.updated", "Links the customer to a user. No event."],
      ["subscription.created, subscription.imported", "subscription_started"],
      [
        "subscription.updated, subscription.past_due",
        "subscription_changed, cancellation_scheduled or cancellation_withdrawn",
      ],
      ["subscription.trialing, subscription.activated", "trial_started, trial_converted"],
      [
        "subscription.paused, subscription.resumed, subscription.canceled",
        "subscription_paused, subscription_resumed, subscription_canceled",
      ],
      [
        "transaction.completed, transaction.payment_failed, transaction.past_due",
        "payment_succeeded, payment_failed, payment_overdue",
      ],
      ["adjustment.created, adjustment.updated", "payment_refunded, payment_disputed, once approved"],
      ...others,
    ],
  },
  chargebee: {
    preset: "chargebee",
    tool: "Chargebee",
    place:
      "In Chargebee, under Settings, Configure Chargebee, API Keys and Webhooks, Webhooks: add a webhook with the address and the API version V2.",
    events:
      "customer_created, customer_changed, customer_deleted, all events of subscriptions, invoice_updated, payment_succeeded, payment_failed, payment_refunded, transaction_created.",
    user: "meta_data.user_id or the custom field cf_user_id of the subscription or the customer. Otherwise the user who has the customer's id, or the customer's e-mail address. account_id and cf_account_id are the account.",
    amounts:
      "Plan amounts are those of all recurring items after discounts of the subscription. Coupons have no amounts in Chargebee's events. Metered items count 0. Chargebee does not say what comes from a test site: connect the live one.",
    secret: "Basic authentication",
    secretHelp: "As user:password, as you set them in Chargebee.",
    verified: (lastFour) => `Only requests with the basic authentication …${lastFour} are accepted.`,
    meanings: [
      ["customer_created, customer_changed", "Links the customer to a user. No event."],
      ["subscription_created, _started, _reactivated", "subscription_started"],
      ["subscription_changed, _renewed, _trial_extended", "subscription_changed"],
      ["subscription_activated, _trial_end_reminder", "trial_converted, trial_ending"],
      [
        "subscription_cancellation_scheduled, _scheduled_cancellation_removed",
        "cancellation_scheduled, cancellation_withdrawn",
      ],
      ["subscription_paused, _resumed", "subscription_paused, subscription_resumed"],
      ["subscription_cancelled, _deleted", "subscription_canceled"],
      [
        "payment_succeeded, payment_failed, payment_refunded",
        "payment_succeeded, payment_failed, payment_refunded, with subscription_changed",
      ],
      ["invoice_updated of an invoice that is due", "subscription_changed, past due"],
      ["transaction_created of a payment reversal", "payment_disputed"],
      ...others,
    ],
  },
  revenuecat: {
    preset: "revenuecat",
    tool: "RevenueCat",
    place: "In RevenueCat, under Integrations, Webhooks: add a configuration with the address.",
    events: "All events. Purchases in a sandbox are ignored, unless you take test purchases.",
    user: "The attribute user_id. Otherwise the app user id, unless it is anonymous. Otherwise the user with the attribute $email. The attribute account_id is the account.",
    amounts:
      "The plan amount is the price of the last purchase without tax, by RevenueCat's estimate. The interval is the length of its period.",
    secret: "Authorization header",
    secretHelp: "The value that you set in RevenueCat.",
    verified: (lastFour) => `Only requests with the Authorization header …${lastFour} are accepted.`,
    meanings: [
      ["INITIAL_PURCHASE, RENEWAL", "subscription_started"],
      ["SUBSCRIPTION_EXTENDED", "subscription_changed"],
      ["TRANSFER", "subscription_changed: the subscriptions pass to the other user"],
      ["RENEWAL that converts a trial", "trial_converted"],
      ["RENEWAL of Google's store", "subscription_resumed"],
      ["CANCELLATION, UNCANCELLATION", "cancellation_scheduled, cancellation_withdrawn"],
      ["EXPIRATION", "subscription_canceled, or subscription_paused when the reason is a pause"],
      ["purchases with a price", "payment_succeeded"],
      ["BILLING_ISSUE", "payment_failed"],
      ["CANCELLATION with a negative price", "payment_refunded"],
      ...others,
    ],
  },
  lemonsqueezy: {
    preset: "lemonsqueezy",
    tool: "LemonSqueezy",
    place: "In LemonSqueezy, under Settings, Webhooks: add a webhook with the address and a signing secret.",
    events: "All events whose names begin with subscription_.",
    user: "user_id of the checkout's custom data. Otherwise the user with the customer's e-mail address. account_id of the custom data is the account.",
    amounts:
      "LemonSqueezy's subscriptions have no price. The plan amount is the newest paid invoice of a whole period, after discounts and without tax. The interval is custom data's interval, or a word such as Monthly in the variant's name, or the length of the first period.",
    secret: "Signing secret",
    secretHelp: "As you set it in LemonSqueezy, of at least 8 characters.",
    verified: (lastFour) => `Only requests that LemonSqueezy signed with …${lastFour} are accepted.`,
    meanings: [
      ["subscription_created", "subscription_started"],
      [
        "subscription_updated",
        "subscription_changed, cancellation_scheduled or cancellation_withdrawn, with the status",
      ],
      ["subscription_cancelled, subscription_resumed", "cancellation_scheduled, cancellation_withdrawn"],
      ["subscription_paused, subscription_unpaused", "subscription_paused, subscription_resumed"],
      ["subscription_expired", "subscription_canceled"],
      [
        "subscription_payment_success, subscription_payment_recovered",
        "payment_succeeded, and subscription_changed with the amount",
      ],
      ["subscription_payment_failed, subscription_payment_refunded", "payment_failed, payment_refunded"],
      ["order_created, order_refunded", "Ignored: a subscription's first order has an invoice, too"],
      ...others,
    ],
  },
  polar: {
    preset: "polar",
    tool: "Polar",
    place: "In Polar, under Settings, Webhooks: add an endpoint with the address and the format Raw.",
    events:
      "customer.created, customer.updated, all events of subscriptions, order.paid, refund.created and refund.updated.",
    user: "metadata.user_id of the subscription, the order or the customer. Otherwise the customer's external id, or the user with the customer's e-mail address. metadata.account_id is the account.",
    amounts:
      "Plan amounts are those of fixed prices and seats after discounts that recur, without tax. Metered prices count 0. Polar does not say what comes from its sandbox: connect the live organization.",
    secret: "Secret of the endpoint",
    secretHelp: "As Polar shows it.",
    verified: (lastFour) => `Only requests that Polar signed with …${lastFour} are accepted.`,
    meanings: [
      ["customer.created, customer.updated", "Links the customer to a user. No event."],
      ["subscription.created", "subscription_started"],
      [
        "subscription.active, subscription.updated, subscription.past_due",
        "subscription_changed, cancellation_scheduled or cancellation_withdrawn, with the status",
      ],
      ["subscription.canceled, subscription.uncanceled", "cancellation_scheduled, cancellation_withdrawn"],
      ["subscription.revoked", "subscription_canceled"],
      ["order.paid", "payment_succeeded"],
      ["refund.created, refund.updated", "payment_refunded, once succeeded"],
      ...others,
    ],
  },
};
