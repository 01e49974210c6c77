/** From contributions in log-odds to points of probability, which people can add up. */
import { type Contributions, noContributions, type ReasonGroup, reasonGroups } from "./logistic.ts";
import { logistic } from "./special.ts";

/**
 * Points of each group: they add up to the risk at `referenceLogOdds` + Σ contributions, minus the risk at
 * `referenceLogOdds`. Each is the contribution times the mean slope of the logistic curve between the two
 * (Aumann and Shapley 1974), so the order of the groups does not matter and opposite ones may cancel.
 */
export function pointsOf(contributions: Contributions, referenceLogOdds: number): Contributions {
  const sum = reasonGroups.reduce((total, group) => total + contributions[group], 0);
  const slope = meanSlope(referenceLogOdds, sum);
  const points: Record<ReasonGroup, number> = { ...noContributions };
  for (const group of reasonGroups) points[group] = contributions[group] * slope;
  return points;
}

/** (logistic(z + d) − logistic(z)) / d, and its limit p (1 − p) for small d, where the difference would round. */
function meanSlope(z: number, d: number): number {
  if (Math.abs(d) >= 1e-6) return (logistic(z + d) - logistic(z)) / d;
  const p = logistic(z + d / 2);
  return p * (1 - p);
}
