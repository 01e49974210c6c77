/**
 * How long users usually stay away: the gaps between a user's active days, of all users within 26 weeks. The
 * recommended churn horizon is their 90th percentile, rounded up to an allowed one. Nine of ten gaps are
 * shorter, so a longer silence is unlikely to be a usual gap.
 */

import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { activeDaysTable, type PassiveEvents } from "../warehouse/schema/engagement.ts";
import { included } from "../warehouse/schema/included.ts";
import { dayParameter } from "../warehouse/upkeep/keep-events.ts";
import { engagementRows, type UsersQuestion } from "./sql.ts";

/** The window: 26 weeks. */
const usageIntervalsDays = 182;

/** The horizons that an organization can set, in days. */
const churnHorizonsDays = [7, 14, 28, 56, 84] as const;
type ChurnHorizonDays = (typeof churnHorizonsDays)[number];

/** From fewer gaps no horizon is advised. */
const fewestGaps = 100;

export interface UsageIntervalRow {
  /** Days from one active day to the next of the same user: 1 for the very next day. */
  readonly days: number;
  readonly gaps: number;
}

/** How many gaps there are of each length, the shortest first; lengths without any are left out. */
export function usageIntervals(warehouse: Warehouse, question: UsersQuestion): Promise<UsageIntervalRow[]> {
  return engagementRows(warehouse, sql, { ...question, fromDay: question.toDay - usageIntervalsDays + 1 });
}

/** The nearest-rank percentile of the gaps' lengths; undefined when there is no gap. */
export function gapPercentile(rows: readonly UsageIntervalRow[], percent: number): number | undefined {
  const all = rows.reduce((sum, { gaps }) => sum + gaps, 0);
  let seen = 0;
  return rows.find(({ gaps }) => {
    seen += gaps;
    return seen * 100 >= percent * all;
  })?.days;
}

/** The churn horizon, in days, that these gaps advise; undefined when there are too few. */
export function advisedHorizon(rows: readonly UsageIntervalRow[]): ChurnHorizonDays | undefined {
  const gaps = rows.reduce((sum, row) => sum + row.gaps, 0);
  const usual = gapPercentile(rows, 90);
  if (usual === undefined || gaps < fewestGaps) return undefined;
  return churnHorizonsDays.find((horizon) => horizon >= usual) ?? churnHorizonsDays.at(-1);
}

const sql = (passive: PassiveEvents) => `
  SELECT gap AS days, count() AS gaps
  FROM (
    SELECT arrayJoin(arrayPopFront(arrayDifference(arraySort(groupArray(dayOfWindow))))) AS gap
    FROM (
      SELECT toUInt8(toInt32(day) - {fromDay:Int32}) AS dayOfWindow,
        arrayJoin(bitmapToArray(${included("groupBitmapMergeState(users)")})) AS user
      FROM ${activeDaysTable(passive)}
      WHERE organization = {organization:UInt32}
        AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
      GROUP BY dayOfWindow)
    GROUP BY user)
  GROUP BY gap ORDER BY gap`;
