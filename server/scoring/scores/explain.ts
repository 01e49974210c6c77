/** Explains a score: contributions that add up, and sentences, from features and the model of the day. */
import type { ChurnTarget } from "../../../contract/api/churn-targets.ts";
import type { HealthTrait } from "../../../contract/api/health-traits.ts";
import { type ChurnModel, returnProbability, riskScorer } from "../churn/churn-model.ts";
import {
  type AccountEngagement,
  accountEngagementOf,
  type Engagement,
  type EngagementScale,
  engagementOf,
  isUnused,
} from "./engagement.ts";
import type { Features } from "./features.ts";
import { type Health, type HealthParts, healthOf } from "./health.ts";
import { momentumOf } from "./momentum.ts";
import { type RiskReasons, reasonsOf } from "./reasons.ts";
import type { RiskScale } from "./risk-scale.ts";
import { isScored, type State, stateOf } from "./state.ts";

/** The settings, scale and model of the day. */
export interface Serving {
  readonly horizonDays: number;
  readonly target: ChurnTarget;
  readonly healthWeights: HealthParts;
  /** The organization's own parts of health. */
  readonly healthTraits?: readonly HealthTrait[];
  readonly riskScale: RiskScale;
  readonly scale: EngagementScale;
  /** Null when no model is good enough. */
  readonly model: ChurnModel | null;
}

/** An entity: features, the mean engagement of its active members if it is an account, and values of
 * traits. */
export interface Subject {
  readonly features: Features;
  readonly meanEngagement?: number;
  /** The volume of the 28 days before the last 28. Left out where it was not read: then active days are
   * compared. */
  readonly previousVolume28?: number;
  /** Values of the traits in health, by name. */
  readonly traitValues?: Readonly<Record<string, number>>;
}

export interface Explanation {
  readonly state: State;
  readonly engagement: Engagement | AccountEngagement | null;
  readonly momentum: number | null;
  readonly risk: number | null;
  /** The probability of a return, for entities that churned by silence. Null with a declared target, and
   * beyond the window of 26 weeks. */
  readonly returnProbability: number | null;
  /** When the last subscription ends, in the state `canceling`; else null. */
  readonly endsAtMs: number | null;
  readonly health: Health;
  readonly reasons: RiskReasons | null;
}

/** All scores of one entity. The run computes the same for all entities in SQL. */
export function explain(
  { features, meanEngagement, previousVolume28, traitValues = {} }: Subject,
  serving: Serving,
): Explanation {
  const { horizonDays, target, model, scale, healthWeights, healthTraits, riskScale } = serving;
  const state = stateOf(features, horizonDays, target);
  const scored =
    model !== null && isScored(features, horizonDays, target) ? riskScorer(model)(features) : null;
  const hasNoUse = isUnused(features, scale, horizonDays);
  const engagement = engagementOfSubject(
    { features, ...(meanEngagement !== undefined && { meanEngagement }) },
    serving,
  );
  const momentum = momentumOf(features);
  const risk = scored?.risk ?? null;
  const health = healthOf(
    {
      state,
      engagement: engagement?.score ?? null,
      risk,
      momentum,
      adoption: features.adoption,
      traitValues,
      billing: features.billing,
      isUnused: hasNoUse,
    },
    healthWeights,
    riskScale,
    healthTraits,
  );
  const reasons =
    scored === null || model === null
      ? null
      : reasonsOf(features, scored, model.referenceLogOdds, previousVolume28);
  const { cell } = features;
  return {
    state,
    engagement,
    momentum,
    risk,
    health,
    reasons,
    endsAtMs: state === "canceling" ? (features.billing?.endsAtMs ?? null) : null,
    returnProbability:
      state === "churned" && target.by === "silence" && model !== null && cell !== null
        ? returnProbability(model, { cell, idleDays: features.idleDays })
        : null,
  };
}

function engagementOfSubject({ features, meanEngagement = 0 }: Subject, { scale, horizonDays }: Serving) {
  const { members } = features;
  if (members === null) return engagementOf(features, scale, horizonDays);
  const { active28, active90 } = members;
  const hasNoUse = isUnused(features, scale, horizonDays);
  return accountEngagementOf({ meanEngagement, active28, active90, isUnused: hasNoUse });
}
