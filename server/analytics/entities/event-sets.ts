/** Users who did events so often within some days, or accounts in which they were done: up to 200 conditions
 * in one pass over the rollup. */

import type { Parameter, Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { bitmapText, type EntitySet } from "./entity-sets.ts";

/** At least `times` times within the days that end with `toDay` of the question. */
export interface EventsDone {
  readonly event: string;
  readonly times: number;
  readonly days: number;
}

/** Conditions of a statement: the engine parses no text with 1,600. */
const conditionsTogether = 200;

interface Asked {
  readonly organization: number;
  /** In days since 1970-01-01. */
  readonly toDay: number;
  readonly conditions: readonly EventsDone[];
}

/** The set of each condition, in the same order. Excluded users are in none, and their events count for no
 * account. */
export async function eventSets(
  warehouse: Warehouse,
  of: EntitySet["of"],
  { conditions, ...about }: Asked,
): Promise<EntitySet[]> {
  const sets: EntitySet[] = [];
  for (let at = 0; at < conditions.length; at += conditionsTogether) {
    const some = conditions.slice(at, at + conditionsTogether);
    sets.push(...(await setsOfStatement(warehouse, of, { ...about, conditions: some })));
  }
  return sets;
}

async function setsOfStatement(
  warehouse: Warehouse,
  of: EntitySet["of"],
  { organization, toDay, conditions }: Asked,
): Promise<EntitySet[]> {
  const parameters: Record<string, Parameter> = {
    organization,
    toDay,
    fromDay: toDay - Math.max(...conditions.map(({ days }) => days)) + 1,
    events: [...new Set(conditions.map(({ event }) => event))],
  };
  for (const [index, { event, times, days }] of conditions.entries()) {
    parameters[`event${index}`] = event;
    parameters[`times${index}`] = times;
    parameters[`from${index}`] = toDay - days + 1;
  }
  const [row] = await warehouse.rows<Record<string, string>>(textOf(of, conditions.length), parameters);
  return conditions.map((_, index) => ({ of, bitmap: row?.[`bitmap${index}`] ?? "" }));
}

function textOf(of: EntitySet["of"], conditions: number): string {
  const columns = (column: (index: number) => string) =>
    Array.from({ length: conditions }, (_, index) => column(index)).join(",\n    ");
  return `
  SELECT
    ${columns((at) => `${bitmapText(`groupBitmapStateIf(entity, done${at} >= {times${at}:UInt64})`)} AS bitmap${at}`)}
  FROM (
    SELECT ${of} AS entity,
      ${columns((at) => `sumIf(count, event = {event${at}:String} AND day >= ${dayParameter(`from${at}`)}) AS done${at}`)}
    FROM user_event_days
    WHERE organization = {organization:UInt32} AND event IN {events:Array(String)} AND ${of} != 0
      AND ${isIncluded("user")} AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}
    GROUP BY entity)`;
}
