/** The risk scale of a run: bands of churn risk and the outlook, by the odds of the base rate
 * (docs/decisions/0056). */

export type RiskBand = "low" | "medium" | "high";

/** Risks from here on are medium, and high. */
export interface RiskLimits {
  readonly medium: number;
  readonly high: number;
}

/** The limits of a run. They stay with its scores. */
export interface RiskScale extends RiskLimits {
  /** From this risk on health is at most 39: such an entity is at risk, however active it is. */
  readonly cap: number;
  /** The odds of a risk whose outlook is 50. */
  readonly evenOdds: number;
}

/** Without a base rate, and of version 0.1.0: the outlook is 100 · (1 − risk). */
export const absoluteRiskScale: RiskScale = { medium: 0.2, high: 0.5, cap: 0.7, evenOdds: 1 };

const mediumRatio = 2;
const highRatio = 5;
const capRatio = 7;
const evenRatio = 2;

/** The limits at 2, 5 and 7 times the odds of the base rate. Bounds that the organization set replace those
 * of the bands.
 * @param baseRate between 0 and 1; null before one is known */
export function riskScaleOf(baseRate: number | null, bounds: RiskLimits | null = null): RiskScale {
  return { ...scaleOf(baseRate), ...(bounds !== null && { medium: bounds.medium, high: bounds.high }) };
}

function scaleOf(baseRate: number | null): RiskScale {
  if (baseRate === null) return absoluteRiskScale;
  const riskAt = (ratio: number) => (ratio * baseRate) / (1 + (ratio - 1) * baseRate);
  return {
    medium: riskAt(mediumRatio),
    high: riskAt(highRatio),
    cap: riskAt(capRatio),
    evenOdds: (evenRatio * baseRate) / (1 - baseRate),
  };
}

/** The band of a risk. */
export function riskBandOf(risk: number, { medium, high }: RiskLimits): RiskBand {
  if (risk >= high) return "high";
  return risk >= medium ? "medium" : "low";
}

/** 100 / (1 + odds / evenOdds), 0…100: the part of a churn risk in health. */
export function outlookOf(risk: number, { evenOdds }: RiskScale): number {
  return (100 * (1 - risk)) / (1 - risk + risk / evenOdds);
}
