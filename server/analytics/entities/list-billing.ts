/** What payers pay beside the rows of a list, by which lists are filtered and sorted. */
import type { EntityKind } from "../../scoring/scoring.ts";
import { type PayerNow, type PayerStatus, type PayersQuestion, payersNow } from "../revenue/payers-now.ts";
import { localDay, type Sql, zoneParameters } from "../sql/sql.ts";
import { condition } from "./list-scores.ts";

/** The payers of a list. */
export interface BillingOfList {
  /** Undefined without subscriptions of this kind: then no row has any of it. */
  readonly payers?: PayersQuestion | undefined;
  /** Whether the churn risk is that of losing the subscription. Otherwise no row has an expected loss. */
  readonly isOfSubscription?: boolean;
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

/** The orders by what payers pay. */
export const billingSorts = ["mrr", "renewsAt", "expectedLoss"] as const;
type BillingSort = (typeof billingSorts)[number];

/** Null for a row without a subscription, but for the day of renewal: an attribute of the account says it, too. */
export type BillingOfRow = PayerNow;

/** The alias of the payers in a list's query, as an order or a condition names them. */
const alias = "payer.";

/** The expression of an order. Without subscriptions all rows are equal. */
export function billingOrder(
  sort: BillingSort,
  { payers, isOfSubscription }: BillingOfList,
  kind: EntityKind,
): string {
  if (payers === undefined) return nothing;
  if (sort === "renewsAt") return renewsDay(kind, "a.traits");
  if (sort === "mrr") return `${alias}mrr`;
  return isOfSubscription === true ? `score.risk * ${alias}mrr` : nothing;
}

const nothing = "CAST(NULL AS Nullable(Float64))";

/** Whether a sort is by what payers pay. */
export function isBillingSort(sort: unknown): sort is BillingSort {
  return billingSorts.some((one) => one === sort);
}

/** The day of the next renewal, in days since 1970-01-01. The account's attribute `renewsAt` overrides the end of the current period.
 * Queries bind the timezone's transitions. @param traits the column of the account's attributes */
export function renewsDay(kind: EntityKind, traits: string): string {
  const ofPeriod = `${alias}renewsDay`;
  if (kind === "user") return ofPeriod;
  const text = `if(position(${traits}, '"renewsAt":') > 0, JSONExtractString(${traits}, 'renewsAt'), '')`;
  const time = `parseDateTime64BestEffortOrNull(${text}, 3, 'UTC')`;
  // A date is a day by itself. A date-time is an instant of a day in the organization's timezone.
  return `ifNull(
    multiIf(${text} = '', NULL, length(${text}) = 10, toInt32(toDate32OrNull(${text})),
      ${localDay(`intDiv(toUnixTimestamp64Milli(ifNull(${time}, toDateTime64(0, 3, 'UTC'))), 1000)`)}),
    ${ofPeriod})`;
}

/** The columns that `payer` adds to a row of a list; none without subscriptions. */
export function billingColumns({ payers }: BillingOfList, kind: EntityKind): string {
  if (payers === undefined) return "";
  const columns = [
    "mrr",
    "unratedMrr",
    "plan",
    "subscriptions",
    "subscriptionStatus",
    "subscriptionEndsAtMs",
  ];
  return `, ${columns.map((column) => `${alias}${column} AS ${column}`).join(", ")}, ${renewsDay(kind, "a.traits")} AS renewsDay`;
}

/** Joins the payers of a list's rows as `payer`. @param which of them, as a condition on their numbers */
export function joinedPayers(
  payers: PayersQuestion,
  entity: string,
  which?: (payers: string) => string,
): Sql {
  const { text, parameters } = payersNow(payers, which);
  return condition(`LEFT JOIN ${text} AS payer ON payer.entity = ${entity}`, parameters);
}

/** The same where any of the expressions reads the payers. */
export function payersJoined(
  { payers }: BillingOfList,
  entity: string,
  expressions: readonly string[],
): Sql[] {
  if (payers === undefined || !expressions.some((text) => text.includes(alias))) return [];
  return [joinedPayers(payers, entity)];
}

/** The conditions of a filter on `payer`. Without subscriptions nothing matches. */
export function billingConditions(
  filter: BillingFilter & BillingOfList & { readonly toDay: number },
  kind: EntityKind,
): Sql[] {
  const { mrrFrom, mrrTo, subscriptionPlan, subscriptionStatus, renewsWithinDays, payers, toDay } = filter;
  const sent = [mrrFrom, mrrTo, subscriptionPlan, subscriptionStatus, renewsWithinDays];
  if (sent.every((one) => one === undefined)) return [];
  if (payers === undefined) return [condition("false")];
  const day = renewsDay(kind, "a.traits");
  return [
    ...(mrrFrom === undefined
      ? []
      : [condition(`ifNull(${alias}mrr >= {mrrFrom:Int64}, false)`, { mrrFrom })]),
    ...(mrrTo === undefined ? [] : [condition(`ifNull(${alias}mrr <= {mrrTo:Int64}, false)`, { mrrTo })]),
    ...(subscriptionPlan === undefined
      ? []
      : [condition(`has(${alias}plans, {subscriptionPlan:String})`, { subscriptionPlan })]),
    ...(subscriptionStatus === undefined
      ? []
      : [
          condition(`ifNull(${alias}subscriptionStatus = {subscriptionStatus:String}, false)`, {
            subscriptionStatus,
          }),
        ]),
    ...(renewsWithinDays === undefined
      ? []
      : [
          condition(
            `ifNull(${day} BETWEEN {toDay:Int32} AND {toDay:Int32} + {renewsWithinDays:Int32}, false)`,
            {
              renewsWithinDays,
              toDay,
              ...zoneParameters(payers.transitions),
            },
          ),
        ]),
  ];
}
