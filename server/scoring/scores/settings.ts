/** An organization's settings in the form that scores use. */
import { eventsOfTargets, silence } from "../../../contract/api/churn-targets.ts";
import { waitsForAnswer } from "../../../contract/api/departures-body.ts";
import type { Settings } from "../../../contract/settings.ts";
import type { FeatureSettings } from "./features.ts";
import type { HealthParts } from "./health.ts";

export interface ScoringSettings {
  /** H, the churn horizon. */
  readonly horizonDays: number;
  readonly features: FeatureSettings;
  readonly healthWeights: HealthParts;
}

/** Settings that no score depends on. The answers about departures are in the passive events by now
 * (warehouse/schema/engagement.ts). */
export const settingsWithoutScores = [
  "weekStart",
  "ordinaryEvents",
  "reportingCurrency",
  "currencyRates",
] as const;

/** Settings under which scores are equal have equal texts: they are kept in one form, with names in order. */
export function settingsKey(settings: Readonly<Record<string, unknown>>): string {
  const others: readonly string[] = settingsWithoutScores;
  return JSON.stringify(
    Object.fromEntries(Object.entries(settings).filter(([name]) => !others.includes(name))),
  );
}

/**
 * Settings under which the models and scales of a kind are equal have equal texts. Health and bands follow
 * from models, and the churn target of the other kind does not matter. An event that is passive until a
 * setting mentions it changes no model when it comes for the first time. So each further spelling of a
 * departure, which any source may send, trains nothing. An answer that makes it engagement does.
 */
export function modelKey(
  { healthWeights: _, healthTraits: _traits, riskBands: _bands, ...settings }: Settings,
  kind: "user" | "account",
): string {
  const { churnTargets, ordinaryEvents, passiveEvents } = settings;
  const ofKind = { user: silence, account: silence, [kind]: churnTargets[kind] };
  const answered = [...ordinaryEvents, ...eventsOfTargets({ ...churnTargets, [kind]: silence })];
  const engagementEvents = [...new Set(answered.filter(waitsForAnswer))].toSorted();
  return settingsKey({
    ...settings,
    churnTargets: ofKind,
    passiveEvents: passiveEvents.filter((event) => !waitsForAnswer(event)),
    ...(engagementEvents.length > 0 && { engagementEvents }),
  });
}

/** The settings that scores of users or accounts depend on; the week's start is none of them. */
export function scoringSettings(settings: Settings, kind: "user" | "account"): ScoringSettings {
  const { churnHorizonDays, healthWeights, eventWeights, passiveEvents, keyEvents, churnTargets } = settings;
  return {
    horizonDays: churnHorizonDays,
    features: {
      passiveEvents: new Set(passiveEvents),
      weights: new Map(Object.entries(eventWeights)),
      keyEvents,
      target: churnTargets[kind],
    },
    healthWeights,
  };
}
