/** The interval of a share. */

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The standard normal distribution's 97.5th percentile. */
export const normalQuantile975 = 1.959963984540054;

/**
 * The 95 % interval of the share `hits` of `count` (Wilson 1927): unlike the textbook one it stays within [0,
 * 1] and is right for small counts. A count of 0 gives [0, 1].
 * @param z the 97.5th percentile of the distribution of the share
 */
export function wilson(hits: number, count: number, z = normalQuantile975): Interval {
  if (count <= 0) return { low: 0, high: 1 };
  const share = hits / count;
  const center = share + z ** 2 / (2 * count);
  const half = z * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  const scale = 1 + z ** 2 / count;
  // At 0 and at `count` the end is exactly 0 or 1; rounding would leave 1e-17.
  return {
    low: hits <= 0 ? 0 : (center - half) / scale,
    high: hits >= count ? 1 : (center + half) / scale,
  };
}
