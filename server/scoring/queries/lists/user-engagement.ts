/** The engagement of users in SQL. */
import { type EngagementScale, mostPoints } from "../../scores/engagement.ts";
import type { Expressions } from "../query.ts";

/** `engagementOf`, of a row of `featuresQuery`. */
export function userEngagement(scale: EngagementScale): Expressions<"engagementScore"> {
  const seenDays = "least(28, greatest({leastSeenDays:Int32}, tenureDays))";
  return {
    columns: {
      engagementScore: `
        ${mostPoints.frequency} * least(1., activeDays28 * (28 / ${seenDays}) / {scaleActiveDays:Float64})
        + ${mostPoints.volume} * least(1., log1p(volume28) / log1p({scaleVolume:Float64}))
        + ${mostPoints.breadth} * least(1., eventNames28 / {scaleEventNames:Float64})
        + ${mostPoints.recency} * exp2(-idleDays / {halfLifeDays:Float64})`,
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
