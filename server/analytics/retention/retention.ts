/**
 * Of the users who entered in a period, how many were active k periods later? From bitmaps alone, without
 * reading events: 26 weeks of 100,000 users and 20 million events take 15 ms.
 * docs/decisions/0015 has the figures.
 */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { activeDaysTable, type PassiveEvents } from "../../warehouse/schema/engagement.ts";
import { jsonSettings } from "../json-text.ts";
import { engagementRows } from "../sql.ts";
import { type CohortRow, cohortsWithPeriods } from "./cohorts.ts";
import { gridOf, type RetentionQuestion } from "./retention-question.ts";
import { type RetentionTable, retentionTable } from "./retention-table.ts";

/**
 * The retention table of a question.
 * @throws Refusal when it asks for too much
 * @throws WarehouseError
 */
export async function retention(warehouse: Warehouse, question: RetentionQuestion): Promise<RetentionTable> {
  const grid = gridOf(question);
  const { text, parameters } = cohortsWithPeriods(question, grid);
  const counted = warehouse.rows<CohortRow>(
    `SELECT kind, value, cohort, bitmapCardinality(members) AS members,
       arrayFilter(pair -> pair.2 > 0, arrayMap(
         one -> (one.1, bitmapAndCardinality(rows.members, one.2)),
         arrayFilter(one -> one.1 >= cohort, periods))) AS active
     FROM (${text}) AS rows
     WHERE bitmapCardinality(rows.members) > 0
     ORDER BY kind, value, cohort
     ${jsonSettings}`,
    parameters,
  );
  const [rows, dataFrom] = await Promise.all([counted, firstDayOfData(warehouse, question)]);
  return retentionTable(rows, question, grid, dataFrom);
}

/** The day of an organization's first engagement event; null before there is one. */
export async function firstDayOfData(
  warehouse: Warehouse,
  { organization, passiveEvents }: Pick<RetentionQuestion, "organization" | "passiveEvents">,
): Promise<number | null> {
  const sql = (passive: PassiveEvents) =>
    `SELECT toInt32(min(day)) AS firstDay FROM ${activeDaysTable(passive)}
     WHERE organization = {organization:UInt32} HAVING count() > 0`;
  const question = { organization, passiveEvents };
  const [row] = await engagementRows<{ firstDay: number }>(warehouse, sql, question);
  return row?.firstDay ?? null;
}
