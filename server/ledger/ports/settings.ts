/** An organization's settings as the ledger keeps them: all versions, and the rule that makes a version from the one
 * before. Both databases use this rule. */
import { Compile, type Validator } from "typebox/compile";
import { eventsOfTargets } from "../../../contract/api/churn-targets.ts";
import { errorMessages } from "../../../contract/errors.ts";
import { explainInvalid } from "../../../contract/explain.ts";
import { Refusal } from "../../../contract/refusal.ts";
import {
  defaultSettings,
  type Settings,
  type SettingsChange,
  SettingsChangeBody,
  settingsLimits,
} from "../../../contract/settings.ts";
import { changedTargets, targetsOfStored } from "../rules/churn-targets.ts";
import type { Actor, AuditNote } from "./audit.ts";

/** A version of the settings, and its change. */
export interface SettingsVersion {
  /** 0 is the version of the initial settings. */
  readonly version: number;
  readonly settings: Settings;
  /** Null before the first change. It is never earlier than that of an earlier version. */
  readonly changedAtMs: number | null;
  readonly changedBy: string | null;
}

/** A version, and the differences to the one before. */
export interface SettingsRecord extends SettingsVersion {
  readonly changedAtMs: number;
  readonly changedBy: string;
  readonly changes: readonly SettingDifference[];
}

/** One setting that a change has changed. */
export interface SettingDifference {
  /** `churnHorizonDays`, `healthWeights.outlook`, `eventWeights.report_created` … */
  readonly setting: string;
  /** As JSON. Null for an event without a weight of its own. */
  readonly from: unknown;
  readonly to: unknown;
}

export interface SettingsPage {
  readonly limit: number;
  /** Only versions older than this one. */
  readonly beforeVersion?: number;
}

/** A change was based on a version that is not the current one. */
export class SettingsConflict extends Refusal {
  readonly currentVersion: number;

  constructor(currentVersion: number) {
    super(errorMessages.settingsChanged);
    this.currentVersion = currentVersion;
  }
}

/** The settings of organizations, one version after another. */
export interface SettingsStore {
  get(organization: number): Promise<SettingsVersion>;
  /** Changes the given settings, and returns the new version. A change without a difference makes no version. The version
   * and its entry in the audit log are one commit.
   * @throws SettingsConflict when the change names another version than the current one
   * @throws Refusal naming the field that is wrong, or when there were too many changes within 24 hours */
  change(organization: number, change: SettingsChange, by: Actor, nowMs: number): Promise<SettingsVersion>;
  /** The versions that changes made, the newest first. */
  history(organization: number, page: SettingsPage): Promise<readonly SettingsRecord[]>;
}

let validator: Validator | undefined;

/**
 * The settings after a change (a JSON merge patch, RFC 7396), in their normal form. Names are sorted, so that
 * equal settings are equal texts.
 * @throws SettingsConflict when the change names another version than the current one
 * @throws Refusal naming the field that is wrong: of the change, or of the settings after it
 */
function changedSettings({ version, settings: before }: SettingsVersion, change: unknown): Settings {
  validator ??= Compile(SettingsChangeBody);
  if (!isSettingsChange(validator, change)) {
    throw new Refusal(explainInvalid(SettingsChangeBody, validator, change));
  }
  if ((change.version ?? version) !== version) throw new SettingsConflict(version);
  const changed = <Name extends keyof Settings>(name: Name, sent: Settings[Name] | null | undefined) =>
    sent === undefined ? before[name] : (sent ?? defaultSettings[name]);
  const passiveEvents = changed("passiveEvents", change.passiveEvents).toSorted();
  const churnTargets = changedTargets(before.churnTargets, change.churnTargets);
  const churnEvents = eventsOfTargets(churnTargets);
  const after: Settings = {
    churnHorizonDays: changed("churnHorizonDays", change.churnHorizonDays),
    healthWeights:
      change.healthWeights === null
        ? defaultSettings.healthWeights
        : { ...before.healthWeights, ...change.healthWeights },
    eventWeights: changedWeights(before.eventWeights, change.eventWeights),
    passiveEvents,
    keyEvents: changed("keyEvents", change.keyEvents).toSorted(),
    churnTargets,
    // A later answer replaces "no".
    ordinaryEvents: changed("ordinaryEvents", change.ordinaryEvents)
      .filter((event) => !churnEvents.includes(event) && !passiveEvents.includes(event))
      .toSorted(),
    weekStart: changed("weekStart", change.weekStart),
  };
  const problem = contradiction(after);
  if (problem !== undefined) throw new Refusal(problem);
  return after;
}

function isSettingsChange(schema: Validator, change: unknown): change is SettingsChange {
  return schema.Check(change);
}

function changedWeights(
  before: Settings["eventWeights"],
  change: SettingsChange["eventWeights"],
): Settings["eventWeights"] {
  if (change === null) return defaultSettings.eventWeights;
  const weights = Object.entries({ ...before, ...change }).filter(
    (entry): entry is [string, number] => entry[1] !== null,
  );
  return Object.fromEntries(weights.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The contradiction between settings that are valid by themselves. */
function contradiction({
  healthWeights,
  eventWeights,
  passiveEvents,
  ...rest
}: Settings): string | undefined {
  if (Object.values(healthWeights).every((weight) => weight === 0)) {
    return "healthWeights are all 0: send at least one above 0.";
  }
  if (Object.keys(eventWeights).length > settingsLimits.eventWeights) {
    return `eventWeights would be more than ${settingsLimits.eventWeights}: send null for names that need none.`;
  }
  // Passive events are left out first, so no other rule could find these events.
  const passive = new Set(passiveEvents);
  const key = rest.keyEvents.find((event) => passive.has(event));
  if (key !== undefined) return `keyEvents has ${key}, which is passive: take it out of passiveEvents first.`;
  const bytes = Buffer.byteLength(JSON.stringify({ eventWeights, passiveEvents, ...rest }));
  if (bytes <= settingsLimits.storedBytes) return undefined;
  return `body makes the settings larger than ${settingsLimits.storedBytes} bytes: send fewer or shorter names.`;
}

/** The differences between two versions, one for each setting. */
export function settingDifferences(before: Settings, after: Settings): SettingDifference[] {
  const [flatBefore, flatAfter] = [flat(before), flat(after)];
  return [...new Set([...flatBefore.keys(), ...flatAfter.keys()])]
    .map((setting) => ({
      setting,
      from: flatBefore.get(setting) ?? null,
      to: flatAfter.get(setting) ?? null,
    }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}

function flat({ healthWeights, eventWeights, churnTargets, ...others }: Settings): Map<string, unknown> {
  const below = (setting: string, values: Readonly<Record<string, unknown>>) =>
    Object.entries(values).map(([name, value]) => [`${setting}.${name}`, value] as const);
  return new Map<string, unknown>([
    ...Object.entries(others),
    ...below("healthWeights", healthWeights),
    ...below("eventWeights", eventWeights),
    ...below("churnTargets", churnTargets),
  ]);
}

/** The version after a change of the newest one. Undefined if nothing changes.
 * @throws Refusal naming the field that is wrong */
export function nextVersion(
  before: SettingsVersion,
  change: SettingsChange,
  by: string,
  nowMs: number,
): (SettingsVersion & { readonly changedAtMs: number }) | undefined {
  const settings = changedSettings(before, change);
  if (settingDifferences(before.settings, settings).length === 0) return undefined;
  const changedAtMs = Math.max(nowMs, before.changedAtMs ?? nowMs);
  return { version: before.version + 1, changedAtMs, changedBy: by, settings };
}

/** The entry of settings that were changed. */
export function settingsChangedNote(before: SettingsVersion, after: SettingsVersion): AuditNote {
  const differences = settingDifferences(before.settings, after.settings);
  const values = (side: "from" | "to") =>
    Object.fromEntries(differences.map((one) => [one.setting, one[side]]));
  return {
    action: "settings.changed",
    summary: `Changed the settings ${differences.map(({ setting }) => setting).join(", ")}`,
    detail: { version: after.version, from: values("from"), to: values("to") },
  };
}

/** Changes of an organization are counted for this time. */
export const settingsChangesCountedMs = 86_400_000;

/** @param changes the number of an organization's changes in the last 24 hours
 * @throws Refusal when the limit is reached */
export function refuseTooManyChanges(changes: number): void {
  if (changes < settingsLimits.changesPerDay) return;
  throw new Refusal(
    `The settings were changed ${changes} times within 24 hours, which is all that is allowed: try again later.`,
  );
}

/** The settings of an organization before the first change. */
export const initialSettings: SettingsVersion = {
  version: 0,
  settings: defaultSettings,
  changedAtMs: null,
  changedBy: null,
};

/** Settings as any version stored them, parsed. */
export type StoredSettings = Partial<Settings> & { readonly churnEvent?: string | null };

/** Stored settings in the form of now: a setting of a later release has its default. */
export function currentSettings(stored: StoredSettings): Settings {
  const { churnEvent: _, ...settings } = stored;
  return { ...defaultSettings, ...settings, churnTargets: targetsOfStored(stored) };
}

/** Parses stored settings of any version. */
export function storedSettings(text: string): Settings {
  return currentSettings(JSON.parse(text) as StoredSettings);
}

/** A page of the history.
 * @param versions newest first, with one more than the page, if there is one: the page's oldest change needs it */
export function settingsHistory(
  versions: readonly Omit<SettingsRecord, "changes">[],
  limit: number,
): readonly SettingsRecord[] {
  return versions.slice(0, limit).map((version, index) => {
    const before = versions[index + 1]?.settings ?? defaultSettings;
    return { ...version, changes: settingDifferences(before, version.settings) };
  });
}
