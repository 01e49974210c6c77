/**
 * The beta-geometric / beta-Bernoulli model of Fader, Hardie and Shang (2010), "Customer-Base Analysis in a
 * Discrete-Time Noncontractual Setting", Marketing Science 29(6): an entity is active in a period with
 * probability p and leaves for good after each period with probability θ; p ~ Beta(α, β) and θ ~ Beta(γ, δ)
 * over the population. It needs no labels, only who was active in which week.
 *
 * The probability of a history is (their equation 6)
 *
 *     L(x,t,n) = [ B(α+x, β+n−x) B(γ, δ+n) + Σ_{i=0}^{n−t−1} B(α+x, β+t−x+i) B(γ+1, δ+t+i) ] / [ B(α,β) B(γ,δ) ]
 *
 * Here ratios of beta functions are taken as rising factorials, (a)_j = a (a+1) … (a+j−1):
 *
 *     B(α+x, β+k−x) / B(α,β) = (α)_x (β)_{k−x} / (α+β)_k        B(γ, δ+k)   / B(γ,δ) = (δ)_k / (γ+δ)_k
 *                                                               B(γ+1, δ+k) / B(γ,δ) = γ (δ)_k / (γ+δ)_{k+1}
 *
 * so that a table of ln (a)_j for each of five a serves every cell, and nothing cancels.
 */
import { logAdd, logRisingFactorials } from "../statistics/special.ts";
import { at } from "../statistics/vectors.ts";

export interface BgbbParameters {
  readonly alpha: number;
  readonly beta: number;
  readonly gamma: number;
  readonly delta: number;
}

/** A history in whole periods. Period 0 is that of the first activity and is not counted. */
export interface Cell {
  /** Active periods among 1…n. */
  readonly x: number;
  /** The last active period; 0 if x = 0. */
  readonly t: number;
  /** Full periods since period 0. */
  readonly n: number;
}

/** Serves while there is too little data to fit: half of the population returns in a week, 1 in 7 leaves. */
export const priorParameters: BgbbParameters = { alpha: 1, beta: 1, gamma: 0.5, delta: 3 };

export class Bgbb {
  readonly parameters: BgbbParameters;
  readonly #alpha: Float64Array;
  readonly #beta: Float64Array;
  readonly #alphaBeta: Float64Array;
  readonly #delta: Float64Array;
  readonly #gammaDelta: Float64Array;

  /** @param maxPeriods the largest n + m that will be needed. */
  constructor(parameters: BgbbParameters, maxPeriods: number) {
    const { alpha, beta, gamma, delta } = parameters;
    const length = maxPeriods + 2;
    this.parameters = parameters;
    this.#alpha = logRisingFactorials(alpha, length);
    this.#beta = logRisingFactorials(beta, length);
    this.#alphaBeta = logRisingFactorials(alpha + beta, length);
    this.#delta = logRisingFactorials(delta, length);
    this.#gammaDelta = logRisingFactorials(gamma + delta, length);
  }

  /**
   * ln L(x,t,n). The sum is its first term times running products of
   * (β+t−x+i)/(α+β+t+i) · (δ+t+i)/(γ+1+δ+t+i).
   */
  logLikelihood({ x, t, n }: Cell): number {
    const stayed = this.#logActive(x, n) + this.#logStay(n);
    if (n === t) return stayed;
    const { alpha, beta, gamma, delta } = this.parameters;
    let [term, sum] = [1, 1];
    for (let period = t; period < n - 1; period++) {
      term *= (beta - x + period) / (alpha + beta + period);
      term *= (delta + period) / (gamma + 1 + delta + period);
      sum += term;
    }
    const leftAfterT = Math.log(gamma) + at(this.#delta, t) - at(this.#gammaDelta, t + 1);
    return logAdd(stayed, this.#logActive(x, t) + leftAfterT + Math.log(sum));
  }

  /**
   * The probability of no activity in the next m periods, L(x,t,n+m) / L(x,t,n): the churn risk. Between
   * whole periods its logarithm is interpolated, for horizons that are no whole number of weeks.
   */
  silentProbability(cell: Cell, m: number): number {
    const now = this.logLikelihood(cell);
    const silentFor = (periods: number) => this.logLikelihood({ ...cell, n: cell.n + periods }) - now;
    const whole = Math.floor(m);
    const below = silentFor(whole);
    // Rounding may leave the ratio 1e-16 above one.
    const log = m === whole ? below : below + (m - whole) * (silentFor(whole + 1) - below);
    return Math.min(1, Math.exp(log));
  }

  /** ln B(α+x, β+k−x) / B(α, β): a given history of x active ones among k periods. */
  #logActive(x: number, k: number): number {
    return at(this.#alpha, x) + at(this.#beta, k - x) - at(this.#alphaBeta, k);
  }

  /** ln B(γ, δ+k) / B(γ, δ): not having left after k periods. */
  #logStay(k: number): number {
    return at(this.#delta, k) - at(this.#gammaDelta, k);
  }
}
