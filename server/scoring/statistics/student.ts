/** Student's t distribution, for whole degrees of freedom. */

/**
 * The two-sided p-value of a t statistic, by the finite series in the angle θ = atan(t/√degrees) (Abramowitz
 * and Stegun 26.7.3 and 26.7.4).
 * @param degrees a whole number from 1
 */
export function studentProbability(t: number, degrees: number): number {
  const angle = Math.atan(Math.abs(t) / Math.sqrt(degrees));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const isOdd = degrees % 2 === 1;
  let [term, sum] = isOdd ? [cosine, degrees === 1 ? 0 : cosine] : [1, 1];
  for (let k = isOdd ? 3 : 2; k < degrees; k += 2) {
    term *= ((k - 1) / k) * cosine ** 2;
    sum += term;
  }
  const within = isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
  return Math.max(0, 1 - within);
}

/** The 97.5th percentile. @param degrees a whole number from 1 */
export function studentT975(degrees: number): number {
  // 12.71 of one degree is the largest.
  let [low, high] = [1.9, 12.8];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (studentProbability(middle, degrees) > 0.05) low = middle;
    else high = middle;
  }
  return high;
}
