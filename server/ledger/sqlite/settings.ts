/** The settings of organizations: a row for every version, none of which is ever changed. */
import type { Database } from "bun:sqlite";
import {
  defaultSettings,
  type Settings,
  type SettingsChange,
  settingsLimits,
} from "../../../contract/settings.ts";
import { Refusal } from "../ledger.ts";
import {
  changedSettings,
  type SettingsPage,
  type SettingsRecord,
  type SettingsStore,
  type SettingsVersion,
  settingDifferences,
} from "../settings.ts";
import type { SqliteOrganizations } from "./organizations.ts";
import { inTransaction } from "./transaction.ts";

interface VersionRow {
  readonly version: number;
  readonly changed_at_ms: number;
  readonly changed_by: string;
  readonly settings: string;
}

const columns = "version, changed_at_ms, changed_by, settings";
const dayMs = 86_400_000;

function prepare(db: Database) {
  return {
    insert: db.prepare(`INSERT INTO settings_versions (organization, ${columns}) VALUES (?, ?, ?, ?, ?)`),
    /** The newest first, and one more than is asked for: what the oldest of them changed. */
    older: db.prepare<VersionRow, [number, number, number]>(
      `SELECT ${columns} FROM settings_versions WHERE organization = ? AND version < ?
       ORDER BY version DESC LIMIT ?`,
    ),
    changesSince: db.prepare<{ changes: number }, [number, number]>(
      "SELECT count(*) AS changes FROM settings_versions WHERE organization = ? AND changed_at_ms > ?",
    ),
  };
}

export class SqliteSettings implements SettingsStore {
  readonly #db: Database;
  readonly #organizations: SqliteOrganizations;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, organizations: SqliteOrganizations) {
    this.#db = db;
    this.#organizations = organizations;
    this.#statements = prepare(db);
  }

  async get(organization: number): Promise<SettingsVersion> {
    return this.#newest(organization);
  }

  async change(
    organization: number,
    change: SettingsChange,
    by: string,
    nowMs: number,
  ): Promise<SettingsVersion> {
    return inTransaction(this.#db, () => {
      if (this.#organizations.find(organization) === undefined) {
        throw new Refusal(`There is no organization with the id ${organization}.`);
      }
      const before = this.#newest(organization);
      const settings = changedSettings(before.settings, change);
      if (settingDifferences(before.settings, settings).length === 0) return before;
      this.#refuseTooMany(organization, nowMs);
      const after = {
        version: before.version + 1,
        changedAtMs: Math.max(nowMs, before.changedAtMs ?? nowMs),
        changedBy: by,
        settings,
      };
      const text = JSON.stringify(settings);
      this.#statements.insert.run(organization, after.version, after.changedAtMs, by, text);
      return after;
    });
  }

  async history(
    organization: number,
    { limit, beforeVersion = Number.MAX_SAFE_INTEGER }: SettingsPage,
  ): Promise<readonly SettingsRecord[]> {
    const versions = this.#statements.older.all(organization, beforeVersion, limit + 1).map(settingsVersion);
    return versions.slice(0, limit).map((version, index) => {
      const before = versions[index + 1]?.settings ?? defaultSettings;
      return { ...version, changes: settingDifferences(before, version.settings) };
    });
  }

  #newest(organization: number): SettingsVersion {
    const row = this.#statements.older.get(organization, Number.MAX_SAFE_INTEGER, 1);
    if (row !== null) return settingsVersion(row);
    return { version: 0, settings: defaultSettings, changedAtMs: null, changedBy: null };
  }

  #refuseTooMany(organization: number, nowMs: number): void {
    const changes = this.#statements.changesSince.get(organization, nowMs - dayMs)?.changes ?? 0;
    if (changes < settingsLimits.changesPerDay) return;
    throw new Refusal(
      `The settings were changed ${changes} times within 24 hours, which is all that is allowed: try again later.`,
    );
  }
}

function settingsVersion(row: VersionRow) {
  return {
    version: row.version,
    changedAtMs: row.changed_at_ms,
    changedBy: row.changed_by,
    // A setting that came with a later release is the default in versions that are older.
    settings: { ...defaultSettings, ...(JSON.parse(row.settings) as Settings) },
  };
}
