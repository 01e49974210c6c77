/** The churned by history, and how many of them came back: what the probability of a return is calibrated on. */
import type { CountedCell } from "../bgbb-fit.ts";
import type { Population } from "./engagement-events.ts";
import { historyQuery, isScoredRow } from "./feature-query.ts";
import { horizonQuery } from "./label-query.ts";
import { type Query, withParts } from "./query.ts";

export interface ChurnedCell extends CountedCell {
  /** Those with an engagement event in the horizon from the cut-off, who did not leave again within it. */
  readonly returned: number;
}

/** The cells of everybody who was churned at the cut-off and was seen in the 26 weeks before it. */
export function churnedQuery(population: Population, cutoffDay: number, horizonDays: number): Query {
  return withParts(
    { history: historyQuery(population, cutoffDay), horizon: horizonQuery(population) },
    {
      sql: `
        SELECT x, t, n, count() AS count, countIf(wasThere AND NOT leftAgain) AS returned
        FROM history LEFT JOIN horizon USING (entity)
        WHERE n >= 0 AND NOT (${isScoredRow}) GROUP BY x, t, n ORDER BY n, x, t`,
      parameters: { cutoffDay, horizonDays },
    },
  );
}
