/** The days on which anybody left by a declared churn target. */
import { silence } from "../../../contract/api/churn-targets.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { DaySpan } from "../scores/churn-changes.ts";
import { daysWithoutDepartures } from "../scores/departures-stopped.ts";
import { isDeclared } from "../scores/features.ts";
import type { Population } from "./engagement-events.ts";
import { type Query, read } from "./query.ts";
import { standingQuery } from "./subscription-query.ts";
import { changesQuery } from "./target-query.ts";

/** Days begin on quarters of an hour in all timezones. */
const quarterMs = 900_000;

/** The spans before a day on which nobody left, though the rhythm of departures says that somebody should
 * have. None for silence. */
export async function spansWithoutDepartures(
  warehouse: Warehouse,
  population: Population,
  beforeDay: number,
): Promise<DaySpan[]> {
  return daysWithoutDepartures(await departureDays(warehouse, population, beforeDay), beforeDay);
}

/** Before a day, in order, each once. Of subscriptions the last end of each customer. */
async function departureDays(
  warehouse: Warehouse,
  population: Population,
  beforeDay: number,
): Promise<number[]> {
  if (!isDeclared(population.settings)) return [];
  const rows = await read<{ day: number; at: number }>(warehouse, departuresQuery(population, beforeDay));
  const isOfEvent = (population.settings.target ?? silence).by === "event";
  const days = rows.map(({ day, at }) => (isOfEvent ? day : population.zone.dayOf(at)));
  return [...new Set(days)].toSorted((a, b) => a - b);
}

function departuresQuery(population: Population, beforeDay: number): Query {
  const of =
    population.settings.target?.by === "subscription"
      ? ofSubscriptions(population, beforeDay)
      : changesQuery(population, beforeDay);
  return {
    ...of,
    sql: `SELECT DISTINCT day, intDiv(at, ${quarterMs}) * ${quarterMs} AS at FROM (${of.sql}) WHERE isChurned
      SETTINGS allow_simdjson = 0`,
  };
}

function ofSubscriptions(population: Population, beforeDay: number): Query {
  const { sql, parameters } = standingQuery(population, beforeDay, "departures");
  return { sql: `SELECT toInt32(0) AS day, endedMs AS at, hasLeft AS isChurned FROM (${sql})`, parameters };
}
