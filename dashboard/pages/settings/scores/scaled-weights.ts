/** Percentages on the page that have to add up to 100. */

/** The sum of weights. An empty field is NaN, and counts as 0. */
export function sumOf(weights: readonly number[]): number {
  return weights.reduce((all, weight) => all + (weight || 0), 0);
}

/** Weights in nearly the same proportions, in whole numbers that add up to 100. @param weights not all 0 */
export function scaledTo100(weights: readonly number[]): readonly number[] {
  const sum = sumOf(weights);
  const rounded = weights.map((weight) => Math.round((100 * (weight || 0)) / sum));
  // The largest takes what rounding leaves over.
  const largest = rounded.indexOf(Math.max(...rounded));
  return rounded.map((weight, at) => (at === largest ? weight + 100 - sumOf(rounded) : weight));
}
