/**
 * Platt calibration (Platt 1999): the log-odds of a model that ranks well but is over- or underconfident are
 * corrected by a line, p' = logistic(intercept + slope · logit p), fitted to the outcomes. Labels are
 * smoothed to (N₁+1)/(N₁+2) and 1/(N₀+2), as in the paper, so that the line stays finite when the classes are
 * separated.
 */
import { solveLogistic } from "./irls.ts";
import { at } from "./vectors.ts";

export interface Platt {
  readonly intercept: number;
  readonly slope: number;
}

/** The calibration that changes nothing. */
const identity: Platt = { intercept: 0, slope: 1 };

/** The outcomes of entities with the same log-odds; a row of a sample counts for several. */
export interface CountedLabels {
  readonly logOdds: number;
  readonly positives: number;
  readonly negatives: number;
}

/** Fits the line. One class alone does not determine a slope: then it is the identity. */
export function fitPlatt(groups: readonly CountedLabels[]): Platt {
  const positives = groups.reduce((sum, group) => sum + group.positives, 0);
  const negatives = groups.reduce((sum, group) => sum + group.negatives, 0);
  if (positives === 0 || negatives === 0) return identity;
  const { high, low } = smoothed(positives, negatives);
  const outcomes = groups
    .flatMap(({ logOdds, positives, negatives }) => [
      { logOdds, target: high, count: positives },
      { logOdds, target: low, count: negatives },
    ])
    .filter(({ count }) => count > 0);
  const { weights } = solveLogistic({
    rows: outcomes.map(({ logOdds }) => Float64Array.of(1, logOdds)),
    targets: outcomes.map(({ target }) => target),
    counts: outcomes.map(({ count }) => count),
    penalties: [0, 0],
  });
  return { intercept: at(weights, 0), slope: at(weights, 1) };
}

function smoothed(positives: number, negatives: number) {
  return { high: (positives + 1) / (positives + 2), low: 1 / (negatives + 2) };
}

/** The calibrated log-odds. */
export function calibrate({ intercept, slope }: Platt, logOdds: number): number {
  return intercept + slope * logOdds;
}
