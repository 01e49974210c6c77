/** The module's interface: subscriptions from billing events. */

export {
  type BillingEvent,
  type BillingProperties,
  billingProperties,
} from "./subscriptions/billing-event.ts";
export {
  changesOf,
  isUnconfirmed,
  type Payer,
  type SubscriptionChange,
} from "./subscriptions/changes.ts";
