/** `featuresOf` in SQL, for all entities at once. A test compares the two on random logs. */
import {
  adoptionDays,
  daysPerPeriod,
  type Features,
  skippedPeriods,
  windowPeriods,
} from "../scores/features.ts";
import { engagementEvents, type Population, volumeQuery } from "./engagement-events.ts";
import type { Query } from "./query.ts";
import { withLeft } from "./target-query.ts";

/** A row of `featuresQuery`, for one entity. */
export interface FeatureRow extends Omit<Features, "cell" | "traits" | "members"> {
  /** The number of the user or the account. */
  readonly entity: number;
  /** The cell; −1 of each when the entity was not seen in the window of 26 weeks. */
  readonly x: number;
  readonly t: number;
  readonly n: number;
}

const windowDays = daysPerPeriod * windowPeriods;

/** A `FeatureRow` for each entity with an engagement event before the cut-off. */
export function featuresQuery(population: Population, cutoffDay: number): Query {
  const history = withLeft(population, cutoffDay, historyQuery(population, cutoffDay));
  const volume = volumeQuery(population);
  return {
    sql: `SELECT * FROM (${history.sql}) AS history LEFT JOIN (${volume.sql}) AS volume USING (entity)`,
    parameters: { ...history.parameters, ...volume.parameters },
  };
}

/**
 * The same without `hasLeft`, and without volume28, the one feature that needs counts: it takes a third of the time.
 *
 * Days are bits of one number, bit i for the day i+1 days before the cut-off, and so are weeks. So counting distinct
 * ones needs no set for each entity.
 */
export function historyQuery(population: Population, cutoffDay: number): Query {
  const events = engagementEvents(population, "before");
  const { settings } = population;
  const adoption = adoptionParts([...new Set(settings.keyEvents)]);
  const cell = cellParts(skippedPeriods(settings.outageWeeks ?? [], cutoffDay));
  const sql = `
    SELECT entity,
      {cutoffDay:Int32} - lastDay AS idleDays,
      {cutoffDay:Int32} - firstDay AS tenureDays,
      ${bitsOfDays(0, 28)} AS activeDays28,
      ${bitsOfDays(28, 28)} AS activeDaysPrevious28,
      bitCount(days) AS activeDays84,
      eventNames28,
      if(activeDays = 1, tenureDays, (lastDay - firstDay) / (activeDays - 1)) AS meanGapDays,
      toBool(activeDays = 1) AS hasSingleActiveDay,
      ${cell.sql},
      ${adoption.share} AS adoption
    FROM (
      SELECT entity,
        min(epochDay) AS firstDay,
        max(epochDay) AS lastDay,
        uniqExact(epochDay) AS activeDays,
        groupBitOrIf(bitShiftLeft(toUInt128(1), daysAgo - 1), daysAgo <= 84) AS days,
        groupBitOrIf(bitShiftLeft(toUInt32(1), intDiv(daysAgo - 1, ${daysPerPeriod})), daysAgo <= ${windowDays})
          AS weeks,
        minIf(epochDay, daysAgo <= ${windowDays}) AS firstWindowDay,
        uniqExactIf(event, daysAgo <= 28) AS eventNames28
        ${adoption.used}
      FROM (SELECT *, {cutoffDay:Int32} - epochDay AS daysAgo FROM (${events.sql}))
      GROUP BY entity)`;
  return {
    sql,
    parameters: {
      ...events.parameters,
      ...adoption.parameters,
      ...cell.parameters,
      cutoffDay,
    },
  };
}

/** A row as features, with traits and members from elsewhere. */
export function featuresOfRow(
  row: FeatureRow,
  { traits, members }: Pick<Features, "traits" | "members">,
): Features {
  const { idleDays, tenureDays, activeDays28, activeDaysPrevious28, activeDays84, volume28 } = row;
  const { eventNames28, meanGapDays, hasSingleActiveDay, adoption, hasLeft, x, t, n } = row;
  return {
    ...{ idleDays, tenureDays, activeDays28, activeDaysPrevious28, activeDays84, volume28 },
    ...{ eventNames28, meanGapDays, hasSingleActiveDay, adoption, hasLeft },
    ...{ cell: n < 0 ? null : { x, t, n }, traits, members },
  };
}

/** How many of `count` days are active, beginning this many days before the cut-off. */
function bitsOfDays(from: number, count: number): string {
  return `bitCount(bitAnd(bitShiftRight(days, ${from}), bitShiftLeft(toUInt128(1), ${count}) - 1))`;
}

/** x, t and n. Without skipped periods they follow from days alone, which is nearly always the case. */
function cellParts(skipped: readonly number[]): Query {
  if (skipped.length === 0) {
    return {
      sql: `
        toInt32(bitCount(weeks)) - 1 AS x,
        if(weeks = 0, -1, intDiv({cutoffDay:Int32} - 1 - firstWindowDay, ${daysPerPeriod})) AS n,
        if(weeks = 0, -1, n - intDiv(idleDays - 1, ${daysPerPeriod})) AS t`,
      parameters: {},
    };
  }
  // How many periods ago the bit is, without those that are skipped.
  const periodsAgo = (bit: string) =>
    `bitCount(bitAnd(bitShiftLeft(toUInt64(1), ${bit}) - 1, bitNot(toUInt64({skippedWeeks:UInt32}))))`;
  const highest = "toUInt8(floor(log2(seenWeeks)))";
  const lowest = "bitCount(bitXor(seenWeeks, seenWeeks - 1)) - 1";
  return {
    sql: `
      bitAnd(toUInt64(weeks), bitNot(toUInt64({skippedWeeks:UInt32}))) AS seenWeeks,
      toInt32(bitCount(seenWeeks)) - 1 AS x,
      if(seenWeeks = 0, -1, toInt32(${periodsAgo(highest)})) AS n,
      if(seenWeeks = 0, -1, n - toInt32(${periodsAgo(lowest)})) AS t`,
    parameters: { skippedWeeks: skipped.reduce((mask, ago) => mask + 2 ** ago, 0) },
  };
}

function adoptionParts(keyEvents: readonly string[]) {
  if (keyEvents.length === 0) return { used: "", share: "NULL", parameters: {} };
  return {
    used: `, uniqExactIf(event, daysAgo <= ${adoptionDays} AND has({keyEvents:Array(String)}, event)) AS keyEventsUsed`,
    share: "keyEventsUsed / length({keyEvents:Array(String)})",
    parameters: { keyEvents },
  };
}
