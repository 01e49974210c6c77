/**
 * The one definition of the call list, for the overview, its sentences and the lists. It has all entities that have
 * not churned and whose churn risk is high or whose health fell sharply within a week, without controls of a hold-out.
 * Their order is churn risk × the members who were active in the last 90 days; a user counts as one member.
 */
import type { Warehouse } from "../../../warehouse/warehouse.ts";
import type { ActivityOrder } from "../../churn/activity-order.ts";
import { nameOf } from "../names.ts";
import type { Query } from "../query.ts";
import { activityPosition } from "./activity-order.ts";
import type { OfRun } from "./reading.ts";
import { shiftsBetween } from "./shifts.ts";
import { isShown, rowsOfRun } from "./stored-score.ts";

/** A fall of health within a week by this many points is sharp. */
export const sharpFallPoints = 15;
/** Days over which members are counted as active, before the day of the scores. */
export const callMemberDays = 90;

export interface ToCallQuestion {
  readonly run: OfRun;
  /** The run's limit of a high churn risk. */
  readonly highRisk: number;
  /** The scores of a week before; undefined without them: then nothing fell. */
  readonly weekBefore: OfRun | undefined;
  /** Numbers of entities that are not to be worked on. */
  readonly controls: readonly number[];
}

interface ToCallLimits {
  readonly limit: number;
  /** Of a run without a model. */
  readonly activityOrder?: ActivityOrder | undefined;
}

export interface EntityToCall {
  /** Its number. */
  readonly entity: number;
  readonly id: string;
  /** A user's name, else their e-mail address, else their id; an account's name. */
  readonly label: string;
  /** Members who were active in the 90 days before the run's day; 1 for a user. */
  readonly members: number;
  readonly health: number | null;
  readonly risk: number | null;
  /** Of health within the week; null when it was not there. */
  readonly change: number | null;
  /** The total number of the call list, equal in every row. */
  readonly total: number;
}

/** The first entries of the call list. Without a churn risk the order is the fall of health × members, then the order by
 * activity, the least active first. */
export function entitiesToCall(
  warehouse: Warehouse,
  { limit, activityOrder, ...question }: ToCallQuestion & ToCallLimits,
): Promise<EntityToCall[]> {
  const { kind } = question.run;
  const { sql, parameters } = toCallQuery(question);
  const position = activityPosition(activityOrder);
  const order =
    "ifNull(risk, 0) * members DESC, least(ifNull(change, 0), 0) * members, activityPosition DESC NULLS LAST, entity";
  return warehouse.rows<EntityToCall>(
    `SELECT entity, id, label, members, health, risk, change, total
     FROM (SELECT *, ${position.sql} AS activityPosition, count() OVER () AS total FROM (${sql}) ORDER BY ${order} LIMIT {limit:UInt32}) AS first
     LEFT JOIN (${nameOf(kind)}) AS names USING (entity) ORDER BY ${order} SETTINGS allow_simdjson = 0`,
    { ...parameters, ...position.parameters, limit },
  );
}

/** Health bands of entities that are not called. */
export const uncalledBands = ["churned", "none"] as const;
/** The condition that the `change` of health within a week is a sharp fall. */
export const fellSharply = `ifNull(change <= -${sharpFallPoints}, false)`;
/** Days between the scores of the call list and those that they are compared with. */
export const callChangeDays = 7;

/** The whole call list by `entity`, as a subquery. It binds the values of the run as other queries of it do. */
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
      SELECT entity, members, health, risk, health - before - byRules AS change, state, x, t, n
      FROM (
        SELECT ${kind} AS entity, ${kind === "account" ? "active_members_90" : "toUInt32(1)"} AS members, health, risk, state, x, t, n
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
