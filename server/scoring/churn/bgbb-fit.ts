/**
 * Fits the BG/BB model to counted cells by maximum likelihood with a weak prior. The fit uses all entities
 * seen in the window of 26 weeks, silent ones included: it learns leaving from those that left.
 *
 * It runs in q = (logit α/(α+β), ln(α+β), logit γ/(γ+δ), ln(γ+δ)): two means and two sizes, which are nearly
 * independent. The four shapes themselves lie along a bent valley.
 */

import { type Bound, type Minimum, minimize } from "../statistics/optimize.ts";
import { logistic, logit } from "../statistics/special.ts";
import { at } from "../statistics/vectors.ts";
import { Bgbb, type BgbbParameters, type Cell } from "./bgbb.ts";

export interface CountedCell extends Cell {
  /** Entities with this history. */
  readonly count: number;
}

export interface BgbbFit {
  readonly parameters: BgbbParameters;
  /** Σ count · ln L, without the prior. */
  readonly logLikelihood: number;
  readonly entities: number;
  /** Whether all starts ended within 0.1 in log-likelihood and none at its limit of iterations. */
  readonly isConverged: boolean;
  /** Whether the data pushed a size to the end of its range: then it means "all alike" or "all different". */
  readonly isAtBound: boolean;
  /** The largest difference in log-likelihood between the ends of two starts. */
  readonly spread: number;
  /** Calls of the likelihood over all cells, of all starts together. */
  readonly evaluations: number;
}

/** The starting points of the search, besides yesterday's optimum. */
const starts: readonly BgbbParameters[] = [
  { alpha: 1, beta: 1, gamma: 0.5, delta: 3 },
  { alpha: 1, beta: 1, gamma: 1, delta: 1 },
];

/** α+β and γ+δ stay between 0.01 and 1,000: beyond, a beta distribution is two points or one. */
const sizeBound: Bound = { low: -4.6, high: 6.9 };
/** Means stay between e^−15 and 1 − e^−15; the prior holds them far inside. */
const meanBound: Bound = { low: -15, high: 15 };
const bounds = [meanBound, sizeBound, meanBound, sizeBound];

/** The scale of the weak prior ½ Σ (q/4)². On the donations it moves no parameter by more than .004. */
const weakScale = 4;
const largestSpread = 0.1;

/** The parameters that fit the cells best. Without entities they are the parameters of the prior: all four
 * ½. */
export function fitBgbb(cells: readonly CountedCell[], yesterday?: BgbbParameters): BgbbFit {
  const from = yesterday === undefined ? starts : [...starts, yesterday];
  // A cell without a full period has likelihood one for all parameters.
  const informative = cells.filter(({ n, count }) => n > 0 && count > 0);
  const objective = (point: Float64Array) =>
    penalty(point) - totalLogLikelihood(informative, toParameters(point));
  const minima = from.map((parameters) => minimize(objective, toPoint(parameters), bounds));
  const best = minima.reduce((a, b) => (b.value < a.value ? b : a));
  const worst = minima.reduce((a, b) => (b.value > a.value ? b : a));
  const parameters = toParameters(best.point);
  const spread = worst.value - best.value;
  return {
    parameters,
    logLikelihood: totalLogLikelihood(informative, parameters),
    entities: cells.reduce((sum, { count }) => sum + count, 0),
    isConverged: spread <= largestSpread && minima.every((minimum) => minimum.isConverged),
    isAtBound: isAtBound(best),
    spread,
    evaluations: minima.reduce((sum, { evaluations }) => sum + evaluations, 0),
  };
}

/** Σ count · ln L(x,t,n). */
export function totalLogLikelihood(cells: readonly CountedCell[], parameters: BgbbParameters): number {
  const model = new Bgbb(parameters, longestHistory(cells));
  return cells.reduce((sum, cell) => sum + cell.count * model.logLikelihood(cell), 0);
}

function isAtBound({ point }: Minimum): boolean {
  return bounds.some(({ low, high }, i) => at(point, i) <= low || at(point, i) >= high);
}

/** The weak prior's. */
function penalty(point: Float64Array): number {
  return point.reduce((sum, q) => sum + (q / weakScale) ** 2, 0) / 2;
}

function longestHistory(cells: readonly CountedCell[]): number {
  return cells.reduce((longest, { n }) => Math.max(longest, n), 0);
}

function toPoint({ alpha, beta, gamma, delta }: BgbbParameters): Float64Array {
  return Float64Array.of(
    logit(alpha / (alpha + beta)),
    Math.log(alpha + beta),
    logit(gamma / (gamma + delta)),
    Math.log(gamma + delta),
  );
}

function toParameters(point: Float64Array): BgbbParameters {
  const activeSize = Math.exp(at(point, 1));
  const leaveSize = Math.exp(at(point, 3));
  return {
    alpha: activeSize * logistic(at(point, 0)),
    beta: activeSize * logistic(-at(point, 0)),
    gamma: leaveSize * logistic(at(point, 2)),
    delta: leaveSize * logistic(-at(point, 2)),
  };
}
