/** Steps of a waterfall, so rounded that the figures that are shown add up to the total that is shown. */
import { downToTenths, toTenths } from "../text/rounding.ts";

export interface PlacedStep {
  readonly label: string;
  readonly hint?: string | undefined;
  /** As shown, with one decimal. */
  readonly points: number;
  readonly from: number;
  readonly to: number;
}

/** Places steps one behind the other, from a start to a total. Each step is the difference between two sums
 * that are rounded down, as scores are. The last steps therefore contain the rounding error. */
export function stepsOf(
  start: number,
  steps: readonly { readonly label: string; readonly hint?: string; readonly points: number }[],
  total: number,
): PlacedStep[] {
  let sum = start;
  return steps.map(({ label, hint, points }, index) => {
    const from = sum;
    sum = index === steps.length - 1 ? total : sum + points;
    return { label, hint, points: toTenths(downToTenths(sum) - downToTenths(from)), from, to: sum };
  });
}
