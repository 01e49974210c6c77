/** The module's interface: subscriptions from billing events, and the figures of MRR. */

export { type Balances, balancesOf, type MrrChange } from "./figures/balances.ts";
export { type Movements, movementsOf, sumOfMovements } from "./figures/movements.ts";
export { conversionAt } from "./figures/rates.ts";
export { retentionBetween } from "./figures/retention.ts";
export {
  type BillingEvent,
  type BillingProperties,
  billingProperties,
} from "./subscriptions/billing-event.ts";
export { changesOf, isUnconfirmed, type Payer, type SubscriptionChange } from "./subscriptions/changes.ts";
