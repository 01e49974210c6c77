/** The precision of alerts: how many untouched alerts were followed by churn. */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { type OutcomeQuestion, outcomesOf } from "../alerts/outcomes.ts";
import { type Precision, precisionOf } from "../alerts/rules/preview-figures.ts";
import type { FiredRecord } from "../alerts/store/alerts.ts";

/** The precision of the untouched alerts of all rules. @throws WarehouseError */
export async function livePrecision(
  warehouse: Warehouse,
  question: OutcomeQuestion,
  fired: readonly FiredRecord[],
): Promise<Precision> {
  const untouched = (await outcomesOf(warehouse, question, fired)).filter(({ isTouched }) => !isTouched);
  return precisionOf(untouched.length, untouched.filter(({ hasChurned }) => hasChurned).length);
}
