/** How many subscriptions billing events have told of. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";

/** All subscriptions of an organization, also those that have ended. */
export async function subscriptionCount(warehouse: Warehouse, organization: number): Promise<number> {
  const [row] = await warehouse.rows<{ subscriptions: number }>(
    `SELECT uniqExact(subscription) AS subscriptions FROM subscriptions
     WHERE organization = {organization:UInt32}`,
    { organization },
  );
  return row?.subscriptions ?? 0;
}
