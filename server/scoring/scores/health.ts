/** Health, 0-100: one figure for whether a customer is well, made of the others. */
import { defaultSettings } from "../../../contract/settings.ts";
import { absoluteRiskScale, outlookOf, type RiskScale } from "./risk-scale.ts";
import type { State } from "./state.ts";

export interface HealthParts<Value = number> {
  readonly engagement: Value;
  /** 50 at twice the odds of the base rate: `outlookOf`. */
  readonly outlook: Value;
  readonly momentum: Value;
  /** 100 · share of the organization's key events used in 90 days. */
  readonly adoption: Value;
}

/** Grey is a new entity: onboarding. None has no data. */
export type HealthBand = "healthy" | "watch" | "at_risk" | "onboarding" | "churned" | "none";

export interface Health {
  /** Null without data. */
  readonly score: number | null;
  readonly healthBand: HealthBand;
  /** Points of each part that exists; with `cap` they add up to the score. */
  readonly contributions: Partial<HealthParts>;
  /** The reduction by a high churn risk, zero or negative. */
  readonly cap: number;
}

/** The default weights of an organization; they are a setting. */
export const defaultHealthWeights: HealthParts = defaultSettings.healthWeights;

export const healthLimits = {
  healthyFrom: 70,
  watchFrom: 40,
  /** The most with a churn risk from `RiskScale.cap` on. */
  cappedTo: 39,
} as const;

export interface HealthInput {
  readonly state: State;
  readonly engagement: number | null;
  /** The churn risk, 0…1. */
  readonly risk: number | null;
  readonly momentum: number | null;
  /** The share of key events used, 0…1. */
  readonly adoption: number | null;
}

/**
 * The weighted mean of the parts that exist, their weights renormalized; capped at 39 while the risk is at the scale's
 * `cap` or above. Churned is 0, no data null.
 */
export function healthOf(
  input: HealthInput,
  weights: HealthParts = defaultHealthWeights,
  riskScale: RiskScale = absoluteRiskScale,
): Health {
  if (input.state === "churned") return { score: 0, healthBand: "churned", contributions: {}, cap: 0 };
  const parts: HealthParts<number | null> = {
    engagement: input.engagement,
    outlook: input.risk === null ? null : outlookOf(input.risk, riskScale),
    momentum: input.momentum,
    adoption: input.adoption === null ? null : 100 * input.adoption,
  };
  const present = partNames.filter((part) => parts[part] !== null && weights[part] > 0);
  if (input.state === "no_data" || present.length === 0) {
    return { score: null, healthBand: "none", contributions: {}, cap: 0 };
  }
  const totalWeight = present.reduce((sum, part) => sum + weights[part], 0);
  const points = (part: keyof HealthParts) => ((parts[part] ?? 0) * weights[part]) / totalWeight;
  const uncapped = present.reduce((sum, part) => sum + points(part), 0);
  const score = (input.risk ?? 0) >= riskScale.cap ? Math.min(healthLimits.cappedTo, uncapped) : uncapped;
  return {
    score,
    healthBand: input.state === "new" ? "onboarding" : healthBandOf(score),
    contributions: Object.fromEntries(present.map((part) => [part, points(part)])),
    cap: score - uncapped,
  };
}

const partNames = ["engagement", "outlook", "momentum", "adoption"] as const;

function healthBandOf(score: number): HealthBand {
  if (score >= healthLimits.healthyFrom) return "healthy";
  return score >= healthLimits.watchFrom ? "watch" : "at_risk";
}
