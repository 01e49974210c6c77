/** Renewals of months: what is due, what is expected of it, and what came. */
import { expectedRenewals, isCompared } from "../../revenue/renewals.ts";
import type { Calibration } from "../../revenue/revenue-at-risk.ts";
import { uniformFrom } from "../../scoring/statistics/random.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { jsonSettings } from "../json-text.ts";
import { type RenewalsQuestion, renewalRows } from "./renewal-rows.ts";

/** Sums of a month, in minor units of the reporting currency. */
export interface RenewalSums {
  readonly duePayers: number;
  readonly dueMrr: number;
  readonly withoutRiskPayers: number;
  readonly withoutRiskMrr: number;
  readonly scheduledPayers: number;
  readonly scheduledMrr: number;
  readonly renewedMrr: number;
  readonly lostMrr: number;
  readonly openMrr: number;
  readonly renewedWithRiskMrr: number;
  readonly undatedPayers: number;
  readonly undatedMrr: number;
}

export interface RenewalsOfMonth extends RenewalSums {
  /** Of payers with a churn risk; null without any. */
  readonly expected: ReturnType<typeof expectedRenewals>;
  /** Whether the outcome of what was expected is known. */
  readonly isSettled: boolean;
}

interface Row extends RenewalSums {
  readonly month: number;
  readonly openWithRiskMrr: number;
  readonly mrrs: readonly number[];
  readonly risks: readonly number[];
}

const nothing: Omit<Row, "month"> = {
  duePayers: 0,
  dueMrr: 0,
  withoutRiskPayers: 0,
  withoutRiskMrr: 0,
  scheduledPayers: 0,
  scheduledMrr: 0,
  renewedMrr: 0,
  lostMrr: 0,
  openMrr: 0,
  renewedWithRiskMrr: 0,
  undatedPayers: 0,
  undatedMrr: 0,
  openWithRiskMrr: 0,
  mrrs: [],
  risks: [],
};

/** The seed is fixed, so that the interval of equal payers is always equal. */
const seed = 91;

/** The renewals of all months of the question, in their order, by one query.
 * @param calibrations of the back-tests behind the months' risks, in the same order
 * @throws WarehouseError */
export async function renewalsOfMonths(
  warehouse: Warehouse,
  question: RenewalsQuestion,
  calibrations: readonly (Calibration | null)[],
): Promise<readonly RenewalsOfMonth[]> {
  const { text, parameters } = renewalRows(question);
  const hasRisk = "isNotNull(risk)";
  const rows = await warehouse.rows<Row>(
    `SELECT month_at AS month, countIf(due > 0) AS duePayers, sum(due) AS dueMrr,
       countIf(due > 0 AND isNull(risk)) AS withoutRiskPayers, sumIf(due, isNull(risk)) AS withoutRiskMrr,
       countIf(scheduled > 0) AS scheduledPayers, sum(scheduled) AS scheduledMrr,
       sum(renewed) AS renewedMrr, sum(lost) AS lostMrr, sum(open) AS openMrr,
       sumIf(renewed, ${hasRisk}) AS renewedWithRiskMrr, sumIf(open, ${hasRisk}) AS openWithRiskMrr,
       countIf(undated > 0) AS undatedPayers, sum(undated) AS undatedMrr,
       groupArrayIf(due, due > 0 AND ${hasRisk}) AS mrrs,
       groupArrayIf(assumeNotNull(lost_by), due > 0 AND ${hasRisk}) AS risks
     FROM (SELECT * FROM (${text}) ORDER BY month_at, entity)
     GROUP BY month_at ${jsonSettings}`,
    parameters,
  );
  const byMonth = new Map(rows.map((row) => [row.month, row]));
  return question.months.map((_, index) => {
    const { mrrs, risks, openWithRiskMrr, ...sums } = byMonth.get(index + 1) ?? nothing;
    const due = mrrs.map((mrr, at) => ({ mrr, churnRisk: risks[at] ?? 0 }));
    return {
      ...sums,
      expected: expectedRenewals(due, calibrations[index] ?? null, uniformFrom(seed)),
      isSettled: isCompared({ mrr: sums.dueMrr - sums.withoutRiskMrr, openMrr: openWithRiskMrr }),
    };
  });
}
