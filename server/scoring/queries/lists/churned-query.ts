/** Entities that churned by silence, by history, and how many of them came back: the input for calibrating the
 * probability of a return. Entities that sent the churn event have no such probability. */
import type { CountedCell } from "../../churn/bgbb-fit.ts";
import type { Population } from "../engagement-events.ts";
import { historyQuery } from "../feature-query.ts";
import { horizonQuery } from "../label-query.ts";
import { type Query, withParts } from "../query.ts";

export interface ChurnedCell extends CountedCell {
  /** Entities with an engagement event in the horizon from the cut-off that did not leave again within it. */
  readonly returned: number;
}

/** The cells of entities that were silent for the horizon at the cut-off and were seen in the 26 weeks before it. */
export function churnedQuery(population: Population, cutoffDay: number, horizonDays: number): Query {
  return withParts(
    { history: historyQuery(population, cutoffDay), horizon: horizonQuery(population) },
    {
      sql: `
        SELECT x, t, n, count() AS count, countIf(wasThere AND NOT leftAgain) AS returned
        FROM history LEFT JOIN horizon USING (entity)
        WHERE n >= 0 AND idleDays >= {horizonDays:Int32} AND NOT hasLeft GROUP BY x, t, n ORDER BY n, x, t`,
      parameters: { cutoffDay, horizonDays },
    },
  );
}
