/** Filters of lists by subscriptions, in the address. */
import { choiceFilter, optionalNumberFilter, textFilter } from "../list/filters.ts";
import type { SubscriptionStatus } from "./words.tsx";

/** In the order of the choice. */
export const statuses: readonly SubscriptionStatus[] = [
  "active",
  "trialing",
  "past_due",
  "paused",
  "canceling",
  "canceled",
  "trial_lost",
] as const;

/** Amounts are in minor units of the reporting currency, as in the API. */
export const billingFilters = {
  mrrFrom: optionalNumberFilter(Number.MAX_SAFE_INTEGER),
  mrrTo: optionalNumberFilter(Number.MAX_SAFE_INTEGER),
  subscriptionPlan: textFilter(),
  subscriptionStatus: choiceFilter<SubscriptionStatus | "">(["", ...statuses], ""),
  renewsWithinDays: optionalNumberFilter(3_650),
};

/** The orders of lists by subscriptions. */
export const billingSorts = ["mrr", "renewsAt", "expectedLoss"] as const;
