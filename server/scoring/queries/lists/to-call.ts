/**
 * The filter `toCall` of lists and segments: all entities that have not churned and whose churn risk is high
 * or whose health fell sharply within a week, without controls of a hold-out. Whom to call first is another
 * question: analytics/ranking.ts answers it.
 */
import type { Query } from "../query.ts";
import type { OfRun } from "./reading.ts";
import { shiftsBetween } from "./shifts.ts";
import { isShown, rowsOfRun } from "./stored-score.ts";

/** A fall of health within a week by this many points is sharp. */
export const sharpFallPoints = 15;

export interface ToCallQuestion {
  readonly run: OfRun;
  /** The run's limit of a high churn risk. */
  readonly highRisk: number;
  /** The scores of a week before; undefined without them: then nothing fell. */
  readonly weekBefore: OfRun | undefined;
  /** Numbers of entities that are not to be worked on. */
  readonly controls: readonly number[];
}

/** Health bands of entities that are not called. */
const uncalledBands = ["churned", "none"] as const;
/** The condition that the `change` of health within a week is a sharp fall. */
const fellSharply = `ifNull(change <= -${sharpFallPoints}, false)`;
/** Days between the scores of the call list and the scores that they are compared with. */
export const callChangeDays = 7;

/** All of them by `entity`, as a subquery. It binds the values of the run as other queries of it do. */
export function toCallQuery({
  run: { kind, ...run },
  highRisk,
  weekBefore,
  controls,
}: ToCallQuestion): Query {
  const before =
    weekBefore === undefined
      ? "SELECT toUInt32(0) AS entity, CAST(NULL AS Nullable(Float64)) AS before, 0. AS byRules WHERE false"
      : `SELECT entity, before, byRules
         FROM (
           SELECT ${kind} AS entity, health AS before FROM ${kind}_scores FINAL
           WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {weekBeforeDay:Int32})
             AND version >= {weekBeforeVersion:UInt64} AND ${isShown(kind)}) AS stored
         LEFT JOIN ${shiftsBetween(kind, "weekBeforeDay", "day")} AS shifts USING (entity)`;
  return {
    sql: `
      SELECT entity, health - before - byRules AS change
      FROM (
        SELECT ${kind} AS entity, health, risk
        FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)} AND colour NOT IN (${uncalledBands.map((band) => `'${band}'`).join(", ")})
          AND ${kind} NOT IN {controls:Array(UInt32)}) AS scores
      LEFT JOIN (${before}) AS week_before USING (entity)
      WHERE ifNull(risk >= ${highRisk}, false) OR ${fellSharply}`,
    parameters: {
      ...run,
      controls,
      ...(weekBefore !== undefined && {
        weekBeforeDay: weekBefore.day,
        weekBeforeVersion: weekBefore.rowsVersion,
      }),
    },
  };
}
