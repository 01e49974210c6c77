/** Payers by MRR, plan and status as of past days, from the histories of their subscriptions. */
import type { Warehouse } from "../../../warehouse/warehouse.ts";
import { type BillingFilter, billingConditions, columnsIn } from "../../entities/list-billing.ts";
import { joinedSql } from "../../entities/list-scores.ts";
import { type PayersQuestion, payersSql } from "../../revenue/payers-now.ts";
import { DaySets } from "./day-sets.ts";
import { bitsOf, daySetsOf, type PastDays } from "./past-days.ts";

/** The conditions that follow from the histories alone: a renewal follows from an attribute of the account, too. */
type PastBilling = Omit<BillingFilter, "renewsWithinDays">;

export interface PastPayers extends PastDays {
  /** Undefined without subscriptions of this kind: then no row matches. */
  readonly payers: PayersQuestion | undefined;
  /** The highest number, and one. */
  readonly entities: number;
}

/** Payers of whom all conditions hold at the start of a day; undefined without a condition. */
export async function payersInPast(
  warehouse: Warehouse,
  past: PastPayers,
  { mrrFrom, mrrTo, subscriptionPlan, subscriptionStatus }: PastBilling,
): Promise<DaySets | undefined> {
  const { payers, entities, startsMs, days } = past;
  const filter = { mrrFrom, mrrTo, subscriptionPlan, subscriptionStatus };
  const conditions = billingConditions(filter, payers?.kind ?? "account", 0);
  if (conditions.length === 0) return undefined;
  if (payers === undefined) return new DaySets(entities);
  const all = joinedSql(conditions, " AND ");
  const { text, parameters } = payersSql(payers, columnsIn(all.text), { asOfMs: startsMs });
  return daySetsOf(warehouse, entities, {
    text: `
      SELECT payer.entity AS entity, groupBitOr({bits:Array(UInt128)}[indexOf({asOfMs:Array(Int64)}, payer.asOf)]) AS bits
      FROM ${text} AS payer WHERE ${all.text} GROUP BY entity`,
    parameters: {
      ...{ ...parameters, ...all.parameters },
      bits: days.map((day) => bitsOf({ days }, (each) => each === day)),
    },
  });
}
