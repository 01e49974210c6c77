/** The outcomes of entities in the horizon from a cut-off. */
import { churnEventParameter, engagementEvents, type Population } from "./engagement-events.ts";
import type { Query } from "./query.ts";

/**
 * Rows (entity, wasThere, leftAgain) of entities with an engagement event in [cutoffDay, cutoffDay + horizonDays).
 * Absent entities were silent. The outer query binds cutoffDay and horizonDays.
 */
export function horizonQuery(population: Population): Query {
  const events = engagementEvents(population, "horizon");
  const sql = `
    SELECT entity, true AS wasThere,
      countIf(event = {churnEvent:String}) > 0 AND maxIf(epochDay, event = {churnEvent:String}) = max(epochDay)
        AS leftAgain
    FROM (${events.sql}) GROUP BY entity`;
  return { sql, parameters: { ...events.parameters, ...churnEventParameter(population.settings) } };
}
