/** Payers by MRR, plan and status as of past days, from the histories of their subscriptions. */
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { type BillingFilter, billingConditions } from "../../entities/list-billing.ts";
import { joinedSql } from "../../entities/list-scores.ts";
import { type PastPayerColumn, type PayersQuestion, payersOfPast } from "../../revenue/payers-now.ts";
import type { Sql } from "../../sql.ts";
import { DaySets } from "./day-sets.ts";
import {
  bitsBelow,
  bitsBetween,
  daySetsOf,
  type PastDays,
  placeAfter,
  placeParameters,
} from "./past-days.ts";

/** The conditions that stay the same between two changes: a renewal comes nearer each day. */
type PastBilling = Omit<BillingFilter, "renewsWithinDays">;

export interface PastPayers extends PastDays {
  /** Undefined without subscriptions of this kind: then no row matches. */
  readonly payers: PayersQuestion | undefined;
  /** The highest number, and one. */
  readonly entities: number;
}

const columns: readonly PastPayerColumn[] = ["mrr", "plans", "status"];

/** Payers of whom all conditions hold at the start of a day; undefined without a condition. */
export async function payersInPast(
  warehouse: Warehouse,
  past: PastPayers,
  { mrrFrom, mrrTo, subscriptionPlan, subscriptionStatus }: PastBilling,
): Promise<DaySets | undefined> {
  const { payers, entities } = past;
  const filter = { mrrFrom, mrrTo, subscriptionPlan, subscriptionStatus };
  const conditions = billingConditions(filter, payers?.kind ?? "account", 0);
  if (conditions.length === 0) return undefined;
  if (payers === undefined) return new DaySets(entities);
  const all = joinedSql(conditions, " AND ");
  const read = columns.filter((column) => all.text.includes(`payer.${column}`));
  const { text, parameters } = payersOfPast(payers, read, historiesOf(past, payers));
  return daySetsOf(warehouse, entities, {
    text: `
      SELECT payer.entity AS entity, groupBitOr(${bitsBetween("payer.span.1", "payer.span.2")}) AS bits
      FROM ${text} AS payer WHERE ${all.text} GROUP BY entity`,
    parameters: { ...parameters, ...all.parameters, ...bitsBelow(past) },
  });
}

/** Subscriptions at each place at which any subscription of their payer changed. Between two of them the
 * payer stays the same, so a row for each day is not needed. A subscription that passed to another payer is
 * read for both, and counts for the payer of the time. */
export function historiesOf(past: PastDays, { kind, organization }: PayersQuestion): Sql {
  const payers = kind === "account" ? "payer_account" : "payer_user";
  const stored = `
    SELECT *, arrayJoin(arrayDistinct(${payers})) AS payer
    FROM subscriptions FINAL WHERE organization = {organization:UInt32}`;
  const place = placeAfter("toUnixTimestamp64Milli(start)");
  return {
    text: `
      SELECT *, arrayLastIndex(start -> toUnixTimestamp64Milli(start) <= {startsMs:Array(Int64)}[span.1 + 1], "from") AS place
      FROM (
        SELECT stored.*, arrayJoin(arrayZip(of_payer.places, of_payer.ends)) AS span
        FROM (${stored}) AS stored
        INNER JOIN (
          SELECT payer,
            arraySort(arrayDistinct(arrayFilter(place -> place < {days:UInt8},
              arrayPushFront(groupUniqArrayArray(arrayMap(start -> toUInt8(${place}), "from")), toUInt8(0))))) AS places,
            arrayPushBack(arrayPopFront(places), {days:UInt8}) AS ends
          FROM (${stored}) WHERE payer != 0 GROUP BY payer) AS of_payer
        ON of_payer.payer = stored.payer)
      WHERE ${payers}[place] = payer`,
    parameters: { ...placeParameters(past), organization, days: past.days.length },
  };
}
