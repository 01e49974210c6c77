/** Names of figures that may be parts of health. Pages import it, so it imports no schema. */

/** Figures of accounts that may be parts of health, by the names that stand in place of a trait's: seats
 * used, in per cent, and the pulse. */
export const healthFigures = ["$seatsUsed", "$pulse"] as const;
export type HealthFigure = (typeof healthFigures)[number];

/** The figure that a name of a part of health stands for; undefined for a trait. */
export function healthFigureOf(trait: string): HealthFigure | undefined {
  return healthFigures.find((figure) => figure === trait);
}
