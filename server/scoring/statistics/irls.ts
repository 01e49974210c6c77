/**
 * Penalized logistic regression by iteratively reweighted least squares, which is Newton's method (McCullagh
 * and Nelder 1989, §2.5). A step that makes the objective worse is halved until it does not. Where a feature
 * nearly separates the classes the full step overshoots: without halving the weights diverged.
 */
import { solvePositive } from "./cholesky.ts";
import { logistic, softplus } from "./special.ts";
import { at, dot } from "./vectors.ts";

export interface LogisticProblem {
  /** One row per observation; an intercept is a column of ones. */
  readonly rows: readonly Float64Array[];
  /** The target probability of each row: 0 or 1, or between the two for smoothed labels. */
  readonly targets: readonly number[];
  /** How many observations each row represents; one unless given. */
  readonly counts?: readonly number[];
  /** λ of each column: ½ Σ λ w² is added to the negative log-likelihood. */
  readonly penalties: readonly number[];
}

export interface LogisticSolution {
  readonly weights: Float64Array;
  readonly iterations: number;
  /** False when the limit of iterations came first, as with separated classes and no penalty. */
  readonly isConverged: boolean;
}

const maxIterations = 50;
const maxHalvings = 40;
/** The relative gain of a step that counts as nothing. */
const smallestGain = 1e-12;

/** The weights that minimize the penalized negative log-likelihood. Without rows they are all zero. */
export function solveLogistic(problem: LogisticProblem): LogisticSolution {
  let weights = new Float64Array(problem.penalties.length);
  let value = objective(problem, weights);
  for (let iteration = 1; iteration <= maxIterations; iteration++) {
    const { gradient, hessian } = derivatives(problem, weights);
    const step = solvePositive(hessian, gradient);
    let length = 1;
    let next = value;
    let moved = weights;
    for (let halving = 0; halving < maxHalvings; halving++) {
      moved = weights.map((weight, i) => weight - length * at(step, i));
      next = objective(problem, moved);
      if (next <= value) break;
      length /= 2;
    }
    // A step that no halving makes good is rounding at the optimum.
    if (!(next <= value)) return { weights, iterations: iteration, isConverged: true };
    const gain = value - next;
    [weights, value] = [moved, next];
    if (gain <= smallestGain * (1 + Math.abs(value))) {
      return { weights, iterations: iteration, isConverged: true };
    }
  }
  return { weights, iterations: maxIterations, isConverged: false };
}

/** −Σ count [ y z − ln(1 + e^z) ] + ½ Σ λ w² with z = row · weights. */
function objective({ rows, targets, counts, penalties }: LogisticProblem, weights: Float64Array): number {
  let sum = 0;
  for (const [index, row] of rows.entries()) {
    const z = dot(row, weights);
    sum += (counts?.[index] ?? 1) * (softplus(z) - (targets[index] ?? 0) * z);
  }
  for (const [i, penalty] of penalties.entries()) sum += (penalty * at(weights, i) ** 2) / 2;
  return sum;
}

function derivatives({ rows, targets, counts, penalties }: LogisticProblem, weights: Float64Array) {
  const size = weights.length;
  const gradient = weights.map((weight, i) => (penalties[i] ?? 0) * weight);
  const hessian = penalties.map((penalty, i) => new Float64Array(size).fill(penalty, i, i + 1));
  for (const [index, row] of rows.entries()) {
    const p = logistic(dot(row, weights));
    const count = counts?.[index] ?? 1;
    const error = count * (p - (targets[index] ?? 0));
    const weight = count * p * (1 - p);
    for (const [i, lower] of hessian.entries()) {
      const value = at(row, i);
      if (value === 0) continue;
      gradient[i] = at(gradient, i) + error * value;
      const weighted = weight * value;
      for (let j = 0; j <= i; j++) lower[j] = at(lower, j) + weighted * at(row, j);
    }
  }
  return { gradient, hessian };
}
