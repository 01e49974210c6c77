/** Filters and orders of lists by MRR, plan, status and renewal of subscriptions. */

import type { PayerStatus } from "../../revenue/payer-now.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import { expectedLossSql, type PayerColumn, type PayersQuestion, payersSql } from "../revenue/payers-now.ts";
import { localDay, type Sql, zoneParameters } from "../sql.ts";
import { condition } from "./list-scores.ts";

/** The payers of a list. */
export interface BillingOfList {
  /** Undefined without subscriptions of this kind: then nothing is known of any row. Without its `untilMs` no
   * row has an expected loss. */
  readonly payers?: PayersQuestion | undefined;
}

/** Only rows that match all given conditions. */
export interface BillingFilter {
  /** In minor units of the reporting currency, both included. */
  readonly mrrFrom?: number | undefined;
  readonly mrrTo?: number | undefined;
  /** A plan of any subscription that goes on. */
  readonly subscriptionPlan?: string | undefined;
  readonly subscriptionStatus?: PayerStatus | undefined;
  /** From today on, in days. */
  readonly renewsWithinDays?: number | undefined;
}

export type BillingSort = "mrr" | "renewsAt" | "expectedLoss";

/** Whether a sort reads subscriptions. */
export function isBillingSort(sort: unknown): sort is BillingSort {
  return sort === "mrr" || sort === "renewsAt" || sort === "expectedLoss";
}

/** A join of the payers that an order and the conditions of a filter read, and these. */
export interface BillingSql {
  readonly joins: readonly Sql[];
  readonly conditions: readonly Sql[];
}

const nothing = "CAST(NULL AS Nullable(Float64))";

/** The expression of an order. Without subscriptions all rows are equal. */
export function billingOrder(sort: BillingSort, { payers }: BillingOfList, kind: EntityKind): string {
  if (payers === undefined) return nothing;
  if (sort === "renewsAt") return renewsDay(kind);
  if (sort === "mrr") return "payer.mrr";
  return payers.untilMs === null
    ? nothing
    : expectedLossSql("payer.mrr", "payer.scheduled", "score.risk").loss;
}

/** The day of the next renewal, in days since 1970-01-01. The attribute `renewsAt` of an account overrides
 * the end of a period. */
function renewsDay(kind: EntityKind): string {
  return kind === "user" ? "payer.renewsDay" : `ifNull(${renewsDayOf("listed.traits")}, payer.renewsDay)`;
}

/** The day of the attribute `renewsAt`, null without a valid one. It binds `zoneParameters`. @param traits of
 * an account, an expression */
export function renewsDayOf(traits: string): string {
  const text = `if(position(${traits}, '"renewsAt":') > 0, JSONExtractString(${traits}, 'renewsAt'), '')`;
  const time = `ifNull(parseDateTime64BestEffortOrNull(${text}, 3, 'UTC'), toDateTime64(0, 3, 'UTC'))`;
  // A date is a day by itself. A date-time is an instant of a day in the organization's timezone.
  return `multiIf(${text} = '', NULL, length(${text}) = 10, toInt32(toDate32OrNull(${text})),
    ${localDay(`intDiv(toUnixTimestamp64Milli(${time}), 1000)`)})`;
}

/**
 * The parts of a list's query about payers. Without subscriptions no row matches a filter.
 * @param entity the row's number, an expression
 * @param order the expression of the order
 */
export function billingSql(
  filter: BillingFilter & BillingOfList & { readonly toDay: number },
  kind: EntityKind,
  entity: string,
  order: string,
): BillingSql {
  const { payers, toDay } = filter;
  const conditions = billingConditions(filter, kind, toDay);
  if (payers === undefined) {
    return { joins: [], conditions: conditions.length > 0 ? [condition("false")] : [] };
  }
  const read = [order, ...conditions.map(({ text }) => text)].join(" ");
  const columns = (["mrr", "scheduled", "plans", "status", "renewsDay"] as const).filter((column) =>
    read.includes(`payer.${column}`),
  );
  if (columns.length === 0) return { joins: [], conditions };
  return { joins: [joined(payers, columns, entity)], conditions };
}

function joined(payers: PayersQuestion, columns: readonly PayerColumn[], entity: string): Sql {
  const { text, parameters } = payersSql(payers, columns);
  const zone = columns.includes("renewsDay") ? zoneParameters(payers.transitions) : {};
  return condition(`LEFT JOIN ${text} AS payer ON payer.entity = ${entity}`, { ...parameters, ...zone });
}

/** The conditions of a filter on `payer`. */
function billingConditions(filter: BillingFilter, kind: EntityKind, toDay: number): Sql[] {
  const { mrrFrom, mrrTo, subscriptionPlan, subscriptionStatus, renewsWithinDays } = filter;
  const when = (value: unknown, text: string, parameters: Sql["parameters"]) =>
    value === undefined ? [] : [condition(`ifNull(${text}, false)`, parameters)];
  return [
    ...when(mrrFrom, "payer.mrr >= {mrrFrom:Int64}", { mrrFrom: mrrFrom ?? 0 }),
    ...when(mrrTo, "payer.mrr <= {mrrTo:Int64}", { mrrTo: mrrTo ?? 0 }),
    ...when(subscriptionPlan, "has(payer.plans, {subscriptionPlan:String})", {
      subscriptionPlan: subscriptionPlan ?? "",
    }),
    ...when(subscriptionStatus, "payer.status = {subscriptionStatus:String}", {
      subscriptionStatus: subscriptionStatus ?? "",
    }),
    ...when(
      renewsWithinDays,
      `${renewsDay(kind)} BETWEEN {toDay:Int32} AND {toDay:Int32} + {renewsWithinDays:Int32}`,
      { renewsWithinDays: renewsWithinDays ?? 0, toDay },
    ),
  ];
}
