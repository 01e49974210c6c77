/** What full marks of engagement are, and how long entities usually stay away: one row for an organization. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { type EngagementScale, scaleOf } from "../engagement.ts";
import { daysPerPeriod, windowPeriods } from "../features.ts";
import { horizonFor } from "../state.ts";
import { engagementEvents, type Population } from "./engagement-events.ts";
import { featuresQuery } from "./feature-query.ts";
import { read, withParts } from "./query.ts";

export interface UsualBehaviour {
  readonly scale: EngagementScale;
  /** The churn horizon that the settings page advises; null without gaps. */
  readonly advisedHorizonDays: number | null;
}

/** Null where there is nobody, or no gap. */
interface ScaleRow {
  readonly activeDays: number | null;
  readonly volume: number | null;
  readonly eventNames: number | null;
  readonly medianGapDays: number | null;
  readonly longGapDays: number | null;
}

/**
 * Reads them as of a cut-off. Gaps are those between neighbouring active days of an entity within the 26 weeks
 * before it, so that they tell of the product as it is now.
 */
export async function readUsualBehaviour(
  warehouse: Warehouse,
  population: Population,
  cutoffDay: number,
): Promise<UsualBehaviour> {
  const query = withParts(
    {
      features: featuresQuery(population, cutoffDay),
      events: engagementEvents(population, { daysBefore: daysPerPeriod * windowPeriods }),
    },
    {
      sql: `
        SELECT activeDays, volume, eventNames, gaps[1] AS medianGapDays, gaps[2] AS longGapDays
        FROM (
          SELECT quantileExactInclusive(0.9)(activeDays28) AS activeDays,
            quantileExactInclusive(0.9)(volume28) AS volume,
            quantileExactInclusive(0.9)(eventNames28) AS eventNames
          FROM features WHERE activeDays28 > 0) AS active
        CROSS JOIN (
          SELECT quantilesExactInclusiveArray(0.5, 0.9)(days) AS gaps
          FROM (
            SELECT arrayPopFront(arrayDifference(arraySort(groupUniqArray(epochDay)))) AS days
            FROM events GROUP BY entity)) AS between`,
      parameters: {},
    },
  );
  const [row] = await read<ScaleRow>(warehouse, query);
  if (row === undefined) throw new Error("an aggregation without groups has one row");
  const { longGapDays } = row;
  return {
    scale: scaleOf(row),
    advisedHorizonDays: longGapDays === null ? null : horizonFor(longGapDays),
  };
}
