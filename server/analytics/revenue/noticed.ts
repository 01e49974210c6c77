/** Subscriptions of which two figures say different things. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { atPlace } from "./payers-now.ts";

export interface Noticed {
  /** With MRR and paid by a user who belongs to an account: their MRR is not the account's. */
  readonly paidByMembers: number;
  /** Active without MRR, of a payer who paid for it before: churned in MRR, and no departure by the churn
   * target `subscription`. */
  readonly freeAfterPaid: number;
}

/** How many there are now of each. @throws WarehouseError */
export async function noticedSubscriptions(
  warehouse: Warehouse,
  organization: number,
  nowMs: number,
): Promise<Noticed> {
  const states = atPlace(
    `mrr[place] AS own_mrr, toString(status[place]) AS state, payer_account[place] AS of_account, payer_user[place] AS of_user,
     arrayLastIndex((one, at) -> at < place AND one = 'canceled', status, arrayEnumerate(status)) AS ended_before,
     arrayExists((one, at) -> at > ended_before AND at < place AND one > 0, mrr, arrayEnumerate(mrr)) AS had_mrr`,
  );
  const [row] = await warehouse.rows<Noticed>(
    `SELECT countIf(own_mrr > 0 AND of_account = 0 AND of_user IN (
         SELECT user FROM users FINAL WHERE organization = {organization:UInt32} AND account != 0)) AS paidByMembers,
       countIf(own_mrr = 0 AND state IN ('active', 'past_due') AND had_mrr) AS freeAfterPaid
     FROM (${states})`,
    { organization, nowMs },
  );
  return row ?? { paidByMembers: 0, freeAfterPaid: 0 };
}
