/**
 * The engagement events of everybody: what every score is computed from. This is the one place that decides whose
 * and which events count.
 */
import type { Zone } from "../../calendar/zone.ts";
import { type FeatureSettings, maxCountPerDay } from "../features.ts";
import type { Query } from "./query.ts";

/** An account's events are those that carry it. */
export type EntityKind = "user" | "account";

export interface Population {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly settings: FeatureSettings;
  /** The organization's: it says when a day begins. */
  readonly zone: Zone;
  /** SQL of the bitmap of users who are left out as internal, test or bot; it may use `{organization:UInt32}`. */
  readonly excludedUsers?: string;
  /** Only this entity's number. */
  readonly entity?: number;
}

/** Days before the cut-off, those of them that are this near to it, or the days of the horizon from it. */
export type Days = "before" | { readonly daysBefore: number } | "horizon";

/**
 * Rows (entity, epochDay, event, times), one for each event name of a day: the rollup's rows may not be merged yet,
 * and a user may have done an event in two accounts. `by` has more columns of the rollup to keep apart, `user` say.
 * Placeholders of the days: cutoffDay, horizonDays.
 */
export function engagementEvents(population: Population, days: Days, by: readonly "user"[] = []): Query {
  const { organization, kind, settings, excludedUsers, entity } = population;
  const conditions = [
    "organization = {organization:UInt32}",
    ...(entity === undefined ? [] : [`${kind} = {entity:UInt32}`]),
    ...(kind === "account" ? ["account != 0"] : []),
    daysCondition(days),
    "NOT has({passiveEvents:Array(String)}, event)",
    ...(excludedUsers === undefined ? [] : [`NOT bitmapContains((${excludedUsers}), user)`]),
  ];
  return {
    sql: `
      SELECT ${[`${kind} AS entity`, ...by].join(", ")}, toInt32(day) AS epochDay, event, sum(count) AS times
      FROM user_event_days WHERE ${conditions.join(" AND ")}
      GROUP BY ${["entity", ...by].join(", ")}, epochDay, event`,
    parameters: {
      organization,
      passiveEvents: [...(settings.passiveEvents ?? [])],
      ...(entity !== undefined && { entity }),
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

/** What a row of `engagementEvents` adds to the volume: weight · min(times, 50). */
export const rowVolume = `least(times, ${maxCountPerDay}) *
  transform(toString(event), {weightedEvents:Array(String)}, {weights:Array(Float64)}, 1.)`;

/** The values for `rowVolume`. */
export function weightParameters({ weights }: FeatureSettings): Query["parameters"] {
  return { weightedEvents: [...(weights?.keys() ?? [])], weights: [...(weights?.values() ?? [])] };
}

/** The value for `{churnEvent:String}`; no event has an empty name. */
export function churnEventParameter({ churnEvent = "" }: FeatureSettings): Query["parameters"] {
  return { churnEvent };
}
