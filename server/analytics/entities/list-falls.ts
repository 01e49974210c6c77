/** Filters of lists by what fell: use against the four weeks before, or health within some days. */
import type { Filter } from "../../../contract/segments/filters.ts";
import { type Fall, fallQuery } from "../../scoring/queries/lists/falls.ts";
import { monthDays } from "../../scoring/queries/lists/reading.ts";
import type { Sql } from "../sql.ts";
import { condition, type ScoreFilter, type ScoresOfList } from "./list-scores.ts";

/** A fall within so many days. */
export interface FallWithin extends Fall {
  readonly days: number;
}

/** The falls that a filter asks for. */
export function fallsOf({
  usageFellPercent,
  healthFellPoints,
  healthFellDays = monthDays,
}: Pick<Filter, "usageFellPercent" | "healthFellPoints" | "healthFellDays">): FallWithin[] {
  return [
    ...(usageFellPercent === undefined
      ? []
      : [{ of: "use", by: usageFellPercent, days: monthDays } as const]),
    ...(healthFellPoints === undefined
      ? []
      : [{ of: "health", by: healthFellPoints, days: healthFellDays } as const]),
  ];
}

/** The conditions of a filter on the entity. @param run undefined before the first @param entity the row's
 * number, an expression */
export function fallConditions(
  { run, falls = [] }: Pick<ScoreFilter & ScoresOfList, "run" | "falls">,
  entity: string,
): Sql[] {
  return falls.map(({ earlier, ...fall }) => {
    if (run === undefined || earlier === undefined) return condition("false");
    const { sql, parameters } = fallQuery(run, earlier, fall);
    return condition(`${entity} IN (${sql})`, parameters);
  });
}
