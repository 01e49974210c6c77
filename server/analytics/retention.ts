/**
 * Of the users who came in a period, how many were active k periods later? From bitmaps alone, without one event
 * being read: 26 weeks of 100,000 users and 20 million events take 10 ms. docs/decisions/0013-retention.md has the
 * figures.
 */
import type { Warehouse } from "../warehouse/warehouse.ts";
import { activityBitmaps, cohortBitmaps, type Group } from "./cohorts.ts";
import { gridOf, type RetentionQuestion } from "./retention-question.ts";
import { type RetentionTable, retentionTable } from "./retention-table.ts";

export interface CohortRow extends Group {
  /** The first day of the cohort's period. */
  readonly cohort: number;
  readonly members: number;
  /** Pairs of a period's first day and the members active in it, or in it or later; those of no member are left
   * out. Ascending. */
  readonly active: readonly (readonly [period: number, users: number])[];
}

/**
 * The retention table of a question.
 * @throws Refusal when it asks for too much
 * @throws WarehouseError
 */
export async function retention(warehouse: Warehouse, question: RetentionQuestion): Promise<RetentionTable> {
  const grid = gridOf(question);
  const cohorts = cohortBitmaps(question, grid);
  const activity = activityBitmaps(question);
  const users =
    question.measure === "in"
      ? "users"
      : "groupBitmapMergeState(users) OVER (ORDER BY period ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)";
  const rows = await warehouse.rows<CohortRow>(
    `SELECT kind, value, cohort, bitmapCardinality(members) AS members,
       arrayFilter(pair -> pair.2 > 0, arrayMap(
         one -> (one.1, bitmapAndCardinality(cohorts.members, one.2)),
         arrayFilter(one -> one.1 >= cohort, periods))) AS active
     FROM (${cohorts.text}) AS cohorts
     CROSS JOIN (
       SELECT groupArray((period, users)) AS periods
       FROM (SELECT period, ${users} AS users FROM (${activity.text}) ORDER BY period)) AS activity
     WHERE bitmapCardinality(cohorts.members) > 0
     ORDER BY kind, value, cohort
     SETTINGS allow_simdjson = 0`,
    {
      ...cohorts.parameters,
      ...activity.parameters,
      activeFrom: grid.firstCohort,
      activeEnd: grid.endDay,
    },
  );
  return retentionTable(rows, question, grid);
}
