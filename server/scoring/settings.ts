/** What an organization sets about its scores, as plain data. This is the one place that has the defaults. */
import type { FeatureSettings } from "./features.ts";
import { defaultHealthWeights, type HealthParts } from "./health.ts";

export interface ScoreSettings {
  /** H: silent for so many days is churned. One of 7, 14, 28, 56 and 84. */
  readonly horizonDays: number;
  /** Events that are done to an entity, and no engagement. */
  readonly passiveEvents: readonly string[];
  /** What an event counts for in the volume; 1 unless it is here. */
  readonly eventWeights: Readonly<Record<string, number>>;
  /** The events that make up adoption. */
  readonly keyEvents: readonly string[];
  /** The event with which an entity leaves; null when none is named. */
  readonly churnEvent: string | null;
  readonly healthWeights: HealthParts;
}

export const defaultScoreSettings: ScoreSettings = {
  horizonDays: 28,
  passiveEvents: [],
  eventWeights: {},
  keyEvents: [],
  churnEvent: null,
  healthWeights: defaultHealthWeights,
};

/** The settings that features depend on, as the models take them. */
export function featureSettingsOf(settings: ScoreSettings): FeatureSettings {
  const { passiveEvents, eventWeights, keyEvents, churnEvent } = settings;
  return {
    passiveEvents: new Set(passiveEvents),
    weights: new Map(Object.entries(eventWeights)),
    keyEvents,
    ...(churnEvent !== null && { churnEvent }),
  };
}

/** Equal settings have equal texts. */
export function settingsKey(settings: ScoreSettings): string {
  const { eventWeights, passiveEvents, keyEvents, churnEvent, horizonDays, healthWeights } = settings;
  const { engagement, outlook, momentum, adoption } = healthWeights;
  return JSON.stringify([
    ...[horizonDays, churnEvent, passiveEvents.toSorted(), keyEvents.toSorted()],
    Object.entries(eventWeights).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [engagement, outlook, momentum, adoption],
  ]);
}
