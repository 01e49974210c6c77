/** Queries about an organization's subscriptions that come before those of their MRR. */
import { paymentEventNames } from "../../../contract/billing/events.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { currenciesUsed, reportingCurrencyOf } from "../../warehouse/schema/currencies-used.ts";
import { atPlace } from "./payers-now.ts";
import type { RevenueQuestion } from "./steps.ts";

interface RateSettings {
  readonly organization: number;
  /** Null: the currency of the most changes, of payers that are not excluded. */
  readonly reportingCurrency: string | null;
  readonly currencyRates: Readonly<Record<string, number>>;
}

/** The question that figures of revenue share: its currencies, and whether subscriptions have passed to other
 * payers. */
export async function revenueQuestion(
  warehouse: Warehouse,
  { organization, reportingCurrency, currencyRates }: RateSettings,
): Promise<RevenueQuestion> {
  const [used, transfers] = await Promise.all([
    currenciesUsed(warehouse, organization),
    // Without FINAL: an older row of a subscription makes the later query slower, and its answer is the same.
    warehouse.rows(
      `SELECT subscription FROM subscriptions
       WHERE organization = {organization:UInt32} AND length(arrayCompact(
         arrayMap((account, user) -> (account, if(account = 0, user, 0)), payer_account, payer_user))) > 1 LIMIT 1`,
      { organization },
    ),
  ]);
  return {
    organization,
    reporting: reportingCurrencyOf(reportingCurrency, used),
    rates: reportingCurrency === null ? {} : currencyRates,
    used,
    hasTransfers: transfers.length > 0,
  };
}

export interface Unconfirmed {
  readonly currency: string;
  readonly subscriptions: number;
  readonly mrr: number;
}

/** Subscriptions that count although their period ended more than 30 days ago and no event came since, by
 * currency, as `isUnconfirmed` has it. */
export function unconfirmedSubscriptions(
  warehouse: Warehouse,
  organization: number,
  nowMs: number,
): Promise<Unconfirmed[]> {
  return warehouse.rows<Unconfirmed>(
    `SELECT code AS currency, count() AS subscriptions, sum(own_mrr) AS mrr
     FROM (${atPlace(`
       toString(currency[place]) AS code, mrr[place] AS own_mrr, toString(status[place]) AS state,
       ifNull(toUnixTimestamp64Milli(period_end[place]), 0) AS period_end_ms,
       toUnixTimestamp64Milli(last_event[place]) AS last_event_ms`)})
     WHERE state IN ('active', 'past_due') AND period_end_ms != 0
       AND {nowMs:Int64} >= greatest(period_end_ms, last_event_ms) + ${30 * 86_400_000}
     GROUP BY currency ORDER BY mrr DESC, currency`,
    { organization, nowMs },
  );
}

/** The number of subscriptions that are active or past due and of which no event said an amount, such as
 * prices in tiers. Their MRR is unknown and counts 0. A free plan has an amount of 0. */
export async function unpricedSubscriptions(
  warehouse: Warehouse,
  organization: number,
  nowMs: number,
): Promise<number> {
  const states = atPlace("subscription AS id, mrr[place] AS own_mrr, toString(status[place]) AS state");
  const [row] = await warehouse.rows<{ readonly unpriced: number }>(
    `SELECT count() AS unpriced FROM (
     SELECT subscription FROM billing_events
     WHERE organization = {organization:UInt32} AND event NOT IN {payments:Array(String)}
       AND subscription IN (SELECT id FROM (${states}) WHERE own_mrr = 0 AND state IN ('active', 'past_due'))
     GROUP BY subscription
     HAVING countIf(JSONType(properties, 'amount') != 'Null') = 0)`,
    { organization, nowMs, payments: paymentEventNames },
  );
  return row?.unpriced ?? 0;
}
