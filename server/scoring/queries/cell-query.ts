/** How many entities have which history: the input of BG/BB's fit. At most 3,302 rows, however many users
 * there are. */
import type { CountedCell } from "../churn/bgbb-fit.ts";
import type { Population } from "./engagement-events.ts";
import { type Query, withParts } from "./query.ts";
import type { SnapshotRows } from "./snapshot-rows.ts";
import { isScoredRow, withLeft } from "./target-query.ts";

export interface CellRow extends CountedCell {
  /** How many of these entities have a churn risk. */
  readonly scored: number;
}

/** The cells of all entities seen in the 26 weeks before the day of the rows, silent ones included. */
export function cellsQuery(
  population: Population,
  { day, entities }: Pick<SnapshotRows, "day" | "entities">,
  horizonDays: number,
): Query {
  const isScored = isScoredRow(population, horizonDays);
  return withParts(
    { history: withLeft(population, day, entities) },
    {
      sql: `
        SELECT x, t, n, count() AS count, countIf(${isScored.sql}) AS scored
        FROM history WHERE n >= 0 GROUP BY x, t, n ORDER BY n, x, t SETTINGS allow_simdjson = 0`,
      parameters: isScored.parameters,
    },
  );
}
