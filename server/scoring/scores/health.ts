/** Health, 0-100: one figure for how a customer is doing, made of the other scores. */
import { type HealthTrait, partOfTrait } from "../../../contract/api/health-traits.ts";
import { defaultSettings } from "../../../contract/settings.ts";
import { type BillingFeatures, isCanceling } from "./billing.ts";
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
  /** Points of each part that exists; with `cap` they add up to the score. A trait's part is called by
   * `partOfTrait`. */
  readonly contributions: Readonly<Record<string, number>>;
  /** The reduction by `capReasons`, zero or negative. */
  readonly cap: number;
  /** Why health is at most 39. */
  readonly capReasons: readonly CapReason[];
}

/** A high churn risk, a scheduled end of every subscription, or a subscription that is past due. */
export type CapReason = "high_risk" | "end_scheduled" | "payment_failed" | "unused";

/** The default weights of an organization; they are a setting. */
export const defaultHealthWeights: HealthParts = defaultSettings.healthWeights;

export const healthLimits = {
  healthyFrom: 70,
  watchFrom: 40,
  /** The most with a `CapReason`. */
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
  /** The last number of each trait in health, by the trait's name. A trait without one is left out. */
  readonly traitValues?: Readonly<Record<string, number>>;
  /** Null or left out without a subscription. */
  readonly billing?: BillingFeatures | null;
  /** Whether it was not used for the churn horizon: then engagement, outlook and momentum count as 0, also
   * where they are unknown. */
  readonly isUnused?: boolean;
}

/** 0…100: where a value is between those that mean 0 and 100. */
export function scoreOfTrait(
  value: number,
  { zeroAt, hundredAt }: Pick<HealthTrait, "zeroAt" | "hundredAt">,
): number {
  return 100 * Math.max(0, Math.min(1, (value - zeroAt) / (hundredAt - zeroAt)));
}

/**
 * The weighted mean of the parts that exist, their weights renormalized. While an entity is unused it never
 * rises, but by parts of the organization's own: its risk may fall, because time passes and a period ends.
 * Capped at 39 while the risk is at the scale's `cap` or above, every subscription is going to end, one is
 * past due, or it is unused. Churned is 0, no data null.
 */
export function healthOf(
  input: HealthInput,
  weights: HealthParts = defaultHealthWeights,
  riskScale: RiskScale = absoluteRiskScale,
  traits: readonly HealthTrait[] = [],
): Health {
  const none = { contributions: {}, cap: 0, capReasons: [] };
  if (input.state === "churned") return { score: 0, healthBand: "churned", ...none };
  const present = partsOf(input, weights, riskScale, traits).filter(({ weight }) => weight > 0);
  if (input.state === "no_data" || present.length === 0) {
    return { score: null, healthBand: "none", ...none };
  }
  const totalWeight = present.reduce((sum, { weight }) => sum + weight, 0);
  const points = present.map(({ part, score, weight }) => [part, (score * weight) / totalWeight] as const);
  const uncapped = points.reduce((sum, [, of]) => sum + of, 0);
  const capReasons = capReasonsOf(input, riskScale);
  const score = capReasons.length > 0 ? Math.min(healthLimits.cappedTo, uncapped) : uncapped;
  return {
    score,
    healthBand: input.state === "new" ? "onboarding" : healthBandOf(score),
    contributions: Object.fromEntries(points),
    cap: score - uncapped,
    capReasons,
  };
}

function capReasonsOf(
  { risk, billing = null, isUnused = false }: HealthInput,
  riskScale: RiskScale,
): CapReason[] {
  return [
    ...((risk ?? 0) >= riskScale.cap ? (["high_risk"] as const) : []),
    ...(isCanceling(billing) ? (["end_scheduled"] as const) : []),
    ...(billing?.isPastDue === true ? (["payment_failed"] as const) : []),
    // Otherwise health would rise when another subscription ends.
    ...(isUnused ? (["unused"] as const) : []),
  ];
}

interface PresentPart {
  readonly part: string;
  /** 0…100. */
  readonly score: number;
  readonly weight: number;
}

/** The parts that the entity has. */
function partsOf(
  { engagement, risk, momentum, adoption, traitValues = {}, isUnused = false }: HealthInput,
  weights: HealthParts,
  riskScale: RiskScale,
  traits: readonly HealthTrait[],
): PresentPart[] {
  const ofUse = isUnused
    ? { engagement: 0, outlook: 0, momentum: 0 }
    : { engagement, outlook: risk === null ? null : outlookOf(risk, riskScale), momentum };
  const scores: HealthParts<number | null> = {
    ...ofUse,
    adoption: adoption === null ? null : 100 * adoption,
  };
  const usual = partNames.flatMap((part) => {
    const score = scores[part];
    return score === null ? [] : [{ part, score, weight: weights[part] }];
  });
  const own = traits.flatMap(({ trait, weight, ...scale }) => {
    const value = traitValues[trait];
    return value === undefined
      ? []
      : [{ part: partOfTrait(trait), score: scoreOfTrait(value, scale), weight }];
  });
  return [...usual, ...own];
}

const partNames = ["engagement", "outlook", "momentum", "adoption"] as const;

function healthBandOf(score: number): HealthBand {
  if (score >= healthLimits.healthyFrom) return "healthy";
  return score >= healthLimits.watchFrom ? "watch" : "at_risk";
}
