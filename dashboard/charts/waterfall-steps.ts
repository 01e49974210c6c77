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

/** The part of a scale that shows sums: from zero, or from below the smallest when all are far above zero and
 * close together. Then they take two thirds of the width. */
export function scaleOfSums(sums: readonly number[]): { readonly low: number; readonly high: number } {
  const [least, most] = [Math.min(...sums), Math.max(...sums)];
  const below = least - (most - least) / 2;
  if (most === least || below < most / 3) return { low: 0, high: most };
  const step = 10 ** Math.max(0, Math.floor(Math.log10(below)) - 1);
  return { low: Math.floor(below / step) * step, high: most };
}
