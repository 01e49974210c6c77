/**
 * What payers pay now: a row for each account, or for each user who pays without one, that ever had a subscription. It follows from
 * the histories in `subscriptions` at one instant. MRR is that of `balancesOf` (revenue/figures/balances.ts). Decision 0081 has the rules.
 */
import type { subscriptionStatuses } from "../../../contract/billing/payers.ts";
import type { OffsetTransition } from "../../calendar/calendar.ts";
import type { EntityKind } from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { localDay, type Sql, zoneParameters } from "../sql/sql.ts";
import { halfEven, payerOf, type RevenueQuestion, rateParameters, unratedOf } from "./steps.ts";

export type PayerStatus = (typeof subscriptionStatuses)[number];

export interface PayersQuestion extends RevenueQuestion {
  /** Accounts, or users who pay without one. */
  readonly kind: EntityKind;
  readonly nowMs: number;
  /** Of the organization's timezone: renewals are days. */
  readonly transitions: readonly OffsetTransition[];
}

/** Whether any subscription is paid by an account, or by a user without one. */
export async function hasPayers(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
): Promise<boolean> {
  const isOfKind = kind === "account" ? "payer != 0" : "payer = 0";
  const rows = await warehouse.rows(
    `SELECT subscription FROM subscriptions
     WHERE ${ofOrganization} AND arrayExists(payer -> ${isOfKind}, payer_account) LIMIT 1`,
    { organization },
  );
  return rows.length > 0;
}

/** The columns of a payer, null for rows that a join does not find. */
export interface PayerNow {
  /** In minor units of the reporting currency. Null for payers that ever had MRR in a currency without a rate. */
  readonly mrr: number | null;
  /** Of these payers, by currency and in its minor units. */
  readonly unratedMrr: readonly (readonly [currency: string, mrr: number])[];
  /** Of the subscription with the highest MRR, of those that go on; null without one. */
  readonly plan: string | null;
  /** Subscriptions that go on. */
  readonly subscriptions: number | null;
  readonly subscriptionStatus: PayerStatus | null;
  /** The first end of a period after which a subscription goes on, in days since 1970-01-01. */
  readonly renewsDay: number | null;
  /** The last of the scheduled ends, when all that go on have one. */
  readonly subscriptionEndsAtMs: number | null;
}

const ofOrganization = "organization = {organization:UInt32}";
const millisecondsOf = (time: string) => `toUnixTimestamp64Milli(${time})`;

/**
 * A subquery (entity, the columns of `PayerNow`, plans). `plans` are those of the subscriptions that go on.
 * @param which a condition on `payer`, the column of the entities' numbers: then only their subscriptions are read
 */
export function payersNow(question: PayersQuestion, which?: (payers: string) => string): Sql {
  const { kind, nowMs, transitions, organization } = question;
  const unrated = unratedOf(question);
  const now = subscriptionsNow(question, which);
  const isUnrated = unrated.length === 0 ? "false" : `payer IN (${payersInUnrated})`;
  const goesOn = "state != 'canceled'";
  const renews = "state IN ('active', 'past_due', 'trialing') AND isNull(endsMs)";
  return {
    text: `(
      SELECT toUInt32(bitAnd(payer, 4294967295)) AS entity,
        if(${isUnrated}, NULL, sum(amount)) AS mrr,
        if(${isUnrated}, ${byCurrency}, []) AS unratedMrr,
        nullIf(argMaxIf(named_plan, (amount, own_mrr, named_plan), ${goesOn} AND named_plan != ''), '') AS plan,
        groupUniqArrayIf(named_plan, ${goesOn} AND named_plan != '') AS plans,
        toNullable(countIf(${goesOn})) AS subscriptions,
        toNullable(${statusOfPayer}) AS subscriptionStatus,
        minOrNullIf(periodEndDay, ${renews}) AS renewsDay,
        if(countIf(${goesOn} AND isNull(endsMs)) = 0, maxOrNullIf(endsMs, ${goesOn}), NULL) AS subscriptionEndsAtMs
      FROM (
        SELECT *, ${payerOf("payerAccount", "payerUser")} AS payer,
          if(isNull(periodEndMs), NULL, ${localDay("intDiv(assumeNotNull(periodEndMs), 1000)")}) AS periodEndDay
        FROM (${now.text})
        WHERE ${kind === "account" ? "payerAccount != 0" : "payerAccount = 0 AND payerUser != 0"})
      GROUP BY payer)`,
    parameters: {
      ...now.parameters,
      ...zoneParameters(transitions),
      ...{ organization, nowMs, ...(unrated.length > 0 && { unrated }) },
    },
  };
}

/** Payers that ever had MRR in a currency without a rate. */
const payersInUnrated = `
  SELECT ${payerOf("of_account", "of_user")}
  FROM subscriptions FINAL
  ARRAY JOIN mrr AS one_mrr, currency AS one_currency, payer_account AS of_account, payer_user AS of_user
  WHERE ${ofOrganization} AND one_mrr != 0 AND one_currency IN {unrated:Array(String)}`;

const byCurrency = `
  arraySort(arrayFilter(one -> one.2 != 0,
    arrayMap((code, total) -> (code, total), sumMap([own_currency], [own_mrr]).1, sumMap([own_currency], [own_mrr]).2)))`;

/** The first that holds. An end is near when it is scheduled for all subscriptions of a payer, and one is paid: as for the state
 * `canceling` of scores. */
const statusOfPayer = `
  multiIf(countIf(state != 'canceled') = 0, 'canceled',
    countIf(state IN ('active', 'past_due')) > 0 AND countIf(state != 'canceled' AND isNull(endsMs)) = 0, 'canceling',
    countIf(state = 'past_due') > 0, 'past_due',
    countIf(state = 'active') > 0, 'active',
    countIf(state = 'trialing') > 0, 'trialing',
    'paused')`;

/** A row for each subscription with a change by now. */
function subscriptionsNow(question: PayersQuestion, which: ((payers: string) => string) | undefined): Sql {
  const { kind, reporting, used } = question;
  const { amount, parameters } = used.every((code) => code === reporting)
    ? { amount: "own_mrr AS amount", parameters: {} }
    : { amount: convertedAmount, parameters: rateParameters(question) };
  const payers = kind === "account" ? "payer_account" : "payer_user";
  const among =
    which === undefined
      ? ""
      : `AND subscription IN (
          SELECT subscription FROM subscriptions
          WHERE ${ofOrganization} AND arrayExists(payer -> ${which("payer")}, ${payers}))`;
  return {
    text: `
      SELECT payer_account[place] AS payerAccount, payer_user[place] AS payerUser, toString(status[place]) AS state,
        subscriptions.plan[place] AS named_plan, mrr[place] AS own_mrr, toString(currency[place]) AS own_currency,
        ${millisecondsOf("period_end[place]")} AS periodEndMs, ${millisecondsOf("ends_at[place]")} AS endsMs, ${amount}
      FROM (
        SELECT payer_account, payer_user, status, plan, mrr, currency, period_end, ends_at,
          arrayLastIndex(start -> ${millisecondsOf("start")} <= {nowMs:Int64}, stored."from") AS place
        FROM subscriptions AS stored FINAL WHERE ${ofOrganization} ${among}) AS subscriptions
      WHERE place > 0`,
    parameters,
  };
}

const convertedAmount = `
  indexOf({codes:Array(String)}, own_currency) + 1 AS rate_place,
  toInt128(own_mrr) * toInt128(arrayElement({numerators:Array(String)}, rate_place)) AS product,
  toInt128(arrayElement({denominators:Array(String)}, rate_place)) AS divisor,
  intDiv(product, divisor) AS quotient, ${halfEven} AS amount`;

export interface PlanInUse {
  readonly plan: string;
  readonly subscriptions: number;
}

/** The plans of subscriptions that go on. The plan of the most subscriptions comes first. */
export function plansInUse(
  warehouse: Warehouse,
  question: Pick<PayersQuestion, "organization" | "kind" | "nowMs"> & { readonly limit: number },
): Promise<PlanInUse[]> {
  const { kind, organization, nowMs, limit } = question;
  return warehouse.rows<PlanInUse>(
    `SELECT of_now.plan[place] AS plan, count() AS subscriptions
     FROM (
       SELECT payer_account, status, plan,
         arrayLastIndex(start -> ${millisecondsOf("start")} <= {nowMs:Int64}, stored."from") AS place
       FROM subscriptions AS stored FINAL WHERE ${ofOrganization}) AS of_now
     WHERE place > 0 AND status[place] != 'canceled' AND of_now.plan[place] != ''
       AND payer_account[place] ${kind === "account" ? "!=" : "="} 0
     GROUP BY of_now.plan[place] ORDER BY subscriptions DESC, plan LIMIT {limit:UInt32}`,
    { organization, nowMs, limit },
  );
}
