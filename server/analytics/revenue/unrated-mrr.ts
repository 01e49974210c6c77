/** MRR of payers that ever had some in a currency without a rate: by currency, because it cannot be
 * summed. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isIncludedPayer, payerOf, type RevenueQuestion, unratedOf } from "./steps.ts";

export interface UnratedMrr {
  readonly currency: string;
  /** With MRR in this currency at the last edge. */
  readonly payers: number;
  /** At each edge, in minor units of this currency. */
  readonly mrrs: readonly number[];
}

/** By currency, those with a rate among them. @throws WarehouseError */
export async function unratedMrr(
  warehouse: Warehouse,
  question: RevenueQuestion,
  edges: readonly number[],
): Promise<UnratedMrr[]> {
  const unrated = unratedOf(question);
  if (unrated.length === 0) return [];
  const sums = edges.map((edge, index) => `sumIf(amount_by, moment < ${edge}) AS b${index}`);
  const totals = edges.map((_, index) => `sum(b${index})`);
  const earlier = (column: string, first: string) => `arrayPushFront(arrayPopBack(${column}), ${first})`;
  const arrays = `
    SELECT subscriptions."from" AS starts, mrr, CAST(currency, 'Array(String)') AS codes, payer_account, payer_user,
      ${earlier("mrr", "toInt64(0)")} AS mrrs_before, ${earlier("CAST(currency, 'Array(String)')", "''")} AS codes_before,
      ${earlier("payer_account", "toUInt32(0)")} AS accounts_before, ${earlier("payer_user", "toUInt32(0)")} AS users_before
    FROM subscriptions FINAL WHERE organization = {organization:UInt32} AND length(mrr) > 0`;
  const begins = `
    SELECT ${payerOf("account", "user")} AS payer, code, toUnixTimestamp64Milli(start) AS moment, amount AS amount_by
    FROM (${arrays})
    ARRAY JOIN starts AS start, mrr AS amount, codes AS code, payer_account AS account, payer_user AS user
    WHERE amount != 0 AND code != ''`;
  const ends = `
    SELECT ${payerOf("account", "user")} AS payer, code, toUnixTimestamp64Milli(start) AS moment, -amount AS amount_by
    FROM (${arrays})
    ARRAY JOIN starts AS start, mrrs_before AS amount, codes_before AS code, accounts_before AS account, users_before AS user
    WHERE amount != 0 AND code != ''`;
  return warehouse.rows<UnratedMrr>(
    `SELECT code AS currency, countIf(b${edges.length - 1} > 0) AS payers, [${totals.join(", ")}] AS mrrs
     FROM (
       SELECT payer, code, ${sums.join(", ")} FROM (${begins} UNION ALL ${ends})
       WHERE payer IN (SELECT payer FROM (${begins}) WHERE code IN {unrated:Array(String)})
       GROUP BY payer, code)
     WHERE ${isIncludedPayer}
     GROUP BY code ORDER BY currency`,
    { organization: question.organization, unrated },
  );
}
