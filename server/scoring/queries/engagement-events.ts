/**
 * The engagement events of all entities, from which every score is computed.
 */
import type { Zone } from "../../calendar/calendar.ts";
import { engagementParameters, isEngagement, isIncluded } from "../../warehouse/warehouse.ts";
import { type FeatureSettings, maxCountPerDay } from "../scores/features.ts";
import type { Query } from "./query.ts";

/** An account's events are those that carry it. */
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
}

/** Days before the cut-off, those of them that are this near to it, or the days of the horizon from it. */
export type Days = "before" | { readonly daysBefore: number } | "horizon";

/**
 * Rows (entity, user, account, epochDay, event, count) of the rollup as they are. One day's count of an event may be spread
 * over several rows that are not merged yet or belong to two accounts of a user. Queries that only need to know
 * whether there was an event on a day can read them so, without grouping everything. Placeholders of the days, bound
 * by the outer query: cutoffDay, horizonDays.
 */
export function engagementEvents(population: Population, days: Days): Query {
  const { organization, kind, settings, entity, usersIn } = population;
  const passive = [...(settings.passiveEvents ?? [])];
  const conditions = [
    "organization = {organization:UInt32}",
    ...(entity === undefined ? [] : [`${kind} = {entity:UInt32}`]),
    ...(kind === "account" ? ["account != 0"] : []),
    ...(usersIn === undefined ? [] : [`user IN (${usersIn.sql})`]),
    daysCondition(days),
    isEngagement(passive),
    isIncluded("user"),
  ];
  return {
    sql: `
      SELECT ${kind} AS entity, user, account, toInt32(day) AS epochDay, event, count
      FROM user_event_days WHERE ${conditions.join(" AND ")}`,
    parameters: {
      ...usersIn?.parameters,
      organization,
      ...engagementParameters(passive),
      ...(entity !== undefined && { entity }),
    },
  };
}

/**
 * Rows (entity, volume28), with `user` if requested. The volume is Σ weight · min(count, 50) over events and days of
 * the 28 before the cut-off. Placeholder: cutoffDay.
 */
export function volumeQuery(population: Population, by: "entity" | "entity, user" = "entity"): Query {
  const events = engagementEvents(population, { daysBefore: 28 });
  const { weights } = population.settings;
  const sql = `
    SELECT ${by}, sum(least(times, ${maxCountPerDay}) * weight) AS volume28
    FROM (
      SELECT ${by}, event, sum(count) AS times,
        transform(toString(event), {weightedEvents:Array(String)}, {weights:Array(Float64)}, 1.) AS weight
      FROM (${events.sql}) GROUP BY ${by}, epochDay, event)
    GROUP BY ${by}`;
  return {
    sql,
    parameters: {
      ...events.parameters,
      weightedEvents: [...(weights?.keys() ?? [])],
      weights: [...(weights?.values() ?? [])],
    },
  };
}

function daysCondition(days: Days): string {
  if (days === "horizon") return `day >= ${cutoff()} AND day < ${cutoff("+ {horizonDays:Int32}")}`;
  if (days === "before") return `day < ${cutoff()}`;
  return `day >= ${cutoff(`- ${days.daysBefore}`)} AND day < ${cutoff()}`;
}

function cutoff(shift = ""): string {
  return `addDays(toDate32('1970-01-01'), {cutoffDay:Int32} ${shift})`;
}
