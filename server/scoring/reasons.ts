/** From contributions in log-odds to points of probability, which people can add up. */
import { type Contributions, noContributions, type ReasonGroup } from "./logistic.ts";
import { logistic } from "./special.ts";

/**
 * The order in which reasons are told: first how they use the product and who they are, then what changed of late, and
 * last what became of others. BG/BB's risk before silence, by all and then by the segment, is a step of this order.
 */
export const stepsOfReasons = [
  "frequency",
  "breadth",
  "tenure",
  "traits",
  "trend",
  "silence",
  "calibration",
] as const satisfies readonly ReasonGroup[];

/**
 * Points of each group, as a share of 1: what the risk changes when the group is taken in after those before it in
 * `stepsOfReasons`. They add up to the risk at `referenceLogOdds` + Σ contributions, minus the risk at
 * `referenceLogOdds`. Every sum on the way is a probability, and each has its contribution's sign.
 */
export function pointsOf(contributions: Contributions, referenceLogOdds: number): Contributions {
  const points: Record<ReasonGroup, number> = { ...noContributions };
  let logOdds = referenceLogOdds;
  for (const group of stepsOfReasons) {
    const before = logistic(logOdds);
    logOdds += contributions[group];
    points[group] = logistic(logOdds) - before;
  }
  return points;
}
