/** The linear form of the third rung in SQL: the columns of `design.ts` for all entities at once. */
import { bgbbColumn, riskClippedTo } from "../churn/design.ts";
import type { RidgeModel } from "../statistics/logistic.ts";
import type { Query } from "./query.ts";

const clippedRisk = `least(greatest(bgbbRisk, ${riskClippedTo}), 1 - ${riskClippedTo})`;

/** `of` of each fixed column, over columns of `featuresQuery` and `membersQuery`. */
const columnSql: Readonly<Record<string, string>> = {
  idle: "log1p(idleDays)",
  "active days in 28": "log1p(activeDays28)",
  "active days in 84": "log1p(activeDays84)",
  "active days against the 28 before": "log((activeDays28 + 1) / (activeDaysPrevious28 + 1))",
  "event names in 28": "log1p(eventNames28)",
  tenure: "log1p(tenureDays)",
  "mean gap": "log1p(meanGapDays)",
  "idle against the mean gap": "log((idleDays + 1) / (meanGapDays + 1))",
  "single active day": "toFloat64(hasSingleActiveDay)",
  [bgbbColumn]: `log(${clippedRisk}) - log1p(-(${clippedRisk}))`,
  "active members": "log1p(active28)",
  "active members against the 28 days before": "log((active28 + 1) / (activePrevious28 + 1))",
  penetration: "active28 / greatest(1, active90)",
  "top member's share": "topShare",
  "members' mean risk": "ifNull(meanRiskLogOdds, 0)",
};

/**
 * The log-odds as an expression. `traitCount` columns at the end are one-hot traits; it reads them from `traitHits`,
 * an array of zeros and ones. Standardizing is folded into the weights.
 */
export function ridgeLogOddsSql({ intercept, columns }: RidgeModel, traitCount: number): Query {
  const scaled = columns.map(({ name, mean, standardDeviation, weight }) => ({
    name,
    mean,
    slope: standardDeviation === 0 ? 0 : weight / standardDeviation,
  }));
  const fixed = scaled.slice(0, scaled.length - traitCount);
  const values = fixed.map(({ name }) => {
    const sql = columnSql[name];
    if (sql === undefined) throw new TypeError(`the column ${name} has no SQL`);
    return `assumeNotNull(toFloat64(${sql}))`;
  });
  const traits =
    traitCount === 0
      ? ""
      : " + arraySum((hit, slope) -> hit * slope, traitHits, {traitSlopes:Array(Float64)})";
  return {
    sql: `{ridgeIntercept:Float64} + arraySum((value, slope) -> value * slope,
      [${values.join(", ")}], {ridgeSlopes:Array(Float64)})${traits}`,
    parameters: {
      ridgeIntercept: scaled.reduce((sum, { slope, mean }) => sum - slope * mean, intercept),
      ridgeSlopes: fixed.map(({ slope }) => slope),
      ...(traitCount > 0 && { traitSlopes: scaled.slice(fixed.length).map(({ slope }) => slope) }),
    },
  };
}
