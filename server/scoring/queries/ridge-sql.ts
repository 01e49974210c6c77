/** The log-odds of a regression in SQL: the columns of its design for all entities at once. */
import type { RidgeChurnModel } from "../churn/churn-model.ts";
import { columnsNamed } from "../churn/design.ts";
import type { Query } from "./query.ts";

/**
 * An expression over the columns of `scoresQuery`, where `traitHits` and `traitNumbers` have the design's
 * traits in their order. An unknown value counts as the mean.
 */
export function ridgeLogOddsSql({ design, ridge }: RidgeChurnModel): Query {
  const { intercept, columns } = ridge;
  const designed = columnsNamed(
    design,
    columns.map(({ name }) => name),
  );
  if (designed.length === 0) {
    return { sql: "{ridgeIntercept:Float64}", parameters: { ridgeIntercept: intercept } };
  }
  const values = designed.map(({ sql }) => `toNullable(toFloat64(${sql}))`);
  return {
    sql: `{ridgeIntercept:Float64} + arraySum((value, mean, slope) -> ifNull(value - mean, 0) * slope,
      [${values.join(", ")}], {ridgeMeans:Array(Float64)}, {ridgeSlopes:Array(Float64)})`,
    parameters: {
      ridgeIntercept: intercept,
      ...(designed.some(({ event }) => event !== undefined) && { mixEvents: design.events ?? [] }),
      ridgeMeans: columns.map(({ mean }) => mean),
      ridgeSlopes: columns.map(({ standardDeviation, weight }) =>
        standardDeviation === 0 ? 0 : weight / standardDeviation,
      ),
    },
  };
}
