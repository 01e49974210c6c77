/** Features in SQL, for all entities at once. A test compares them with test/scoring/features.ts on random
 * logs. */
import {
  adoptionDays,
  daysPerPeriod,
  type FactsBeside,
  type Features,
  maxCountPerDay,
  weeksOfSlope,
  windowPeriods,
} from "../scores/features.ts";
import {
  engagementEvents,
  eventNumber,
  eventNumbers,
  lowerOf,
  type Population,
  pairSql,
  upperOf,
} from "./engagement-events.ts";
import type { Query } from "./query.ts";

/** A row of features of one entity. */
export interface FeatureRow extends Omit<Features, "cell" | Exclude<keyof FactsBeside, "hasLeft">> {
  /** The number of the user or the account. */
  readonly entity: number;
  /** The cell; −1 of each when the entity was not seen in the window of 26 weeks. */
  readonly x: number;
  readonly t: number;
  readonly n: number;
}

/** The columns of a `FeatureRow` besides the entity. */
export const featureColumns = [
  "idleDays",
  "tenureDays",
  "activeDays28",
  "activeDaysPrevious28",
  "activeDays84",
  "activeDaysByWeek",
  "volume28",
  "eventNames28",
  "eventCounts28",
  "meanGapDays",
  "gapVariability",
  "hasSingleActiveDay",
  "x",
  "t",
  "n",
  "adoption",
  "keyEventIdleDays",
  "hasLeft",
].join(", ");

/** A row of a snapshot. Whether an entity has left follows from the churn target, and is no part of it. */
export type SnapshotFeatures = Omit<FeatureRow, "hasLeft">;

const windowDays = daysPerPeriod * windowPeriods;

/**
 * `SnapshotFeatures` of each entity with an engagement event before the cut-off.
 *
 * Of days further back than 26 weeks only the user and the day are read, and the event's name where passive
 * or key events are set.
 * @param counted names of events of which a row has counts
 */
export function featuresQuery(
  population: Population,
  cutoffDay: number,
  counted: readonly string[] = [],
): Query {
  const history = historyQuery(population, cutoffDay);
  const activity = activityQuery(population, cutoffDay, counted);
  return {
    sql: `SELECT * FROM (${history.sql}) AS history LEFT JOIN (${activity.sql}) AS activity USING (entity)`,
    parameters: { ...history.parameters, ...activity.parameters },
  };
}

/** The features of days. An array has the days of 26 weeks on which the entity was active, as observed days
 * before the cut-off. */
function historyQuery(population: Population, cutoffDay: number): Query {
  const events = engagementEvents(population, cutoffDay, "before");
  const key = keyEventParts([...new Set(population.settings.keyEvents)]);
  const sql = `
    SELECT entity, idleDays, tenureDays,
      arrayCount(ago -> ago <= 28, days) AS activeDays28,
      arrayCount(ago -> ago > 28 AND ago <= 56, days) AS activeDaysPrevious28,
      arrayCount(ago -> ago <= 84, days) AS activeDays84,
      arrayMap(week -> toUInt8(countEqual(weeks, week)), range(${weeksOfSlope})) AS activeDaysByWeek,
      if(activeDays = 1, tenureDays, (tenureDays - idleDays) / (activeDays - 1)) AS meanGapDays,
      if(length(days) < 3, NULL, arrayReduce('stddevPop', gaps) / arrayAvg(gaps)) AS gapVariability,
      toBool(activeDays = 1) AS hasSingleActiveDay,
      toInt32(length(arrayDistinct(weeks))) - 1 AS x,
      if(empty(days), -1, toInt32(weeks[-1])) AS n,
      if(empty(days), -1, n - toInt32(weeks[1])) AS t,
      ${key.columns}
    FROM (
      SELECT entity, min(daysAgo) AS idleDays, max(daysAgo) AS tenureDays, uniqExact(daysAgo) AS activeDays,
        arraySort(groupUniqArrayIf(toUInt8(daysAgo), daysAgo <= ${windowDays})) AS days,
        arrayMap(ago -> intDiv(ago - 1, ${daysPerPeriod}), days) AS weeks,
        arrayPopFront(arrayDifference(days)) AS gaps
        ${key.aggregates}
      FROM (${events.sql})
      GROUP BY entity)`;
  return { sql, parameters: { ...events.parameters, ...key.parameters } };
}

/** Rows (entity, volume28, eventNames28, eventCounts28) of the entities that were active in the 28 days
 * before the cut-off. */
function activityQuery(population: Population, cutoffDay: number, counted: readonly string[]): Query {
  const events = engagementEvents(population, cutoffDay, { daysBefore: 28 });
  const numbers = eventNumbers(population, cutoffDay, counted);
  const isCounted = `number BETWEEN 1 AND ${counted.length}`;
  const sql = `
    WITH ${numbers.sql}
    SELECT entity, sum(capped * weights[number]) AS volume28, count() AS eventNames28,
      mapFromArrays(groupArrayIf(names[number], ${isCounted}), groupArrayIf(toUInt32(total), ${isCounted})) AS eventCounts28
    FROM (
      SELECT ${upperOf("pair")} AS entity, ${lowerOf("pair")} AS number, sum(times) AS total,
        sum(least(times, ${maxCountPerDay})) AS capped
      FROM (
        SELECT ${pairSql("entity", eventNumber)} AS pair, sum(count) AS times FROM (${events.sql}) GROUP BY pair, epochDay)
      GROUP BY pair)
    GROUP BY entity`;
  return { sql, parameters: { ...events.parameters, ...numbers.parameters } };
}

/** A row as features, with the facts that it does not have. */
export function featuresOfRow(row: FeatureRow, facts: Omit<FactsBeside, "hasLeft">): Features {
  const { idleDays, tenureDays, activeDays28, activeDaysPrevious28, activeDays84, volume28 } = row;
  const { activeDaysByWeek, eventNames28, eventCounts28, meanGapDays, gapVariability } = row;
  const { hasSingleActiveDay, adoption, keyEventIdleDays, hasLeft, x, t, n } = row;
  return {
    idleDays,
    tenureDays,
    activeDays28,
    activeDaysPrevious28,
    activeDays84,
    volume28,
    activeDaysByWeek,
    eventNames28,
    eventCounts28,
    meanGapDays,
    gapVariability,
    hasSingleActiveDay,
    adoption,
    keyEventIdleDays,
    hasLeft,
    cell: n < 0 ? null : { x, t, n },
    ...facts,
  };
}

function keyEventParts(keyEvents: readonly string[]) {
  if (keyEvents.length === 0) {
    return { aggregates: "", columns: "NULL AS adoption, NULL AS keyEventIdleDays", parameters: {} };
  }
  const isKey = "has({keyEvents:Array(String)}, event)";
  return {
    aggregates: `,
      uniqExactIf(event, daysAgo <= ${adoptionDays} AND ${isKey}) AS keyEventsUsed,
      minIf(daysAgo, daysAgo <= ${windowDays} AND ${isKey}) AS lastKeyEvent`,
    columns: `keyEventsUsed / length({keyEvents:Array(String)}) AS adoption, nullIf(lastKeyEvent, 0) AS keyEventIdleDays`,
    parameters: { keyEvents },
  };
}
