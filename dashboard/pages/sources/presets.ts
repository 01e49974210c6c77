/** The texts of billing tools that are read by a preset: how each is connected, and how its amounts are read. */
import type { WebhookPreset } from "../../../contract/source-settings.ts";

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
}

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
      "Plan amounts are the prices of all recurring items. Paddle sends no amount of a subscription's discount, and does not say whether prices include tax.",
    secret: "Secret key of the destination",
    secretHelp: "From the destination in Paddle. It begins with pdl_ntfset_.",
    verified: (lastFour) => `Only requests that Paddle signed with …${lastFour} are accepted.`,
  },
  chargebee: {
    preset: "chargebee",
    tool: "Chargebee",
    place:
      "In Chargebee, under Settings, Configure Chargebee, API Keys and Webhooks, Webhooks: add a webhook with the address and the API version V2.",
    events:
      "customer_created, customer_changed, customer_deleted, all events of subscriptions, payment_succeeded, payment_failed, payment_refunded, transaction_created.",
    user: "meta_data.user_id or the custom field cf_user_id of the subscription or the customer. Otherwise the user who has the customer's id, or the customer's e-mail address. account_id and cf_account_id are the account.",
    amounts:
      "Plan amounts are those of all recurring items after discounts of the subscription. Coupons have no amounts in Chargebee's events. Metered items count 0.",
    secret: "Basic authentication",
    secretHelp: "As user:password, as you set them in Chargebee.",
    verified: (lastFour) => `Only requests with the basic authentication …${lastFour} are accepted.`,
  },
  revenuecat: {
    preset: "revenuecat",
    tool: "RevenueCat",
    place: "In RevenueCat, under Integrations, Webhooks: add a configuration with the address.",
    events: "All events, of production only. Purchases in a sandbox are ignored.",
    user: "The attribute user_id. Otherwise the app user id, unless it is anonymous. Otherwise the user with the attribute $email. The attribute account_id is the account.",
    amounts:
      "The plan amount is the price of the last purchase without tax, by RevenueCat's estimate. The interval is the length of its period.",
    secret: "Authorization header",
    secretHelp: "The value that you set in RevenueCat.",
    verified: (lastFour) => `Only requests with the Authorization header …${lastFour} are accepted.`,
  },
};
