/** Users or accounts that churned lately: churned in the newest scores, and not churned on some day shortly
 * before. */

import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import type { OfRun } from "./reading.ts";
import { rowsOfRun } from "./stored-score.ts";

export interface ChurnedLately {
  readonly entity: number;
  /** The first scored day on which the entity had churned, in days since 1970-01-01. */
  readonly churnedDay: number;
}

/** The latest to churn first. @param days so many before the newest scores are looked at @param limit at most
 * this many */
export function churnedLately(
  warehouse: Warehouse,
  { kind, ...run }: OfRun,
  days: number,
  limit: number,
): Promise<ChurnedLately[]> {
  return warehouse.rows<ChurnedLately>(
    `SELECT entity, states[place + 1].1 AS churnedDay
     FROM (
       SELECT ${kind} AS entity, arraySort(groupArray((toInt32(day), toUInt8(state = 'churned')))) AS states,
         arrayLastIndex(one -> one.2 = 0, states) AS place
       FROM (
         SELECT ${kind}, day, state, version FROM ${kind}_scores FINAL
         WHERE organization = {organization:UInt32}
           AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("day")}
           AND ${kind} IN (SELECT ${kind} FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)} AND state = 'churned')) AS scores
       INNER JOIN (
         SELECT day, rows_version AS rowsVersion FROM score_records FINAL
         WHERE organization = {organization:UInt32} AND kind = '${kind}' AND what = 'run') AS runs USING (day)
       WHERE version >= rowsVersion
       GROUP BY entity)
     WHERE place > 0 AND place < length(states)
     ORDER BY churnedDay DESC, entity LIMIT {limit:UInt32}`,
    { ...run, fromDay: run.day - days, limit },
  );
}
