/** The currencies of an organization's subscriptions. */
import type { Warehouse } from "../engine/warehouse.ts";
import { isIncludedPayerOf } from "./included.ts";

/** Codes of the currencies in which there ever was MRR. The one with the most changes, of payers that are not
 * excluded, comes first. */
export async function currenciesUsed(warehouse: Warehouse, organization: number): Promise<readonly string[]> {
  const rows = await warehouse.rows<{ readonly code: string }>(
    `SELECT toString(one) AS code, countIf(${isIncludedPayerOf("account", "user")}) AS changes
     FROM subscriptions FINAL
     ARRAY JOIN currency AS one, mrr AS amount, payer_account AS account, payer_user AS user
     WHERE organization = {organization:UInt32} AND amount != 0
     GROUP BY code ORDER BY changes DESC, code`,
    { organization },
  );
  return rows.map(({ code }) => code);
}

/** The currency of all sums of MRR. @param chosen by the settings; null: that of the most changes
 * @param used as `currenciesUsed` has them */
export function reportingCurrencyOf(chosen: string | null, used: readonly string[]): string {
  return chosen ?? used[0] ?? "USD";
}
