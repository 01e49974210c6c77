/** The plan of a subscription, in the terms of billing events. */
import type { JsonObject } from "../../../contract/json.ts";
import { defined } from "./fields.ts";

/** The price and name of a subscription. Values that the payload lacks are undefined. */
export interface Plan {
  readonly name: string | undefined;
  /** For one interval and the whole quantity, in the currency's minor units. */
  readonly amount: number | undefined;
  readonly currency: string | undefined;
  /** `month`, or `3 months`. */
  readonly interval: string | undefined;
  readonly quantity: number | undefined;
}

/** The traits of a user with a plan. @param status of the subscription, as the tool names it */
export function planTraits(
  { name, amount, currency, interval }: Plan,
  status: string | undefined,
): JsonObject {
  return defined({
    plan: name,
    planAmount: amount,
    planCurrency: currency,
    planInterval: interval,
    subscriptionStatus: status,
  });
}

/** The traits of a user whose subscription has ended. Null, not "free": a free plan may not exist. */
export function endedTraits(status: string | undefined): JsonObject {
  return {
    plan: null,
    planAmount: null,
    planCurrency: null,
    planInterval: null,
    ...defined({ subscriptionStatus: status }),
  };
}
