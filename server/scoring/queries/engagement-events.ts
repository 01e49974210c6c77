/**
 * The engagement events of all entities, from which every score is computed.
 */
import type { Zone } from "../../calendar/zone.ts";
import { engagementParameters, isEngagement } from "../../warehouse/schema/engagement.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { type FeatureSettings, maxCountPerDay } from "../scores/features.ts";
import { joinedSpans, type Outages, observedCutoff, windowStart } from "../scores/observed-days.ts";
import type { Query } from "./query.ts";

/** A user or an account. An account has the events that carry it. */
export type EntityKind = "user" | "account";

export interface Population {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly settings: FeatureSettings;
  /** The organization's timezone, which decides when a day begins. */
  readonly zone: Zone;
  /** Only this entity's number. */
  readonly entity?: number;
  /** Only users whose numbers this query returns. */
  readonly usersIn?: Query;
  /** Only users with these numbers: rows of users lie in their order, so only these are read. */
  readonly numbers?: { readonly from: number; readonly below: number };
  /** Excluded users, too: for rows from which they are left out when these are read. */
  readonly withExcluded?: boolean;
}

/** Days before the cut-off, as many observed days until it, or this many calendar days from it. */
export type Days = "before" | { readonly daysBefore: number } | { readonly horizonDays: number };

/**
 * Rows (entity, user, account, epochDay, daysAgo, event, count) of the rollup as they are. One day's count of
 * an event may be spread over several rows that are not merged yet or belong to two accounts of a user.
 * Queries that only need to know whether there was an event on a day can read them so, without grouping
 * everything. `daysAgo` are the observed days from an event to the cut-off, at least 1 before it
 * (observed-days.ts).
 */
export function engagementEvents(population: Population, cutoffDay: number, days: Days): Query {
  const { organization, kind, settings, entity, usersIn, numbers, withExcluded = false } = population;
  const passive = [...(settings.passiveEvents ?? [])];
  const outages = joinedSpans(settings.outages ?? [], cutoffDay);
  const span = daysCondition(days, cutoffDay, outages);
  const ago = daysAgo(outages, cutoffDay);
  const conditions = [
    "organization = {organization:UInt32}",
    ...(entity === undefined ? [] : [`${kind} = {entity:UInt32}`]),
    ...(kind === "account" ? ["account != 0"] : []),
    ...(usersIn === undefined ? [] : [`user IN (${usersIn.sql})`]),
    ...(numbers === undefined ? [] : ["user >= {numbersFrom:UInt32} AND user < {numbersBelow:UInt32}"]),
    span.sql,
    isEngagement(passive),
    ...(withExcluded ? [] : [isIncluded("user")]),
  ];
  return {
    sql: `
      SELECT ${kind} AS entity, user, account, toInt32(day) AS epochDay, ${ago.sql} AS daysAgo, event, count
      FROM user_event_days WHERE ${conditions.join(" AND ")}`,
    parameters: {
      ...usersIn?.parameters,
      organization,
      ...span.parameters,
      ...ago.parameters,
      ...engagementParameters(passive),
      ...(entity !== undefined && { entity }),
      ...(numbers !== undefined && { numbersFrom: numbers.from, numbersBelow: numbers.below }),
    },
  };
}

/** Rows (entity, user, volume28): Σ weight · min(count, 50) over events and days of the 28 before the
 * cut-off. */
export function volumeQuery(population: Population, cutoffDay: number): Query {
  const events = engagementEvents(population, cutoffDay, { daysBefore: 28 });
  const weight = weightOf(population.settings, "toString(event)");
  const sql = `
    SELECT entity, user, sum(least(times, ${maxCountPerDay}) * ${weight.sql}) AS volume28
    FROM (
      SELECT entity, user, event, sum(count) AS times FROM (${events.sql}) GROUP BY entity, user, epochDay, event)
    GROUP BY entity, user`;
  return { sql, parameters: { ...events.parameters, ...weight.parameters } };
}

/** The weight of the event whose name is the value of this expression. */
function weightOf({ weights }: FeatureSettings, name: string): Query {
  return {
    sql: `transform(${name}, {weightedEvents:Array(String)}, {weights:Array(Float64)}, 1.)`,
    parameters: {
      weightedEvents: [...(weights?.keys() ?? [])],
      weights: [...(weights?.values() ?? [])],
    },
  };
}

/**
 * Numbers for the names of events in the 28 days before the cut-off. As part of a group's key a text costs
 * more than twice what a number does.
 *
 * The text is for a `WITH`. `names` are all names in these days, the counted ones first, and `weights` their
 * weights. The number of a name is its place, from 1. Names are sorted, because the engine may compute them
 * more than once in a statement. Of parts of a population they are those of all users, which stand in a
 * projection.
 */
export function eventNumbers(
  { numbers: _, withExcluded: _excluded, ...population }: Population,
  cutoffDay: number,
  counted: readonly string[] = [],
): Query {
  const { entity, usersIn } = population;
  const isOfAll = entity === undefined && usersIn === undefined;
  const named: Population = { ...population, withExcluded: true, ...(isOfAll && { kind: "user" }) };
  const events = engagementEvents(named, cutoffDay, { daysBefore: 28 });
  const weight = weightOf(population.settings, "name");
  const all = (condition: string) =>
    `(SELECT arraySort(groupArray(toString(event))) FROM (SELECT event FROM (${events.sql}) ${condition} GROUP BY event))`;
  const names =
    counted.length === 0
      ? `${all("")} AS names`
      : `${all("WHERE event NOT IN {countedEvents:Array(String)}")} AS otherNames,
         arrayConcat({countedEvents:Array(String)}, otherNames) AS names`;
  return {
    sql: `${names}, arrayMap(name -> ${weight.sql}, names) AS weights`,
    parameters: {
      ...events.parameters,
      ...weight.parameters,
      ...(counted.length > 0 && { countedEvents: [...counted] }),
    },
  };
}

/** The number of a row's event by `eventNumbers`, in SQL. */
export const eventNumber = "transform(event, names, arrayEnumerate(names), toUInt32(0))";

/**
 * One number for two of 32 bits, in SQL. As keys of groups two columns cost more, and when the first one is
 * that of the table's order the engine may make a hash table for each of its values: 7.3 s of processor time
 * for 100,000 users and their accounts, and 0.2 with one number.
 */
export const pairSql = (upper: string, lower: string) => `(toUInt64(${upper}) * 4294967296 + ${lower})`;
/** The first of the two numbers in `pairSql`. */
export const upperOf = (pair: string) => `toUInt32(bitShiftRight(${pair}, 32))`;
/** The second of the two numbers in `pairSql`. */
export const lowerOf = (pair: string) => `toUInt32(${pair})`;

/** How many observed days an event is before the cut-off: outage days between them are not counted, and an
 * event of an outage counts as one of the day before it. */
function daysAgo(outages: Outages, cutoffDay: number): Query {
  const missing = outages.map(
    (_, index) =>
      ` + greatest(0, least(epochDay + 1, {outageEnds:Array(Int32)}[${index + 1}]) - {outageStarts:Array(Int32)}[${index + 1}])`,
  );
  return {
    sql: `{observedCutoff:Int32} - epochDay${missing.join("")}`,
    parameters: {
      observedCutoff: observedCutoff(cutoffDay, outages),
      ...(outages.length > 0 && {
        outageStarts: outages.map(({ from }) => from),
        outageEnds: outages.map(({ to }) => to),
      }),
    },
  };
}

/** Each window has a parameter of its own: a statement may ask for several of one cut-off. */
function daysCondition(days: Days, cutoffDay: number, outages: Outages): Query {
  if (days === "before")
    return { sql: `day < ${dayParameter("eventsUntil")}`, parameters: { eventsUntil: cutoffDay } };
  if ("horizonDays" in days) {
    return {
      sql: `day >= ${dayParameter("horizonFrom")} AND day < ${dayParameter("horizonTo")}`,
      parameters: { horizonFrom: cutoffDay, horizonTo: cutoffDay + days.horizonDays },
    };
  }
  const since = `since${days.daysBefore}`;
  return {
    sql: `day >= ${dayParameter(since)} AND day < ${dayParameter("eventsUntil")}`,
    parameters: { [since]: windowStart(cutoffDay, days.daysBefore, outages), eventsUntil: cutoffDay },
  };
}
