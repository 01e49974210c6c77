/** How many entities have which history: the input of BG/BB's fit. At most 3,302 rows, however many users there are. */
import type { CountedCell } from "../churn/bgbb-fit.ts";
import type { Population } from "./engagement-events.ts";
import { historyQuery, isScoredRow } from "./feature-query.ts";
import { type Query, withParts } from "./query.ts";

export interface CellRow extends CountedCell {
  /** Those of them that are active or new, and so have a churn risk. */
  readonly scored: number;
}

/** The cells of all entities seen in the 26 weeks before the cut-off, silent ones included. */
export function cellsQuery(population: Population, cutoffDay: number, horizonDays: number): Query {
  return withParts(
    { history: historyQuery(population, cutoffDay) },
    {
      sql: `
        SELECT x, t, n, count() AS count, countIf(${isScoredRow}) AS scored
        FROM history WHERE n >= 0 GROUP BY x, t, n ORDER BY n, x, t`,
      parameters: { horizonDays },
    },
  );
}
