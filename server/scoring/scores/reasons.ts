/** From contributions in log-odds to points of probability, which people can add up. */
import { type Contributions, noContributions, type ReasonGroup } from "../statistics/logistic.ts";
import { logistic } from "../statistics/special.ts";

/**
 * The order of the reasons: usage, traits and billing, then recent changes, then the calibration on other entities.
 */
export const stepsOfReasons = [
  "frequency",
  "breadth",
  "mix",
  "tenure",
  "traits",
  "billing",
  "trend",
  "silence",
  "calibration",
] as const satisfies readonly ReasonGroup[];

/**
 * Points of each group, as a share of 1: the change of the risk when the group is added to those before it in
 * `stepsOfReasons`. They add up to the risk at `referenceLogOdds` + Σ contributions, minus the risk at
 * `referenceLogOdds`. Every partial sum is a probability, and each has its contribution's sign.
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
