/** The module's interface: subscriptions from billing events, and the figures of MRR. */

export { type Balances, balancesOf, type MrrChange } from "./figures/balances.ts";
export { CohortChance, type KeptMrr, keptMrrOf } from "./figures/kept-mrr.ts";
export { type Movement, type Movements, movementsOf, sumOfMovements } from "./figures/movements.ts";
export {
  expectedLossOfPayer,
  type PayerNow,
  type PayerStatus,
  payerNow,
  type SubscriptionState,
} from "./figures/payer-now.ts";
export { conversionAt, minorUnitRate } from "./figures/rates.ts";
export { type RevenueRetention, ratiosOf, retentionBetween } from "./figures/retention.ts";
export {
  type Calibration,
  drawnRecalibrations,
  type Exposure,
  expectedLossOf,
  revenueAtRisk,
} from "./figures/revenue-at-risk.ts";
export {
  type BillingEvent,
  type BillingProperties,
  billingProperties,
} from "./subscriptions/billing-event.ts";
export { changesOf, isUnconfirmed, type Payer, type SubscriptionChange } from "./subscriptions/changes.ts";
export { type HistoryEntry, historyOf } from "./subscriptions/history.ts";
