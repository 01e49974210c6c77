/**
 * How scores are rounded. Bands depend on the exact value and begin at whole numbers. A health of 40 is
 * "Watch", and a churn risk at the limit of 20 % is "Medium". Shown values are therefore rounded down: 39.6
 * is 39 and "At risk", never 40.
 */

/** Noise of sums of doubles is in the 16th digit. With 14 of them 100 × 0.29 is 29, and not
 * 28.999999999999996. */
const digits = 14;

/** Rounded down to one decimal. */
export function downToTenths(value: number): number {
  return Math.floor(Number((value * 10).toPrecision(digits))) / 10 || 0;
}

/** A change with one decimal. A change that rounds to nothing is 0 and not −0. */
export function toTenths(value: number): number {
  return Math.round(value * 10) / 10 || 0;
}

/** Parts of a total with one decimal each, so that the shown parts add up to the shown total. Each is rounded
 * down. The tenths that are left go to the parts that lost most by it (method of the largest remainder). */
export function partsInTenths(total: number, parts: readonly number[]): number[] {
  const exact = parts.map((part) => Number((part * 10).toPrecision(digits)));
  const tenths = exact.map(Math.floor);
  const left = Math.round(toTenths(total) * 10) - tenths.reduce((sum, each) => sum + each, 0);
  const byLoss = exact
    .map((part, index) => ({ index, loss: part - Math.floor(part) }))
    .sort((a, b) => b.loss - a.loss);
  for (const { index } of byLoss.slice(0, Math.max(0, left))) tenths[index] = (tenths[index] ?? 0) + 1;
  return tenths.map((each) => each / 10 || 0);
}
