/** The settings of organizations: a row for every version, none of which is ever changed. */
import type { Database } from "bun:sqlite";
import type { SettingsChange } from "../../../../contract/settings.ts";
import type { Actor } from "../../ports/audit.ts";
import {
  initialSettings,
  nextVersion,
  refuseTooManyChanges,
  type SettingsPage,
  type SettingsRecord,
  type SettingsStore,
  type SettingsVersion,
  settingsChangedNote,
  settingsChangesCountedMs,
  settingsHistory,
  storedSettings,
} from "../../ports/settings.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import type { SqliteAudit } from "./audit.ts";
import type { SqliteOrganizations } from "./organizations.ts";

interface VersionRow {
  readonly version: number;
  readonly changed_at_ms: number;
  readonly changed_by: string;
  readonly settings: string;
}

const columns = "version, changed_at_ms, changed_by, settings";

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
  readonly #audit: SqliteAudit;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, organizations: SqliteOrganizations, audit: SqliteAudit) {
    this.#db = db;
    this.#organizations = organizations;
    this.#audit = audit;
    this.#statements = prepare(db);
  }

  async get(organization: number): Promise<SettingsVersion> {
    return this.#newest(organization);
  }

  async change(
    organization: number,
    change: SettingsChange,
    by: Actor,
    nowMs: number,
  ): Promise<SettingsVersion> {
    return inTransaction(this.#db, () => {
      this.#organizations.refuseUnknown(organization);
      const before = this.#newest(organization);
      const after = nextVersion(before, change, by.by, nowMs);
      if (after === undefined) return before;
      const counted = this.#statements.changesSince.get(organization, nowMs - settingsChangesCountedMs);
      refuseTooManyChanges(counted?.changes ?? 0);
      const text = JSON.stringify(after.settings);
      this.#statements.insert.run(organization, after.version, after.changedAtMs, by.by, text);
      this.#audit.note(organization, settingsChangedNote(before, after), by, nowMs);
      return after;
    });
  }

  async history(
    organization: number,
    { limit, beforeVersion = Number.MAX_SAFE_INTEGER }: SettingsPage,
  ): Promise<readonly SettingsRecord[]> {
    const versions = this.#statements.older.all(organization, beforeVersion, limit + 1).map(settingsVersion);
    return settingsHistory(versions, limit);
  }

  #newest(organization: number): SettingsVersion {
    const row = this.#statements.older.get(organization, Number.MAX_SAFE_INTEGER, 1);
    return row === null ? initialSettings : settingsVersion(row);
  }
}

function settingsVersion(row: VersionRow) {
  return {
    version: row.version,
    changedAtMs: row.changed_at_ms,
    changedBy: row.changed_by,
    settings: storedSettings(row.settings),
  };
}
