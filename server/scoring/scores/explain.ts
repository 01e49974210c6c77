/** Explains a score: contributions that add up, and sentences, from features and the model of the day. */
import type { ChurnTarget } from "../../../contract/api/churn-targets.ts";
import type { HealthTrait } from "../../../contract/api/health-traits.ts";
import { type ChurnModel, type RiskScore, returnProbability, riskScorer } from "../churn/churn-model.ts";
import type { ReasonGroup } from "../statistics/logistic.ts";
import { logistic } from "../statistics/special.ts";
import type { BillingFeatures } from "./billing.ts";
import {
  type AccountEngagement,
  accountEngagementOf,
  type Engagement,
  type EngagementScale,
  engagementOf,
} from "./engagement.ts";
import type { Features } from "./features.ts";
import { type Health, type HealthParts, healthOf } from "./health.ts";
import { momentumOf } from "./momentum.ts";
import { pointsOf, stepsOfReasons } from "./reasons.ts";
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

/** An entity: features, the mean engagement of its active members if it is an account, and values of traits. */
export interface Subject {
  readonly features: Features;
  readonly meanEngagement?: number;
  /** Values of the traits in health, by name. */
  readonly traitValues?: Readonly<Record<string, number>>;
}

export interface Explanation {
  readonly state: State;
  readonly engagement: Engagement | AccountEngagement | null;
  readonly momentum: number | null;
  readonly risk: number | null;
  /** Of entities that churned by silence. Null with a declared target, and beyond the window of 26 weeks. */
  readonly returnProbability: number | null;
  /** Of the state `canceling`: when the last of the subscriptions ends. Null otherwise. */
  readonly endsAtMs: number | null;
  readonly health: Health;
  readonly reasons: RiskReasons | null;
}

export interface RiskReasons {
  /** The risk of an entity about which nothing is special. */
  readonly referenceRisk: number;
  /** In percentage points, step by step from the reference to the risk: every partial sum is between 0 and 100. */
  readonly reasons: readonly Reason[];
}

export interface Reason {
  readonly group: ReasonGroup;
  readonly points: number;
  /** A sentence for people: "usually active every 2 days, silent for 12 days: +24 points". */
  readonly text: string;
}

/** All scores of one entity. The run computes the same for all entities in SQL. */
export function explain(
  { features, meanEngagement, traitValues = {} }: Subject,
  serving: Serving,
): Explanation {
  const { horizonDays, target, model, scale, healthWeights, healthTraits, riskScale } = serving;
  const state = stateOf(features, horizonDays, target);
  const scored =
    model !== null && isScored(features, horizonDays, target) ? riskScorer(model)(features) : null;
  const engagement = engagementOfSubject(
    { features, ...(meanEngagement !== undefined && { meanEngagement }) },
    scale,
  );
  const momentum = momentumOf(features);
  const risk = scored?.risk ?? null;
  const health = healthOf(
    {
      ...{ state, engagement: engagement?.score ?? null, risk, momentum },
      ...{ adoption: features.adoption, traitValues, billing: features.billing },
    },
    healthWeights,
    riskScale,
    healthTraits,
  );
  const reasons =
    scored === null || model === null ? null : reasonsOf(features, scored, model.referenceLogOdds);
  const { cell } = features;
  return {
    ...{ state, engagement, momentum, risk, health, reasons },
    endsAtMs: state === "canceling" ? (features.billing?.endsAtMs ?? null) : null,
    returnProbability:
      state === "churned" && target.by === "silence" && model !== null && cell !== null
        ? returnProbability(model, { cell, idleDays: features.idleDays })
        : null,
  };
}

function engagementOfSubject({ features, meanEngagement = 0 }: Subject, scale: EngagementScale) {
  const { members } = features;
  if (members === null) return engagementOf(features, scale);
  return accountEngagementOf({ meanEngagement, active28: members.active28, active90: members.active90 });
}

function reasonsOf(
  features: Features,
  { contributions, decisiveEvent }: RiskScore,
  reference: number,
): RiskReasons {
  const points = pointsOf(contributions, reference);
  return {
    referenceRisk: logistic(reference),
    reasons: stepsOfReasons
      .filter((group) => points[group] !== 0)
      .map((group) => ({
        group,
        points: 100 * points[group],
        text: sentence(words[group](features, decisiveEvent), 100 * points[group]),
      })),
  };
}

function sentence(fact: string, points: number): string {
  const rounded = Math.round(points);
  const signed = rounded > 0 ? `+${rounded}` : rounded === 0 ? "±0" : `−${-rounded}`;
  return `${fact}: ${signed} ${Math.abs(rounded) === 1 ? "point" : "points"}`;
}

function everyDays(meanGapDays: number): string {
  const gap = Math.max(1, Math.round(meanGapDays));
  return gap === 1 ? "daily" : `every ${gap} days`;
}

const words: Readonly<Record<ReasonGroup, (features: Features, decisiveEvent: string | null) => string>> = {
  silence: ({ idleDays, meanGapDays, hasSingleActiveDay }) =>
    hasSingleActiveDay
      ? `active on one day only, silent for ${days(idleDays)}`
      : `usually active ${everyDays(meanGapDays)}, silent for ${days(idleDays)}`,
  frequency: ({ activeDays28 }) => `active on ${activeDays28} of the last 28 days`,
  trend: ({ activeDays28, activeDaysPrevious28 }) =>
    `active on ${days(activeDays28)}, after ${activeDaysPrevious28} in the 28 days before`,
  breadth: ({ eventNames28, members }) =>
    members === null
      ? `${eventNames28} different events in 28 days`
      : `${members.active28} of ${members.active90} members active, ${eventNames28} different events`,
  mix: ({ eventCounts28, keyEventIdleDays }, event) => {
    if (event !== null) return `${event} ${times(eventCounts28[event] ?? 0)} in 28 days`;
    return keyEventIdleDays === null
      ? "no key event in 26 weeks"
      : `last key event ${days(keyEventIdleDays)} ago`;
  },
  tenure: ({ tenureDays }) => `first seen ${days(tenureDays)} ago`,
  traits: ({ traits, numbers }) => {
    const told = Object.entries({ ...traits, ...numbers }).map(([trait, value]) => `${trait} is ${value}`);
    return told.length === 0 ? "none of the traits that matter" : told.join(", ");
  },
  billing: ({ billing }) => (billing === null ? "no subscription" : billingWords(billing)),
  calibration: () => "past outcomes of similar risks",
};

/** The most telling facts of subscriptions. */
function billingWords(billing: BillingFeatures): string {
  const { daysToPeriodEnd, ageDays } = billing;
  const facts = [
    ...(billing.endsAtMs === null ? [] : ["the end of the subscription is scheduled"]),
    ...(billing.hasFailedPayment ? ["a payment failed within 28 days"] : []),
    ...(billing.isTrialEnding ? ["a trial ends within 14 days"] : []),
    ...(billing.isDown ? ["MRR or quantity are lower than 84 days ago"] : []),
  ];
  if (facts.length > 0) return facts.join(", ");
  const price = billing.isYearly ? "pays by the year" : "pays by shorter periods than a year";
  const period = daysToPeriodEnd === null ? "" : `, ${days(Math.floor(daysToPeriodEnd))} left of the period`;
  return `${price}, subscribed for ${days(Math.floor(ageDays))}${period}`;
}

function times(count: number): string {
  return count === 0 ? "not used" : count === 1 ? "once" : `${count} times`;
}

function days(count: number): string {
  return count === 1 ? "1 day" : `${count} days`;
}
