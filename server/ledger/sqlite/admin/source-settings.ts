/** Settings of sources as they are stored: a row for each webhook, and one for Stripe once something of it is set. */
import type { Database } from "bun:sqlite";
import type { WebhookMapping } from "../../../../contract/source-settings.ts";
import type { Actor } from "../../ports/audit.ts";
import {
  refuseTooManyWebhooks,
  type SourceSettingsStore,
  type StripeSettings,
  type StripeSettingsChange,
  type StripeStored,
  stripeChangedNote,
  stripeInitially,
  type Webhook,
  webhookChangedNote,
  webhookNameTaken,
  webhookNote,
} from "../../ports/source-settings.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import { usersByEmail } from "../identity/identities.ts";
import type { SqliteAudit } from "./audit.ts";
import type { SqliteOrganizations } from "./organizations.ts";

/** What is added to the ledger by the migration that brings settings of sources. */
export const sourceSettingsTable = `
  CREATE TABLE source_settings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source TEXT NOT NULL CHECK (source IN ('stripe', 'webhook')),
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    UNIQUE (organization, source, name)
  ) STRICT;
  ${usersByEmail}
`;

type Source = "stripe" | "webhook";

interface Row {
  readonly id: number;
  readonly name: string;
  readonly settings: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

const columns = "id, name, settings, created_at_ms, updated_at_ms";

function prepare(db: Database) {
  return {
    list: db.prepare<Row, [number, Source]>(
      `SELECT ${columns} FROM source_settings WHERE organization = ? AND source = ? ORDER BY name`,
    ),
    named: db.prepare<Row, [number, Source, string]>(
      `SELECT ${columns} FROM source_settings WHERE organization = ? AND source = ? AND name = ?`,
    ),
    find: db.prepare<Row, [number, Source, number]>(
      `SELECT ${columns} FROM source_settings WHERE organization = ? AND source = ? AND id = ?`,
    ),
    put: db.prepare<Row, [number, Source, string, string, number]>(
      `INSERT INTO source_settings (organization, source, name, settings, created_at_ms, updated_at_ms)
       VALUES (?1, ?2, ?3, ?4, ?5, ?5)
       ON CONFLICT (organization, source, name) DO UPDATE SET settings = ?4, updated_at_ms = ?5
       RETURNING ${columns}`,
    ),
    remove: db.prepare("DELETE FROM source_settings WHERE id = ?"),
  };
}

/** Stripe has one row, whose name says nothing. */
const noName = "";

export class SqliteSourceSettings implements SourceSettingsStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #organizations: SqliteOrganizations;
  readonly #audit: SqliteAudit;

  constructor(db: Database, organizations: SqliteOrganizations, audit: SqliteAudit) {
    this.#db = db;
    this.#organizations = organizations;
    this.#statements = prepare(db);
    this.#audit = audit;
  }

  async webhooks(organization: number): Promise<readonly Webhook[]> {
    return this.#statements.list.all(organization, "webhook").map(webhook);
  }

  async webhook(organization: number, name: string): Promise<Webhook | undefined> {
    const row = this.#statements.named.get(organization, "webhook", name);
    return row === null ? undefined : webhook(row);
  }

  async addWebhook(
    organization: number,
    { name, mapping }: Pick<Webhook, "name" | "mapping">,
    by: Actor,
    nowMs: number,
  ): Promise<Webhook> {
    return inTransaction(this.#db, () => {
      this.#organizations.refuseUnknown(organization);
      if (this.#statements.named.get(organization, "webhook", name) !== null) {
        throw webhookNameTaken(name);
      }
      refuseTooManyWebhooks(this.#statements.list.all(organization, "webhook").length);
      const added = this.#put(organization, "webhook", name, mapping, nowMs);
      this.#audit.note(organization, webhookNote("webhook.created", { name, mapping }), by, nowMs);
      return webhook(added);
    });
  }

  async changeWebhook(
    organization: number,
    id: number,
    mapping: WebhookMapping,
    by: Actor,
    nowMs: number,
  ): Promise<Webhook | undefined> {
    return inTransaction(this.#db, () => {
      const row = this.#statements.find.get(organization, "webhook", id);
      if (row === null) return undefined;
      const before = webhook(row);
      if (JSON.stringify(before.mapping) === JSON.stringify(mapping)) return before;
      const after = this.#put(organization, "webhook", row.name, mapping, nowMs);
      this.#audit.note(organization, webhookChangedNote(before, mapping), by, nowMs);
      return webhook(after);
    });
  }

  async removeWebhook(organization: number, id: number, by: Actor, nowMs: number): Promise<boolean> {
    return inTransaction(this.#db, () => {
      const row = this.#statements.find.get(organization, "webhook", id);
      if (row === null) return false;
      this.#statements.remove.run(id);
      this.#audit.note(organization, webhookNote("webhook.deleted", webhook(row)), by, nowMs);
      return true;
    });
  }

  async stripe(organization: number): Promise<StripeSettings> {
    return this.#stripe(organization);
  }

  #stripe(organization: number): StripeSettings {
    const row = this.#statements.named.get(organization, "stripe", noName);
    return row === null
      ? { ...stripeInitially, updatedAtMs: null }
      : { ...(JSON.parse(row.settings) as StripeStored), updatedAtMs: row.updated_at_ms };
  }

  async changeStripe(
    organization: number,
    change: StripeSettingsChange,
    by: Actor,
    nowMs: number,
  ): Promise<StripeSettings> {
    return inTransaction(this.#db, () => {
      this.#organizations.refuseUnknown(organization);
      const { updatedAtMs, ...before } = this.#stripe(organization);
      const after: StripeStored = { ...before, ...change };
      const note = stripeChangedNote(before, after);
      if (note === undefined) return { ...before, updatedAtMs };
      this.#put(organization, "stripe", noName, after, nowMs);
      this.#audit.note(organization, note, by, nowMs);
      return { ...after, updatedAtMs: nowMs };
    });
  }

  #put(organization: number, source: Source, name: string, settings: object, nowMs: number): Row {
    const row = this.#statements.put.get(organization, source, name, JSON.stringify(settings), nowMs);
    if (row === null) throw new Error("SQLite returned no row for a source's settings.");
    return row;
  }
}

function webhook({ id, name, settings, created_at_ms, updated_at_ms }: Row): Webhook {
  const mapping = JSON.parse(settings) as WebhookMapping;
  return { id, name, mapping, createdAtMs: created_at_ms, updatedAtMs: updated_at_ms };
}
