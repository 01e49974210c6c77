/** What full marks of engagement are, and how long the usual gaps are: `engagementScale` in SQL. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { type EngagementScale, leastScale } from "../engagement.ts";
import { daysPerPeriod, windowPeriods } from "../features.ts";
import { clamp } from "../vectors.ts";
import { engagementEvents, type Population } from "./engagement-events.ts";
import { featuresQuery } from "./feature-query.ts";
import { type Query, read } from "./query.ts";

export interface MeasuredScale {
  readonly scale: EngagementScale;
  /** The 90th percentile of the gaps between active days, which the horizon should not be below; null without gaps. */
  readonly longGapDays: number | null;
}

/** Gaps between active days are those of the window of 26 weeks. */
export async function readScale(
  warehouse: Warehouse,
  population: Population,
  cutoffDay: number,
): Promise<MeasuredScale> {
  const [marks] = await read<Record<"entities" | "activeDays" | "volume" | "eventNames", number>>(
    warehouse,
    marksQuery(population, cutoffDay),
  );
  const [gaps] = await read<Record<"count" | "middle" | "long", number>>(
    warehouse,
    gapsQuery(population, cutoffDay),
  );
  const hasMarks = marks !== undefined && marks.entities > 0;
  const hasGaps = gaps !== undefined && gaps.count > 0;
  const full = (part: keyof typeof leastScale) =>
    hasMarks ? Math.max(leastScale[part], marks[part]) : leastScale[part];
  return {
    scale: {
      activeDays: full("activeDays"),
      volume: full("volume"),
      eventNames: full("eventNames"),
      halfLifeDays: hasGaps ? clamp(gaps.middle, 1, 14) : daysPerPeriod,
    },
    longGapDays: hasGaps ? gaps.long : null,
  };
}

function marksQuery(population: Population, cutoffDay: number): Query {
  const features = featuresQuery(population, cutoffDay);
  const full = (column: string) => `ifNotFinite(quantileExactInclusive(0.9)(${column}), 0)`;
  return {
    sql: `
      SELECT count() AS entities, ${full("activeDays28")} AS activeDays, ${full("volume28")} AS volume,
        ${full("eventNames28")} AS eventNames
      FROM (${features.sql}) WHERE activeDays28 > 0`,
    parameters: features.parameters,
  };
}

function gapsQuery(population: Population, cutoffDay: number): Query {
  const events = engagementEvents(population, { daysBefore: daysPerPeriod * windowPeriods });
  return {
    sql: `
      SELECT sum(length(gaps)) AS count,
        ifNotFinite(quantileExactInclusiveArray(0.5)(gaps), 0) AS middle,
        ifNotFinite(quantileExactInclusiveArray(0.9)(gaps), 0) AS long
      FROM (
        SELECT arrayPopFront(arrayDifference(arraySort(groupUniqArray(epochDay)))) AS gaps
        FROM (${events.sql}) GROUP BY entity)`,
    parameters: { ...events.parameters, cutoffDay },
  };
}
