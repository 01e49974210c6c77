/** Momentum, 0-100: whether an entity uses the product more or less than four weeks ago. 50 is neither. */
import type { Features } from "./features.ts";

/** Two whole windows of 28 days: with less there is nothing to compare with. */
export const leastTenureDays = 56;
/** Keeps a step from one active day to two from looking like a doubling. */
export const damping = 4;

/**
 * 50 + 50 · (d28 − d28prev) / (d28 + d28prev + 4) over distinct active days; null under 56 days of tenure.
 */
export function momentumOf({ tenureDays, activeDays28, activeDaysPrevious28 }: Features): number | null {
  if (tenureDays < leastTenureDays) return null;
  const change = activeDays28 - activeDaysPrevious28;
  return 50 + (50 * change) / (activeDays28 + activeDaysPrevious28 + damping);
}
