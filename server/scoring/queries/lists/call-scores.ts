/** The scores behind the call list: of the newest run, of a week before and of 28 days before. */
import type { Query } from "../query.ts";
import type { OfRun } from "./reading.ts";
import { shiftsBetween } from "./shifts.ts";
import { isShown, rowsOfRun } from "./stored-score.ts";

export interface CallScoresQuestion {
  /** The newest run. */
  readonly run: OfRun;
  /** The run of a week before; without it (undefined) no health fell. */
  readonly weekBefore: OfRun | undefined;
  /** The run of 28 days before; without it (undefined) no use fell. */
  readonly monthBefore: OfRun | undefined;
}

/** Rows (entity, state, band, risk, change, idleDays, volume28, volumeBefore, activeMembers, membersBefore,
 * members90). `change` is that of health within a week, without what changed rules changed. Volumes are
 * activity events of 28 days. A user is one member. */
export function callScoresQuery({ run, weekBefore, monthBefore }: CallScoresQuestion): Query {
  const { kind, ...ofRun } = run;
  const members =
    kind === "account"
      ? "active_members_28 AS activeMembers, active_members_previous_28 AS membersBefore, active_members_90 AS members90"
      : "toUInt32(1) AS activeMembers, toUInt32(1) AS membersBefore, toUInt32(1) AS members90";
  const rows = (columns: string, name: string) => `
    SELECT ${kind} AS entity, ${columns} FROM ${kind}_scores FINAL
    WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {${name}Day:Int32})
      AND version >= {${name}Version:UInt64} AND ${isShown(kind)}`;
  const week =
    weekBefore === undefined
      ? "SELECT toUInt32(0) AS entity, CAST(NULL AS Nullable(Float64)) AS before, 0. AS byRules WHERE false"
      : `SELECT entity, before, byRules FROM (${rows("health AS before", "weekBefore")}) AS stored
         LEFT JOIN ${shiftsBetween(kind, "weekBeforeDay", "day")} AS shifts USING (entity)`;
  const month =
    monthBefore === undefined
      ? "SELECT toUInt32(0) AS entity, CAST(NULL AS Nullable(Float64)) AS volumeBefore WHERE false"
      : rows("toNullable(volume_28) AS volumeBefore", "monthBefore");
  return {
    sql: `
      SELECT entity, state, band, risk, health - before - byRules AS change, idleDays, volume28, volumeBefore,
        activeMembers, membersBefore, members90
      FROM (
        SELECT ${kind} AS entity, toString(state) AS state, toString(colour) AS band, risk, health,
          toNullable(idle_days) AS idleDays, toNullable(volume_28) AS volume28, ${members}
        FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)}) AS scores
      LEFT JOIN (${week}) AS week_before USING (entity)
      LEFT JOIN (${month}) AS month_before USING (entity)`,
    parameters: {
      ...ofRun,
      ...(weekBefore !== undefined && bound("weekBefore", weekBefore)),
      ...(monthBefore !== undefined && bound("monthBefore", monthBefore)),
    },
  };
}

function bound(name: string, { day, rowsVersion }: OfRun) {
  return { [`${name}Day`]: day, [`${name}Version`]: rowsVersion };
}
