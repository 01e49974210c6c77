/** Compares, for one organization, billing events with the events that they come from, and subscriptions with
 * both. */
import { msPerDay } from "../../calendar/zone.ts";
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";
import { billingEvents } from "../schema/billing-tables.ts";
import { rowsOfRollup } from "../schema/tables.ts";
import { staleSubscriptions, type Whose } from "./subscriptions.ts";

/** Billing events of a UTC day that differ. Counts can agree and be of other events. */
export interface BillingDifference {
  readonly kind: "billing_events";
  readonly utcDay: number;
  readonly events: number;
  readonly rollup: number;
}

/** Subscriptions whose changes are not those of their billing events. */
export interface SubscriptionsDifference {
  readonly kind: "subscriptions";
  readonly subscriptions: number;
}

/** At most this many days are listed. */
const maxDays = 1_000;

/** Days whose billing events differ. @param fromUtcDay the first day whose raw events are complete */
export function billingDifferences(
  warehouse: Warehouse,
  organization: number,
  fromUtcDay: number,
): Promise<BillingDifference[]> {
  const ofDays =
    "organization = {organization:UInt32} AND time >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')";
  const columns = `toInt32(intDiv(toUnixTimestamp64Milli(time), 86400000)) AS utcDay,
    cityHash64(toString(id), subscription, user, account, event, properties) AS hash`;
  return warehouse.rows<BillingDifference>(
    `SELECT 'billing_events' AS kind, utcDay, countIf(isEvent) AS events, countIf(NOT isEvent) AS rollup
     FROM (
       SELECT ${columns}, true AS isEvent FROM (${rowsOfRollup(billingEvents, { and: ofDays })})
       UNION ALL
       SELECT ${columns}, false FROM billing_events FINAL WHERE ${ofDays})
     GROUP BY utcDay
     HAVING events != rollup OR groupBitXor(hash) != 0
     ORDER BY utcDay LIMIT ${maxDays}`,
    { organization, fromMs: fromUtcDay * msPerDay },
    noLimitOfTime,
  );
}

/** The number of subscriptions whose changes are not those of their billing events; nothing when there are
 * none. */
export async function subscriptionDifferences(
  warehouse: Warehouse,
  whose: Whose,
): Promise<SubscriptionsDifference[]> {
  const stale = await staleSubscriptions(warehouse, whose, { after: "", upto: undefined });
  return stale.length === 0 ? [] : [{ kind: "subscriptions", subscriptions: stale.length }];
}
