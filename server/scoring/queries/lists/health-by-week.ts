/** How many had which health, and how many were expected to churn, once a week. */
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { EntityKind } from "../engagement-events.ts";
import { isShown } from "./stored-score.ts";

export interface HealthByWeekQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  /** The newest day, that of a finished run. */
  readonly day: number;
  readonly weeks: number;
}

export interface HealthOfWeek {
  readonly day: number;
  readonly healthy: number;
  readonly watch: number;
  readonly atRisk: number;
  readonly onboarding: number;
  readonly churned: number;
  readonly none: number;
  /** Idle for the churn horizon and not churned, by a declared churn target. They are in health bands,
   * too. */
  readonly inactive: number;
  /** Entities with a churn risk. */
  readonly withRisk: number;
  /** The sum of their risks; null without any. */
  readonly expectedChurn: number | null;
}

/** One row for the newest run of each seven days that end with `day`, as far as there is one; the oldest
 * first. */
export function healthByWeek(
  warehouse: Warehouse,
  { kind, ...parameters }: HealthByWeekQuestion,
): Promise<HealthOfWeek[]> {
  return warehouse.rows<HealthOfWeek>(sql(kind), parameters);
}

// Only these runs' days are read: days come first in the order of the table.
const sql = (kind: EntityKind) => `
  WITH runs AS (
    SELECT max(runDay) AS day, argMax(version, runDay) AS rowsVersion
    FROM (
      SELECT score_records.day AS runDay, rows_version AS version
      FROM score_records FINAL
      WHERE organization = {organization:UInt32} AND kind = '${kind}' AND what = 'run'
        AND score_records.day BETWEEN addDays(toDate32('1970-01-01'), {day:Int32} - 7 * {weeks:Int32} + 1)
          AND addDays(toDate32('1970-01-01'), {day:Int32}))
    GROUP BY intDiv({day:Int32} - toInt32(runDay), 7))
  SELECT
    toInt32(day) AS day,
    countIf(colour = 'healthy') AS healthy, countIf(colour = 'watch') AS watch, countIf(colour = 'at_risk') AS atRisk,
    countIf(colour = 'onboarding') AS onboarding, countIf(colour = 'churned') AS churned,
    countIf(colour = 'none') AS none, countIf(state = 'inactive') AS inactive, count(risk) AS withRisk, sum(risk) AS expectedChurn
  FROM (
    SELECT day, colour, state, risk, version FROM ${kind}_scores FINAL
    WHERE organization = {organization:UInt32} AND day IN (SELECT day FROM runs)
      AND ${isShown(kind)}) AS scores
  INNER JOIN runs USING (day)
  WHERE version >= rowsVersion
  GROUP BY day ORDER BY day`;
