/** The engagement of users in SQL. */
import { type EngagementScale, mostPoints } from "../../scores/engagement.ts";
import type { Expressions } from "../query.ts";

/** Whether it was not used for the churn horizon, by scales that ask. The outer query binds horizonDays. */
export function isUnusedSql({ isZeroUnused }: Pick<EngagementScale, "isZeroUnused">): string {
  return isZeroUnused === true ? "idleDays >= {horizonDays:Int32}" : "false";
}

/** Zero instead of an expression for entities that a scale takes for unused. The outer query binds
 * horizonDays. */
export function zeroUnused({ isZeroUnused }: EngagementScale, sql: string): string {
  return isZeroUnused === true ? `if(${isUnusedSql({ isZeroUnused })}, 0., ${sql})` : sql;
}

/** `engagementOf`, of a row of `featuresQuery`. The outer query binds horizonDays. */
export function userEngagement(scale: EngagementScale): Expressions<"engagementScore"> {
  const seenDays = "least(28, greatest({leastSeenDays:Int32}, tenureDays))";
  return {
    columns: {
      engagementScore: zeroUnused(
        scale,
        `
        ${mostPoints.frequency} * least(1., activeDays28 * (28 / ${seenDays}) / {scaleActiveDays:Float64})
        + ${mostPoints.volume} * least(1., log1p(volume28) / log1p({scaleVolume:Float64}))
        + ${mostPoints.breadth} * least(1., eventNames28 / {scaleEventNames:Float64})
        + ${mostPoints.recency} * exp2(-idleDays / {halfLifeDays:Float64})`,
      ),
    },
    parameters: {
      scaleActiveDays: scale.activeDays,
      scaleVolume: scale.volume,
      scaleEventNames: scale.eventNames,
      halfLifeDays: scale.halfLifeDays,
      leastSeenDays: scale.leastSeenDays,
    },
  };
}
