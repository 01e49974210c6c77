/** The settings of organizations: a row for every version. A row is never changed. */
import {
  initialSettings,
  nextVersion,
  refuseTooManyChanges,
  restoredVersion,
  type SettingsRecord,
  type SettingsStore,
  type SettingsVersion,
  settingsChangedNote,
  settingsChangesCountedMs,
  settingsHistory,
  storedSettings,
} from "../ports/settings.ts";
import type { Engine } from "./engine/engine.ts";
import { count, integer, Json, RowOf, run, select, text, type Work } from "./engine/sql.ts";
import { lockKnownOrganization } from "./organization-rows.ts";

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

/** The store of settings. */
export function settingsStore(engine: Engine): SettingsStore {
  return {
    get: (organization) => engine.alone(newest(organization)),

    change: (organization, change, by, nowMs) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const before = yield* newest(organization);
        const after = nextVersion(before, change, by.by, nowMs);
        if (after === undefined) return before;
        yield* insert(organization, after, nowMs);
        yield* audit.note(organization, settingsChangedNote(before, after), by, nowMs);
        return after;
      }),

    restore: (organization, restored, by, nowMs) =>
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

    history: async (organization, { limit, beforeVersion = Number.MAX_SAFE_INTEGER }) =>
      settingsHistory(await engine.alone(older(organization, beforeVersion, limit + 1)), limit),
  };
}

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
