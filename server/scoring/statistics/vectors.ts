/** Small helpers for rows of numbers. */

/** Element `index`, which the caller knows to exist; otherwise NaN, which every test notices. */
export function at(values: Float64Array, index: number): number {
  return values[index] ?? Number.NaN;
}

/** Σ aᵢ bᵢ of two rows of the same length. */
export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += at(a, index) * at(b, index);
  return sum;
}

/** The arithmetic mean; NaN of nothing. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean of values that count for several; NaN of nothing. */
export function weightedMean(values: readonly number[], weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return values.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), 0) / total;
}

/** `value`, moved to the nearest end when it is outside of [low, high]. */
export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/**
 * The quantile at `level` (0…1) by linear interpolation between order statistics: Hyndman and Fan's type 7,
 * ClickHouse's `quantileExactInclusive`. NaN of nothing.
 */
export function quantile(values: readonly number[], level: number): number {
  const sorted = Float64Array.from(values).sort();
  const position = level * (sorted.length - 1);
  const below = Math.floor(position);
  const share = position - below;
  return share === 0 ? at(sorted, below) : at(sorted, below) * (1 - share) + at(sorted, below + 1) * share;
}
