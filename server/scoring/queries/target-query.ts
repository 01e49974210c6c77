/** Declared churn targets in SQL, for all entities at once. Tests compare them with
 * test/scoring/churn-changes.ts. */
import { silence } from "../../../contract/api/churn-targets.ts";
import { msPerDay } from "../../calendar/zone.ts";
import { accountOwners } from "../../warehouse/schema/account-owners.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { billingFactSql } from "../scores/billing.ts";
import type { DaySpan } from "../scores/churn-changes.ts";
import { isDeclared } from "../scores/features.ts";
import type { Population } from "./engagement-events.ts";
import type { Query } from "./query.ts";
import { standingQuery } from "./subscription-query.ts";

/** The condition of entities with a churn risk, as in `isScored`, over columns of `withLeft`. */
export function isScoredRow({ settings: { target = silence } }: Population, horizonDays: number): Query {
  if (target.by === "silence") {
    return { sql: "n >= 0 AND idleDays < {horizonDays:Int32}", parameters: { horizonDays } };
  }
  return { sql: `n >= 0 AND ${target.by === "subscription" ? "isPaying" : "NOT hasLeft"}`, parameters: {} };
}

/** The condition of the stored scores by which health bands are judged: entities that could churn, and whose
 * end was not scheduled. */
export function couldChurn({ settings: { target = silence } }: Population): string {
  const could = "state NOT IN ('churned', 'canceling') AND n >= 0";
  if (target.by !== "subscription") return could;
  return `${could} AND ifNull(${billingFactSql("isPaying")} = 1, false)`;
}

/** Rows of entities, and `hasLeft`: whether the declared target is met at the start of the day. With the
 * target `subscription` also `isPaying`: whether a subscription of the entity is active or past due. */
export function withLeft(population: Population, day: number, rows: Query): Query {
  if (!isDeclared(population.settings))
    return { ...rows, sql: `SELECT *, false AS hasLeft FROM (${rows.sql})` };
  if (isBySubscription(population)) {
    const standing = standingQuery(population, day, "standingBefore");
    return {
      sql: `SELECT * FROM (${rows.sql}) AS entities
        LEFT JOIN (SELECT entity, hasLeft, isPaying FROM (${standing.sql})) AS standing USING (entity)`,
      parameters: { ...rows.parameters, ...standing.parameters },
    };
  }
  const left = leftQuery(population, day, "leftBefore");
  return {
    sql: `SELECT *, toBool(entity IN (${left.sql})) AS hasLeft FROM (${rows.sql})`,
    parameters: { ...rows.parameters, ...left.parameters },
  };
}

/** Whether the target of the population is `subscription`. */
function isBySubscription({ settings: { target = silence } }: Population): boolean {
  return target.by === "subscription";
}

/** Rows (entity, day, at, isChurned): the changes of an entity, or of all, before a day. `at` is in
 * milliseconds. Of a trait's changes the day is 0: it follows from the time. None for silence, and for
 * subscriptions, of which an entity may have several.
 * @param name of the parameter for the day: a statement may ask for several */
export function changesQuery(population: Population, beforeDay: number, name = "changesBefore"): Query {
  const { target = silence } = population.settings;
  if (target.by === "event") return eventChanges(population, target, beforeDay, name);
  if (target.by === "trait") return traitChanges(population, target, beforeDay, name);
  return {
    sql: "SELECT 0::UInt32 AS entity, 0 AS day, 0 AS at, false AS isChurned WHERE false",
    parameters: {},
  };
}

/** `hasLeftBy` in SQL: rows (entity) of entities that meet the declared target at the start of a day. */
export function leftQuery(population: Population, day: number, name: string): Query {
  if (isBySubscription(population)) {
    const standing = standingQuery(population, day, name);
    return { ...standing, sql: `SELECT entity FROM (${standing.sql}) WHERE hasLeft` };
  }
  const { sql, parameters } = changesQuery(population, day, name);
  return {
    sql: `SELECT entity FROM (${sql}) GROUP BY entity HAVING argMax(isChurned, (day, at, isChurned))`,
    parameters,
  };
}

/** Rows (entity) of entities whose last subscription had been ended by failed payments at the start of a day.
 * Undefined for targets other than `subscription`. */
export function involuntaryQuery(population: Population, day: number, name: string): Query | undefined {
  if (!isBySubscription(population)) return undefined;
  const standing = standingQuery(population, day, name);
  return { ...standing, sql: `SELECT entity FROM (${standing.sql}) WHERE hasLeft AND isInvoluntary` };
}

/** Rows (entity) of those whom nobody saw leave: the first value of a trait that is known at the end of the
 * span is a churned one, and it was said within the span. After an import such values are of departures long
 * ago. Undefined for targets without such entities. */
export function unseenQuery(population: Population, { from, to }: DaySpan): Query | undefined {
  if (population.settings.target?.by !== "trait") return undefined;
  const { sql, parameters } = changesQuery(population, to, "unseenBefore");
  return {
    sql: `
      SELECT entity FROM (${sql}) GROUP BY entity
      HAVING argMin(isChurned, (day, at, isChurned)) AND min(at) >= {unseenFromMs:Int64}`,
    parameters: { ...parameters, unseenFromMs: population.zone.startOfDay(from) },
  };
}

/**
 * Churn events may be no activity, so they are read where all events are. Raw events are deleted at the end
 * of their retention time. Of earlier days the rollup still has those that are activity, as of the day's
 * start, and `billing_events` has billing events. Labels of other events are unknown then: see
 * `daysWithUnknownChurn`.
 */
function eventChanges(
  { organization, kind, entity, usersIn, zone }: Population,
  { event, undoneBy }: { readonly event: string; readonly undoneBy: string | null },
  beforeDay: number,
  name: string,
): Query {
  const beforeMs = zone.startOfDay(beforeDay);
  const offsets = zone.transitions.filter(({ fromMs }) => fromMs < beforeMs);
  const conditions = (isBefore: string) =>
    [
      "organization = {organization:UInt32}",
      "event IN ({churnEvents:Array(String)})",
      isBefore,
      isIncluded("user"),
      ...(kind === "account" ? ["account != 0"] : []),
      ...(entity === undefined ? [] : [`${kind} = {entity:UInt32}`]),
      ...(usersIn === undefined ? [] : [`user IN (${usersIn.sql})`]),
    ].join(" AND ");
  const select = (table: string, isBefore: string, day: string, at: string) => `
    SELECT ${kind} AS entity, ${day} AS epochDay, ${at} AS at, event = {churnEvent:String} AS isChurned
    FROM ${table} WHERE ${conditions(isBefore)}`;
  const isDayBefore = `day < ${dayParameter(name)}`;
  const isTimeBefore = `${timeMs} < {${name}Ms:Int64}`;
  return {
    sql: `
      SELECT entity, epochDay AS day, at, isChurned FROM (
        ${select("events", isDayBefore, "toInt32(day)", timeMs)}
        UNION ALL ${select("user_event_days", isDayBefore, "toInt32(day)", "toInt64(0)")}
        UNION ALL ${select("billing_events", isTimeBefore, localDay(name), timeMs)})`,
    parameters: {
      ...usersIn?.parameters,
      organization,
      churnEvent: event,
      churnEvents: undoneBy === null ? [event] : [event, undoneBy],
      [name]: beforeDay,
      [`${name}Ms`]: beforeMs,
      [`${name}FromSeconds`]: offsets.map(({ fromMs }) => Math.floor(fromMs / 1_000)),
      [`${name}Offsets`]: offsets.map(({ offsetSeconds }) => offsetSeconds),
      ...(entity !== undefined && { entity }),
    },
  };
}

const timeMs = "toUnixTimestamp64Milli(time)";
/** The day of a time in the organization's timezone: billing events have no column for it. One day is added
 * and taken, because `intDiv` rounds down above zero only. */
function localDay(name: string): string {
  const from = `{${name}FromSeconds:Array(Int64)}`;
  const offset = `transform(roundDown(intDiv(${timeMs}, 1000), ${from}), ${from}, {${name}Offsets:Array(Int64)}, toInt64(0))`;
  return `toInt32(intDiv(${timeMs} + 1000 * ${offset} + ${msPerDay}, ${msPerDay}) - 1)`;
}

/** A value that was said later does not exist before, so a day is compared by the time of its start. An
 * account has its own attribute, or, until it has any value of it, the trait of its owner. Statements need
 * `allow_simdjson = 0`: the quick parser takes no integer beyond 2^64. */
function traitChanges(
  { organization, kind, zone, entity, usersIn }: Population,
  { trait, values }: { readonly trait: string; readonly values: readonly string[] },
  beforeDay: number,
  name: string,
): Query {
  const raw = "JSONExtractRaw(traits, {churnTrait:String})";
  const isTold = `organization = {organization:UInt32} AND toUnixTimestamp64Milli(at) < {${name}Ms:Int64}
      AND position(traits, {churnTraitText:String}) > 0 AND JSONHas(traits, {churnTrait:String})`;
  const said = `
    SELECT user, toUnixTimestamp64Milli(at) AS saidAt, ${raw} AS raw
    FROM user_versions
    WHERE ${isTold} AND ${isIncluded("user")}
      ${usersIn === undefined ? "" : `AND user IN (${usersIn.sql})`}`;
  const of =
    kind === "user"
      ? `SELECT user AS entity, saidAt, raw FROM (${said})`
      : `SELECT account AS entity, toUnixTimestamp64Milli(at) AS saidAt, ${raw} AS raw FROM account_versions WHERE ${isTold}
         UNION ALL
         SELECT owners.account AS entity, saidAt, raw
         FROM (${said}) AS said INNER JOIN ${accountOwners} AS owners ON owners.owner = said.user
         WHERE owners.account NOT IN (SELECT account FROM account_versions WHERE ${isTold})`;
  return {
    sql: `
      SELECT entity, toInt32(0) AS day, saidAt AS at,
        has({churnValues:Array(String)}, if(startsWith(raw, '"'), JSONExtractString(raw), raw)) AS isChurned
      FROM (${of}) ${entity === undefined ? "" : "WHERE entity = {entity:UInt32}"}`,
    parameters: {
      ...usersIn?.parameters,
      organization,
      churnTrait: trait,
      churnTraitText: `${JSON.stringify(trait)}:`,
      churnValues: [...values],
      [`${name}Ms`]: zone.startOfDay(beforeDay),
      ...(entity !== undefined && { entity }),
    },
  };
}
