/**
 * The last payments of payers. Of each subscription of a payer the last MRR above 0 counts, if it goes on or
 * ended since a time. With a churn target other than the end of a subscription, a payer may churn weeks after
 * the subscription ended, or still pay.
 */
import { conversionAt } from "../../revenue/rates.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { RevenueQuestion } from "./steps.ts";

interface Question extends RevenueQuestion {
  readonly kind: EntityKind;
  readonly nowMs: number;
  /** Subscriptions that ended before do not count. */
  readonly sinceMs: number;
}

export interface LastPaid {
  /** In minor units of the reporting currency. Null if any of it was in a currency without a rate. */
  readonly mrr: number | null;
  /** Of the subscription with the highest MRR. */
  readonly plan: string | null;
}

interface Row {
  readonly entity: number;
  readonly amount: number;
  readonly currency: string;
  readonly plan: string;
}

/** Payers whose numbers are a part of one query. */
const payersOfQuery = 5_000;
const msOf = (time: string) => `toUnixTimestamp64Milli(${time})`;

/** The last payments of these accounts, or of users who pay without one, by their numbers. Those who never
 * paid are left out. */
export async function lastPaid(
  warehouse: Warehouse,
  { kind, reporting, rates, organization, nowMs, sinceMs }: Question,
  entities: readonly number[],
): Promise<ReadonlyMap<number, LastPaid>> {
  const convert = conversionAt({ reporting, rates });
  const paid = new Map<number, LastPaid & { readonly highest: number }>();
  for (let at = 0; at < entities.length; at += payersOfQuery) {
    const some = entities.slice(at, at + payersOfQuery);
    const bound = { organization, nowMs, sinceMs, entities: some };
    for (const { entity, amount, currency, plan } of await warehouse.rows<Row>(queryOf(kind), bound)) {
      const before = paid.get(entity) ?? { mrr: 0, plan: null, highest: -1 };
      const converted = convert(amount, currency);
      const mrr = before.mrr === null || converted === undefined ? null : before.mrr + converted;
      const isHighest = (converted ?? 0) > before.highest;
      paid.set(entity, {
        mrr,
        plan: isHighest ? plan || null : before.plan,
        highest: isHighest ? (converted ?? 0) : before.highest,
      });
    }
  }
  return paid;
}

function queryOf(kind: EntityKind): string {
  const payer = kind === "account" ? "payer_account" : "payer_user";
  return `
    SELECT ${payer}[place] AS entity, mrr[place] AS amount, toString(currency[place]) AS currency, plan[place] AS plan
    FROM (
      SELECT *, arrayLastIndex((amount, start) -> amount > 0 AND ${msOf("start")} <= {nowMs:Int64}, mrr, stored."from") AS place,
        if(place < length(mrr), ${msOf('stored."from"[place + 1]')}, {nowMs:Int64}) AS ends_ms
      FROM subscriptions AS stored FINAL
      WHERE organization = {organization:UInt32} AND subscription IN (
        SELECT subscription FROM subscriptions
        WHERE organization = {organization:UInt32} AND arrayExists(one -> one IN {entities:Array(UInt32)}, ${payer}))) AS histories
    WHERE place > 0 AND ends_ms >= {sinceMs:Int64} AND entity IN {entities:Array(UInt32)}
      ${kind === "user" ? "AND payer_account[place] = 0" : ""}`;
}
