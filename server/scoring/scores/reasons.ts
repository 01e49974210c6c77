/** From contributions in log-odds to reasons of a churn risk: sentences with points of probability that
 * people can add up. */
import {
  type Contributions,
  noContributions,
  type ReasonGroup,
  reasonGroups,
} from "../statistics/logistic.ts";
import { logistic } from "../statistics/special.ts";
import type { Features } from "./features.ts";
import { type Fact, factsOf } from "./reason-words.ts";

export interface RiskReasons {
  /** The risk of an entity about which nothing is special. */
  readonly referenceRisk: number;
  /** In percentage points, step by step from the reference to the risk: every partial sum is between 0 and
   * 100. */
  readonly reasons: readonly Reason[];
}

export interface Reason {
  readonly group: ReasonGroup;
  readonly points: number;
  /** A sentence for people: "use fell by 69%; 1 of 4 members stopped: +24 points". */
  readonly text: string;
}

/**
 * Points of each group, as a share of 1: the change of the risk when the group is added to those before it in
 * `reasonGroups`. They add up to the risk at `referenceLogOdds` + Σ contributions, minus the risk at
 * `referenceLogOdds`. Every partial sum is a probability, and each has its contribution's sign.
 */
export function pointsOf(contributions: Contributions, referenceLogOdds: number): Contributions {
  const points: Record<ReasonGroup, number> = { ...noContributions };
  let logOdds = referenceLogOdds;
  for (const group of reasonGroups) {
    const before = logistic(logOdds);
    logOdds += contributions[group];
    points[group] = logistic(logOdds) - before;
  }
  return points;
}

/**
 * The reasons of a churn risk. A fact that the risk contradicts is no reason for it: a fall in use never
 * lowers a risk, and a rise never raises one. Its points are counted under "everything else", so that all
 * still add up.
 * @param decisiveEvent of `RiskScore` @param previousVolume28 of `Subject`
 */
export function reasonsOf(
  features: Features,
  { contributions, decisiveEvent }: { contributions: Contributions; decisiveEvent: string | null },
  referenceLogOdds: number,
  previousVolume28?: number,
): RiskReasons {
  const facts = factsOf(features, decisiveEvent, previousVolume28);
  const told: Record<ReasonGroup, number> = { ...contributions };
  for (const group of reasonGroups) {
    if (!contradicts(facts[group], contributions[group])) continue;
    told.other += contributions[group];
    told[group] = 0;
  }
  const points = pointsOf(told, referenceLogOdds);
  return {
    referenceRisk: logistic(referenceLogOdds),
    reasons: reasonGroups
      .filter((group) => points[group] !== 0)
      .map((group) => ({
        group,
        points: 100 * points[group],
        text: sentence(facts[group].text, 100 * points[group]),
      })),
  };
}

function contradicts({ means }: Fact, contribution: number): boolean {
  return (means === "worse" && contribution < 0) || (means === "better" && contribution > 0);
}

function sentence(fact: string, points: number): string {
  const rounded = Math.round(points);
  const signed = rounded > 0 ? `+${rounded}` : rounded === 0 ? "±0" : `−${-rounded}`;
  return `${fact}: ${signed} ${Math.abs(rounded) === 1 ? "point" : "points"}`;
}
