/** Entities that entered or left high risk between two runs. */
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { State } from "../../scores/state.ts";
import type { OfRun } from "./reading.ts";
import { shiftsBetween } from "./shifts.ts";
import { isShown, rowsOfRun } from "./stored-score.ts";

/** A run, and the churn risk from which on it is high. */
export interface RunWithLimit {
  readonly run: OfRun;
  readonly highRisk: number;
}

export interface HighRiskMove {
  readonly entity: number;
  readonly direction: "entered" | "left";
  /** Null without a churn risk. */
  readonly risk: number | null;
  readonly riskBefore: number | null;
  /** Empty when the entity has no score now. */
  readonly state: State | "";
  /** Whether only changed rules moved it, which are the model, the limits or the settings. */
  readonly isByRules: boolean;
}

/** The highest risk first. @param limit of each direction. @throws WarehouseError */
export function highRiskMoves(
  warehouse: Warehouse,
  now: RunWithLimit,
  before: RunWithLimit,
  limit: number,
): Promise<HighRiskMove[]> {
  const { kind, ...ofRun } = now.run;
  return warehouse.rows<HighRiskMove>(
    `SELECT entity, if(isHigh, 'entered', 'left') AS direction, risk, riskBefore, state,
       highFirst != highLast AND highFirst = wasHigh AND highLast = isHigh AS isByRules
     FROM (
       SELECT ${kind} AS entity, risk, toString(state) AS state, ifNull(risk >= {highRisk:Float64}, false) AS isHigh
       FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)}) AS now
     FULL JOIN (
       SELECT ${kind} AS entity, risk AS riskBefore, ifNull(riskBefore >= {highRiskBefore:Float64}, false) AS wasHigh
       FROM ${kind}_scores FINAL
       WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {earlierDay:Int32})
         AND version >= {earlierVersion:UInt64} AND ${isShown(kind)}) AS earlier USING (entity)
     LEFT JOIN ${shiftsBetween(kind, "earlierDay", "day")} AS shifts USING (entity)
     WHERE isHigh != wasHigh
     ORDER BY direction, ifNull(risk, riskBefore) DESC, entity LIMIT {limit:UInt32} BY direction`,
    {
      ...ofRun,
      highRisk: now.highRisk,
      highRiskBefore: before.highRisk,
      limit,
      earlierDay: before.run.day,
      earlierVersion: before.run.rowsVersion,
    },
  );
}
