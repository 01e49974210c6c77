/** Steps of a waterfall, so rounded that the figures that are shown add up to the total that is shown. */

export interface PlacedStep {
  readonly label: string;
  readonly hint?: string | undefined;
  /** As shown, with one decimal. */
  readonly points: number;
  readonly from: number;
  readonly to: number;
}

/** Places steps one behind the other, from a start to a total. What rounding leaves is in the last steps: each is the
 * difference between two rounded sums. */
export function stepsOf(
  start: number,
  steps: readonly { readonly label: string; readonly hint?: string; readonly points: number }[],
  total: number,
): PlacedStep[] {
  let sum = start;
  return steps.map(({ label, hint, points }, index) => {
    const from = sum;
    sum = index === steps.length - 1 ? total : sum + points;
    return { label, hint, points: tenths(tenths(sum) - tenths(from)), from, to: sum };
  });
}

/** With one decimal; what rounds to nothing is 0 and not −0. */
function tenths(value: number): number {
  return Math.round(value * 10) / 10 || 0;
}
