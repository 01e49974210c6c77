/** An organization's settings as the ledger keeps them: all versions, and the rule that makes a version from
 * the one before. Both databases use this rule. */
import { Compile, type Validator } from "typebox/compile";
import { eventsOfTargets } from "../../../contract/api/churn-targets.ts";
import type { HealthTrait } from "../../../contract/api/health-traits.ts";
import type { RiskBounds } from "../../../contract/api/risk-bands.ts";
import { ratesProblem } from "../../../contract/billing/currency-rates.ts";
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
import type { Actor, AuditNote } from "../audit.ts";
import type { Engine } from "../engine.ts";
import { changedTargets, targetsOfStored } from "../rules/churn-targets.ts";
import { healthProblem, weightsOfStored } from "../rules/health-weights.ts";
import { count, integer, Json, RowOf, run, select, text, type Work } from "../sql.ts";
import { lockKnownOrganization } from "./organization-rows.ts";

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

/** A way back to an older version. */
export interface SettingsRestore {
  /** The version whose settings become the current ones; 0 is the initial one. */
  readonly to: number;
  /** The version that is current for the author. */
  readonly version?: number;
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
    healthTraits: changed("healthTraits", change.healthTraits).toSorted(byTrait),
    riskBands:
      change.riskBands === null ? defaultSettings.riskBands : { ...before.riskBands, ...change.riskBands },
    eventWeights: mergedByName(before.eventWeights, change.eventWeights),
    passiveEvents,
    keyEvents: changed("keyEvents", change.keyEvents).toSorted(),
    churnTargets,
    // A later answer replaces "no".
    ordinaryEvents: changed("ordinaryEvents", change.ordinaryEvents)
      .filter((event) => !churnEvents.includes(event) && !passiveEvents.includes(event))
      .toSorted(),
    weekStart: changed("weekStart", change.weekStart),
    reportingCurrency: changed("reportingCurrency", change.reportingCurrency),
    currencyRates: mergedByName(before.currencyRates, change.currencyRates),
  };
  const problem = contradiction(after);
  if (problem !== undefined) throw new Refusal(problem);
  return after;
}

function byTrait(one: HealthTrait, other: HealthTrait): number {
  return one.trait < other.trait ? -1 : 1;
}

function isSettingsChange(schema: Validator, change: unknown): change is SettingsChange {
  return schema.Check(change);
}

/** Numbers by name: those that are not sent stay, null takes one away, and null for all takes all away. */
function mergedByName(
  before: Readonly<Record<string, number>>,
  change: Readonly<Record<string, number | null>> | null | undefined,
): Record<string, number> {
  if (change === null) return {};
  const numbers = Object.entries({ ...before, ...change }).filter(
    (entry): entry is [string, number] => entry[1] !== null,
  );
  return Object.fromEntries(numbers.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The contradiction between settings that are valid by themselves. */
function contradiction({
  healthWeights,
  healthTraits,
  eventWeights,
  passiveEvents,
  ...rest
}: Settings): string | undefined {
  const health = healthProblem({ healthWeights, healthTraits });
  if (health !== undefined) return health;
  const kind = (["user", "account"] as const).find((one) => !isAscending(rest.riskBands[one]));
  if (kind !== undefined) {
    return `riskBands.${kind}.high is not above medium: send a larger churn risk.`;
  }
  if (Object.keys(eventWeights).length > settingsLimits.eventWeights) {
    return `eventWeights would be more than ${settingsLimits.eventWeights}: send null for names that need none.`;
  }
  const rates = ratesProblem(rest);
  if (rates !== undefined) return rates;
  // Passive events are left out first, so no other rule could find these events.
  const passive = new Set(passiveEvents);
  const key = rest.keyEvents.find((event) => passive.has(event));
  if (key !== undefined) return `keyEvents has ${key}, which is passive: take it out of passiveEvents first.`;
  const bytes = Buffer.byteLength(JSON.stringify({ healthTraits, eventWeights, passiveEvents, ...rest }));
  if (bytes <= settingsLimits.storedBytes) return undefined;
  return `body makes the settings larger than ${settingsLimits.storedBytes} bytes: send fewer or shorter names.`;
}

function isAscending(bounds: RiskBounds | null): boolean {
  return bounds === null || bounds.medium < bounds.high;
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

function flat({
  healthWeights,
  healthTraits,
  eventWeights,
  churnTargets,
  riskBands,
  currencyRates,
  ...others
}: Settings): Map<string, unknown> {
  const below = (setting: string, values: Readonly<Record<string, unknown>>) =>
    Object.entries(values).map(([name, value]) => [`${setting}.${name}`, value] as const);
  return new Map<string, unknown>([
    ...Object.entries(others),
    ...below("healthWeights", healthWeights),
    ...healthTraits.map(({ trait, ...part }) => [`healthTraits.${trait}`, part] as const),
    ...below("eventWeights", eventWeights),
    ...below("churnTargets", churnTargets),
    ...below("riskBands", riskBands),
    ...below("currencyRates", currencyRates),
  ]);
}

/** The settings after a change, which is not stored.
 * @throws SettingsConflict when the change names another version than the current one
 * @throws Refusal naming the field that is wrong */
export function settingsAfter(current: SettingsVersion, change: SettingsChange): Settings {
  return changedSettings(current, change);
}

type NewVersion = SettingsVersion & { readonly changedAtMs: number };

/** The version after a change of the newest one. Undefined if nothing changes.
 * @throws Refusal naming the field that is wrong */
function nextVersion(
  before: SettingsVersion,
  change: SettingsChange,
  by: string,
  nowMs: number,
): NewVersion | undefined {
  return versionWith(before, changedSettings(before, change), by, nowMs);
}

/** The version after the newest one, with the settings of an older one. Undefined if nothing changes.
 * @throws SettingsConflict when it is based on another version than the newest */
function restoredVersion(
  before: SettingsVersion,
  { settings }: SettingsVersion,
  { version }: SettingsRestore,
  by: string,
  nowMs: number,
): NewVersion | undefined {
  if ((version ?? before.version) !== before.version) throw new SettingsConflict(before.version);
  const problem = contradiction(settings);
  if (problem !== undefined) throw new Refusal(problem);
  return versionWith(before, settings, by, nowMs);
}

function versionWith(
  before: SettingsVersion,
  settings: Settings,
  by: string,
  nowMs: number,
): NewVersion | undefined {
  if (settingDifferences(before.settings, settings).length === 0) return undefined;
  const changedAtMs = Math.max(nowMs, before.changedAtMs ?? nowMs);
  return { version: before.version + 1, changedAtMs, changedBy: by, settings };
}

/** The entry of settings that were changed. @param restored the older version whose settings they are */
function settingsChangedNote(before: SettingsVersion, after: SettingsVersion, restored?: number): AuditNote {
  const differences = settingDifferences(before.settings, after.settings);
  const values = (side: "from" | "to") =>
    Object.fromEntries(differences.map((one) => [one.setting, one[side]]));
  const names = differences.map(({ setting }) => setting).join(", ");
  return {
    action: restored === undefined ? "settings.changed" : "settings.restored",
    summary:
      restored === undefined
        ? `Changed the settings ${names}`
        : `Restored version ${restored} of the settings: ${names}`,
    detail: {
      version: after.version,
      ...(restored !== undefined && { restored }),
      from: values("from"),
      to: values("to"),
    },
  };
}

/** Changes of an organization are counted for this time. */
const settingsChangesCountedMs = 86_400_000;

/** @param changes the number of an organization's changes in the last 24 hours
 * @throws Refusal when the limit is reached */
function refuseTooManyChanges(changes: number): void {
  if (changes < settingsLimits.changesPerDay) return;
  throw new Refusal(
    `The settings were changed ${changes} times within 24 hours, which is all that is allowed: try again later.`,
  );
}

/** The settings of an organization before the first change. */
const initialSettings: SettingsVersion = {
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
  return {
    ...defaultSettings,
    ...settings,
    churnTargets: targetsOfStored(stored),
    healthWeights: weightsOfStored(stored),
  };
}

/** Parses stored settings of any version. */
export function storedSettings(text: string): Settings {
  return currentSettings(JSON.parse(text) as StoredSettings);
}

/** A page of the history.
 * @param versions newest first, with one more than the page, if there is one: the page's oldest change needs
 * it */
function settingsHistory(
  versions: readonly Omit<SettingsRecord, "changes">[],
  limit: number,
): readonly SettingsRecord[] {
  return versions.slice(0, limit).map((version, index) => {
    const before = versions[index + 1]?.settings ?? defaultSettings;
    return { ...version, changes: settingDifferences(before, version.settings) };
  });
}

type Version = Omit<SettingsRecord, "changes">;

const versionRow = new RowOf<Version>({
  version: integer(),
  changedAtMs: integer(),
  changedBy: text(),
  settings: {
    source: "settings",
    read: (stored) => storedSettings(String(stored)),
  },
});

/** The store of settings of organizations, one version after another. */
export function settingsStore(engine: Engine) {
  return {
    get: (organization: number) => engine.alone(newest(organization)),

    /** Changes the given settings, and returns the new version. A change without a difference makes no
     * version. The version and its entry in the audit log are one commit.
     * @throws SettingsConflict when the change names another version than the current one
     * @throws Refusal naming the field that is wrong, or when there were too many changes within 24 hours */
    change: (organization: number, change: SettingsChange, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const before = yield* newest(organization);
        const after = nextVersion(before, change, by.by, nowMs);
        if (after === undefined) return before;
        yield* insert(organization, after, nowMs);
        yield* audit.note(organization, settingsChangedNote(before, after), by, nowMs);
        return after;
      }),

    /** Makes a new version with the settings of an older one, and returns it. Undefined if there is no such
     * version. The current settings make no new version.
     * @throws SettingsConflict when it names another version than the current one
     * @throws Refusal as `change` does */
    restore: (organization: number, restored: SettingsRestore, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const before = yield* newest(organization);
        const older = yield* versionOf(organization, restored.to);
        if (older === undefined) return undefined;
        const after = restoredVersion(before, older, restored, by.by, nowMs);
        if (after === undefined) return before;
        yield* insert(organization, after, nowMs);
        yield* audit.note(organization, settingsChangedNote(before, after, restored.to), by, nowMs);
        return after;
      }),

    /** The versions that changes made, the newest first. */
    history: async (organization: number, { limit, beforeVersion = Number.MAX_SAFE_INTEGER }: SettingsPage) =>
      settingsHistory(await engine.alone(older(organization, beforeVersion, limit + 1)), limit),
  };
}

export type SettingsStore = ReturnType<typeof settingsStore>;

/** @throws Refusal after too many changes */
function* insert(
  organization: number,
  { version, changedAtMs, changedBy, settings }: SettingsVersion,
  nowMs: number,
): Work<void> {
  const sinceMs = nowMs - settingsChangesCountedMs;
  refuseTooManyChanges(
    yield* count`FROM settings_versions WHERE organization = ${organization} AND changed_at_ms > ${sinceMs}`,
  );
  yield* run`
    INSERT INTO settings_versions (organization, version, changed_at_ms, changed_by, settings)
    VALUES (${organization}, ${version}, ${changedAtMs}, ${changedBy}, ${Json.of(settings)})`;
}

function* versionOf(organization: number, version: number): Work<SettingsVersion | undefined> {
  if (version === initialSettings.version) return initialSettings;
  const [found] = yield* older(organization, version + 1, 1);
  return found?.version === version ? found : undefined;
}

function* newest(organization: number): Work<SettingsVersion> {
  const [version] = yield* older(organization, Number.MAX_SAFE_INTEGER, 1);
  return version ?? initialSettings;
}

/** Older versions, newest first. */
function older(organization: number, beforeVersion: number, most: number) {
  return select(versionRow)`
    FROM settings_versions WHERE organization = ${organization} AND version < ${beforeVersion}
    ORDER BY version DESC LIMIT ${most}`;
}
