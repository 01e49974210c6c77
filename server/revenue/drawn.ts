/** Parts of figures that are drawn by chance. The caller has the seed. */

/** Draws of a figure: enough for a percentile to be right within a twelfth of a standard deviation. */
export const draws = 1_000;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The middle part of draws, .9 say, by linear interpolation between the nearest two. */
export function middleOf(drawn: Float64Array, part: number): Interval {
  const sorted = drawn.toSorted();
  const at = (level: number) => {
    const position = level * (sorted.length - 1);
    const below = Math.floor(position);
    const [low = Number.NaN, high = low] = [sorted[below], sorted[below + 1]];
    return low + (position - below) * (high - low);
  };
  return { low: at((1 - part) / 2), high: at((1 + part) / 2) };
}

/** A standard normal variate (Box and Muller 1958). */
export function normalFrom(uniform: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/**
 * The indices of the `count` largest values, in no order; all of them when there are no more. The time grows
 * with the number of values (Hoare 1961, "Algorithm 65: FIND").
 */
export function indicesOfLargest(values: Float64Array, count: number): number[] {
  if (values.length <= count) return Array.from(values.keys());
  const limit = nthLargest(values.slice(), count);
  const above: number[] = [];
  const equal: number[] = [];
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? 0;
    if (value > limit) above.push(index);
    else if (value === limit && equal.length < count) equal.push(index);
  }
  return [...above, ...equal.slice(0, count - above.length)];
}

/** The n-th largest value, from 1. Reorders the values. */
function nthLargest(values: Float64Array, n: number): number {
  let [first, last] = [0, values.length - 1];
  const place = n - 1;
  while (first < last) {
    const pivot = values[(first + last) >> 1] ?? 0;
    let [low, high] = [first, last];
    while (low <= high) {
      while ((values[low] ?? 0) > pivot) low += 1;
      while ((values[high] ?? 0) < pivot) high -= 1;
      if (low > high) break;
      const value = values[low] ?? 0;
      values[low] = values[high] ?? 0;
      values[high] = value;
      low += 1;
      high -= 1;
    }
    if (place <= high) last = high;
    else if (place >= low) first = low;
    else break;
  }
  return values[place] ?? Number.NaN;
}
