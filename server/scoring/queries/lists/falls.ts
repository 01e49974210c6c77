/** Users or accounts of whom something fell between two runs: use, or health. */

import type { Query } from "../query.ts";
import type { OfRun } from "./reading.ts";
import { shiftsBetween } from "./shifts.ts";
import { isShown } from "./stored-score.ts";

/** How far something has to have fallen. */
export interface Fall {
  readonly of: "use" | "health";
  /** Of use in per cent, of health in points. */
  readonly by: number;
}

/** The condition of a fall, over the `value` of a day, that of the day `before`, and the points `byRules`
 * that changed rules changed. Without use before there is nothing to fall. @param by a bound number, an
 * expression */
function fallCondition(of: Fall["of"], by: string): string {
  return of === "use"
    ? `(before > 0 AND value <= before * (1 - ${by} / 100))`
    : `(before + byRules - value >= ${by})`;
}

/** The column of scores that falls. */
const columnOfFall = { use: "volume_28", health: "health" } as const;

/** A query of the entities (`entity`) of a fall. Its parameters begin with the fall's name, so that it may be
 * a part of other queries that bind `organization`. What changed rules changed is no fall of health. */
export function fallQuery({ kind, ...run }: OfRun, earlier: OfRun, { of, by }: Fall): Query {
  const rows = (day: string, version: string, value: string) => `
    SELECT ${kind} AS entity, toFloat64(ifNull(${columnOfFall[of]}, nan)) AS ${value} FROM ${kind}_scores FINAL
    WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {${of}${day}:Int32})
      AND version >= {${of}${version}:UInt64} AND ${isShown(kind)}`;
  return {
    sql: `
      SELECT entity FROM (${rows("Day", "Version", "value")}) AS now
      INNER JOIN (${rows("EarlierDay", "EarlierVersion", "before")}) AS earlier USING (entity)
      LEFT JOIN ${shiftsBetween(kind, `${of}EarlierDay`, `${of}Day`)} AS shifts USING (entity)
      WHERE ${fallCondition(of, `{${of}FellBy:Float64}`)}`,
    parameters: {
      organization: run.organization,
      [`${of}Day`]: run.day,
      [`${of}Version`]: run.rowsVersion,
      [`${of}FellBy`]: by,
      [`${of}EarlierDay`]: earlier.day,
      [`${of}EarlierVersion`]: earlier.rowsVersion,
    },
  };
}
