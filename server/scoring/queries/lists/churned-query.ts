/** Entities that churned by silence, by history, and how many of them came back: the input for calibrating
 * the probability of a return, weighed. With a declared target there is no such probability. */
import type { CountedCell } from "../../churn/bgbb-fit.ts";
import { type LabelWeights, noWeights } from "../../churn/entered.ts";
import type { Population } from "../engagement-events.ts";
import { presentQuery } from "../label-query.ts";
import { type Query, withParts } from "../query.ts";
import type { SnapshotRows } from "../snapshot-rows.ts";

export interface ChurnedCell extends CountedCell {
  readonly idleDays: number;
  /** Entities with an engagement event in the horizon from the cut-off. */
  readonly returned: number;
}

/** The cells of entities that were silent for the horizon at the day of the rows and were seen in the 26
 * weeks before it. */
export function churnedQuery(
  population: Population,
  { day, entities }: Pick<SnapshotRows, "day" | "entities">,
  horizonDays: number,
  weights: LabelWeights = noWeights,
): Query {
  const weight = weights.sql(day);
  const present = presentQuery(population, { cutoffDay: day, horizonDays });
  return withParts(
    { history: entities },
    {
      sql: `
        SELECT x, t, n, idleDays, sum(weight) AS count, sumIf(weight, entity IN (${present.sql})) AS returned
        FROM (SELECT *, ${weight.sql} AS weight FROM history)
        WHERE n >= 0 AND idleDays >= {horizonDays:Int32} AND weight > 0 GROUP BY x, t, n, idleDays ORDER BY n, x, t, idleDays`,
      parameters: { ...present.parameters, ...weight.parameters, horizonDays },
    },
  );
}
