/** The settings of organizations: a row for every version, none of which is ever changed. */
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
import type { Queries, Sql } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import type { PostgresAudit } from "./audit.ts";
import { lockKnownOrganization } from "./organizations.ts";

/** The table of settings. They are JSON, which writes every character that PostgreSQL does not store otherwise. */
export const settingsTable = `
  CREATE TABLE settings_versions (
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    version bigint NOT NULL CHECK (version > 0),
    changed_at_ms bigint NOT NULL,
    changed_by text NOT NULL,
    settings text NOT NULL,
    PRIMARY KEY (organization, version)
  );
`;

type StoredVersion = Omit<SettingsRecord, "changes">;
type VersionRow = Omit<StoredVersion, "settings"> & { readonly settings: string };

export class PostgresSettings implements SettingsStore {
  readonly #sql: Sql;
  readonly #audit: PostgresAudit;

  constructor(sql: Sql, audit: PostgresAudit) {
    this.#sql = sql;
    this.#audit = audit;
  }

  get(organization: number): Promise<SettingsVersion> {
    return newest(this.#sql, organization);
  }

  async change(
    organization: number,
    change: SettingsChange,
    by: Actor,
    nowMs: number,
  ): Promise<SettingsVersion> {
    return inTransaction(this.#sql, async (tx) => {
      await lockKnownOrganization(tx, organization);
      const before = await newest(tx, organization);
      const after = nextVersion(before, change, by.by, nowMs);
      if (after === undefined) return before;
      const [counted] = await tx<{ changes: number }[]>`
        SELECT count(*) AS changes FROM settings_versions
        WHERE organization = ${organization} AND changed_at_ms > ${nowMs - settingsChangesCountedMs}`;
      refuseTooManyChanges(counted?.changes ?? 0);
      await tx`
        INSERT INTO settings_versions (organization, version, changed_at_ms, changed_by, settings)
        VALUES (${organization}, ${after.version}, ${after.changedAtMs}, ${storable(by.by)},
          ${JSON.stringify(after.settings)})`;
      await this.#audit.note(tx, organization, settingsChangedNote(before, after), by, nowMs);
      return after;
    });
  }

  async history(
    organization: number,
    { limit, beforeVersion = Number.MAX_SAFE_INTEGER }: SettingsPage,
  ): Promise<readonly SettingsRecord[]> {
    return settingsHistory(await older(this.#sql, organization, beforeVersion, limit + 1), limit);
  }
}

async function newest(queries: Queries, organization: number): Promise<SettingsVersion> {
  const [version] = await older(queries, organization, Number.MAX_SAFE_INTEGER, 1);
  return version ?? initialSettings;
}

/** The newest first. */
async function older(
  queries: Queries,
  organization: number,
  beforeVersion: number,
  most: number,
): Promise<readonly StoredVersion[]> {
  const rows = await queries<VersionRow[]>`
    SELECT version, changed_at_ms AS "changedAtMs", changed_by AS "changedBy", settings FROM settings_versions
    WHERE organization = ${organization} AND version < ${beforeVersion} ORDER BY version DESC LIMIT ${most}`;
  return rows.map((row) => ({
    ...row,
    changedBy: restored(row.changedBy),
    settings: storedSettings(row.settings),
  }));
}
