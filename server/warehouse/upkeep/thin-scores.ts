/**
 * Deletes daily scores that are older than a quarter of a year. Runs of Mondays and of the first of each
 * month stay. Their days are those on which histories are scored, and each seven days have one. See
 * docs/decisions/0053.
 *
 * Records of runs are deleted first, so that no record is without its rows. Rows of runs without a record are
 * not read, and the next night deletes them after a crash.
 */
import { startOfPeriod } from "../../calendar/period-starts.ts";
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";
import { firstPossibleDay } from "./keep-events.ts";

/** Days before an organization's newest run of which all runs are kept. */
const keptDays = 90;
/** A day that was scored by hand can be read for as long. */
const restMs = 86_400_000;

/**
 * Before this day only Mondays and the first of each month are kept: the first day of a month, so that the
 * partition of a year is rewritten once a month. @param newestDay the day of the organization's newest run
 */
function thinnedBefore(newestDay: number): number {
  return startOfPeriod(newestDay - keptDays, { name: "month", weekStart: 1 });
}

/** Whether scores of a day are kept. @param newestDay the day of the organization's newest run */
export function isKept(day: number, newestDay: number): boolean {
  return (
    day >= thinnedBefore(newestDay) ||
    day === startOfPeriod(day, { name: "week", weekStart: 1 }) ||
    day === startOfPeriod(day, { name: "month", weekStart: 1 })
  );
}

// The newest run counts and not the clock: without new data the scores of the last days stay.
const isThinned = `organization IN {organizations:Array(UInt32)}
  AND toDayOfWeek(day) != 1 AND toDayOfMonth(day) != 1 AND version < {beforeVersion:UInt64}
  AND toInt32(day) < transform(organization, {organizations:Array(UInt32)}, {beforeDays:Array(Int32)}, toInt32(${firstPossibleDay}))`;

/** Deletes the records and the rows of runs that are not kept, of all organizations. @returns the deleted
 * rows */
export async function thinScores(warehouse: Warehouse, nowMs: number): Promise<number> {
  const newest = await warehouse.rows<{ organization: number; day: number }>(
    `SELECT organization, min(newestDay) AS day FROM (
       SELECT organization, kind, toInt32(max(day)) AS newestDay FROM score_records
       WHERE what = 'run' GROUP BY organization, kind)
     GROUP BY organization`,
  );
  if (newest.length === 0) return 0;
  const parameters = {
    organizations: newest.map(({ organization }) => organization),
    beforeDays: newest.map(({ day }) => thinnedBefore(day)),
    // A run's version is the time of its writing.
    beforeVersion: nowMs - restMs,
  };
  const records = await warehouse.rows(
    `SELECT 1 FROM score_records WHERE what = 'run' AND ${isThinned} LIMIT 1`,
    parameters,
  );
  if (records.length > 0) {
    await warehouse.command(
      `ALTER TABLE score_records DELETE WHERE what = 'run' AND ${isThinned}`,
      parameters,
      noLimitOfTime,
    );
  }
  let rows = 0;
  for (const table of ["user_scores", "account_scores"]) {
    const found = await warehouse.rows<{ partition: string; rows: number }>(
      `SELECT _partition_id AS partition, count() AS rows FROM ${table} WHERE ${isThinned}
       GROUP BY partition ORDER BY partition`,
      parameters,
      noLimitOfTime,
    );
    for (const { partition, rows: old } of found) {
      await warehouse.command(
        `ALTER TABLE ${table} DELETE IN PARTITION ID '${partition}' WHERE ${isThinned}`,
        parameters,
        noLimitOfTime,
      );
      rows += old;
    }
  }
  return rows;
}
