/** The base rate that the precision of a rule is compared with: how many of all entities churned within the
 * horizon. */
import {
  type MembersQuestion,
  memberDigitsSql,
  wasMember,
} from "../../../analytics/entities/recorded-days.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../../warehouse/schema/included.ts";

export interface BaseRate {
  readonly count: number;
  readonly churned: number;
}

export interface BaseRateQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly runs: readonly ScoreRecord<RunBody>[];
  readonly horizonDays: number;
  /** Days of runs, each with a run a horizon later. */
  readonly days: readonly number[];
  /** Counts only members of a segment on the day, which is at a place among its evaluations. Undefined for
   * all. */
  readonly within?:
    | { readonly members: MembersQuestion; readonly placeOf: (day: number) => number }
    | undefined;
}

/** The entities that could churn on the Mondays among the days (on the last day if there is no Monday), and
 * how many of them had churned a horizon later. @throws WarehouseError */
export async function baseRateOf(
  warehouse: Warehouse,
  { organization, kind, runs, horizonDays, days, within }: BaseRateQuestion,
): Promise<BaseRate> {
  const mondays = days.filter((day) => day % 7 === 4);
  const chosen = mondays.length > 0 ? mondays : days.slice(-1);
  if (chosen.length === 0) return { count: 0, churned: 0 };
  const versionOf = (day: number) => runs.find((run) => run.day === day)?.body.rowsVersion ?? 0;
  const shown = kind === "user" ? isIncluded("user") : "true";
  const rows = (name: string) => `
    SELECT ${kind} AS entity, toInt32(day) AS ${name}Day, state, n FROM ${kind}_scores FINAL
    WHERE organization = {organization:UInt32} AND ${shown}
      AND day IN (SELECT addDays(toDate32('1970-01-01'), arrayJoin({${name}Days:Array(Int32)})))
      AND version >= transform(toInt32(day), {${name}Days:Array(Int32)}, {${name}Versions:Array(UInt64)}, 0)`;
  const members = within && memberDigitsSql(within.members);
  const ofMembers =
    members === undefined
      ? ""
      : `INNER JOIN (${members.text}) AS recorded USING (entity)
         WHERE ${wasMember("transform(day, {earlyDays:Array(Int32)}, {earlyPlaces:Array(UInt8)}, 0)")}`;
  const later = chosen.map((day) => day + horizonDays);
  const [row] = await warehouse.rows<BaseRate>(
    `SELECT count() AS count, countIf(laterState = 'churned') AS churned
     FROM (
       SELECT entity, day FROM (
         SELECT entity, earlyDay AS day FROM (${rows("early")}) WHERE state != 'churned' AND n >= 0) AS scored
       ${ofMembers}) AS early
     INNER JOIN (SELECT entity, laterDay - {horizonDays:Int32} AS day, state AS laterState FROM (${rows("later")})) AS later
     USING (entity, day)`,
    {
      ...members?.parameters,
      ...(within !== undefined && { earlyPlaces: chosen.map(within.placeOf) }),
      organization,
      horizonDays,
      earlyDays: chosen,
      earlyVersions: chosen.map(versionOf),
      laterDays: later,
      laterVersions: later.map(versionOf),
    },
  );
  return row ?? { count: 0, churned: 0 };
}
