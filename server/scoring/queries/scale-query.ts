/** The values of full marks in engagement, and how long entities usually stay away: one row for an
 * organization. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { type EngagementScale, scaleOf } from "../scores/engagement.ts";
import { daysPerPeriod, windowPeriods } from "../scores/features.ts";
import { engagementEvents, type Population } from "./engagement-events.ts";
import { type Query, read, withParts } from "./query.ts";
import type { SnapshotRows } from "./snapshot-rows.ts";

export interface UsualBehaviour {
  readonly scale: EngagementScale;
}

/** Null without entities. */
interface ScaleRow {
  readonly activeDays: number | null;
  readonly volume: number | null;
  readonly eventNames: number | null;
}

/** Null where there is no gap. */
interface GapsRow {
  readonly medianGapDays: number | null;
}

/**
 * Reads them as of the day of a snapshot. Gaps are those between successive active days of an entity within
 * the 26 weeks before it, so that they describe the product as it is now. Two queries run one after the
 * other, so that their memory does not add up.
 */
export async function readUsualBehaviour(
  warehouse: Warehouse,
  population: Population,
  { day, entities }: Pick<SnapshotRows, "day" | "entities">,
): Promise<UsualBehaviour> {
  const [active] = await read<ScaleRow>(warehouse, scaleQuery(entities));
  const [gaps] = await read<GapsRow>(warehouse, gapsQuery(population, day));
  if (active === undefined || gaps === undefined)
    throw new Error("an aggregation without groups has one row");
  return { scale: scaleOf({ ...active, medianGapDays: gaps.medianGapDays }) };
}

function scaleQuery(features: Query): Query {
  return withParts(
    { features },
    {
      sql: `
        SELECT quantileExactInclusive(0.9)(activeDays28) AS activeDays,
          quantileExactInclusive(0.9)(volume28) AS volume,
          quantileExactInclusive(0.9)(eventNames28) AS eventNames
        FROM features WHERE activeDays28 > 0`,
      parameters: {},
    },
  );
}

function gapsQuery(population: Population, cutoffDay: number): Query {
  const events = engagementEvents(population, cutoffDay, { daysBefore: daysPerPeriod * windowPeriods });
  return withParts(
    { events },
    {
      sql: `
        SELECT quantileExactInclusiveArray(0.5)(days) AS medianGapDays
        FROM (
          SELECT arrayPopFront(arrayDifference(arraySort(groupUniqArray(daysAgo)))) AS days
          FROM events GROUP BY entity)`,
      parameters: {},
    },
  );
}
