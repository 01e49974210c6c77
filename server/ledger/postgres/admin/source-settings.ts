/** Settings of sources as they are stored: a row for each webhook, and one for Stripe once something of it is set. */
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
import type { Queries, Sql, Tx } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import type { PostgresAudit } from "./audit.ts";
import { lockKnownOrganization } from "./organizations.ts";

/** The table of sources' settings, which are JSON. */
export const sourceSettingsTable = `
  CREATE TABLE source_settings (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source text NOT NULL CHECK (source IN ('stripe', 'webhook')),
    name text COLLATE "C" NOT NULL,
    settings text NOT NULL,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    UNIQUE (organization, source, name)
  );
`;

type Source = "stripe" | "webhook";

interface Row {
  readonly id: number;
  readonly name: string;
  readonly settings: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Stripe has one row, whose name says nothing. */
const noName = "";

export class PostgresSourceSettings implements SourceSettingsStore {
  readonly #sql: Sql;
  readonly #audit: PostgresAudit;

  constructor(sql: Sql, audit: PostgresAudit) {
    this.#sql = sql;
    this.#audit = audit;
  }

  async webhooks(organization: number): Promise<readonly Webhook[]> {
    return (await list(this.#sql, organization, "webhook")).map(webhook);
  }

  async webhook(organization: number, name: string): Promise<Webhook | undefined> {
    const row = await named(this.#sql, organization, "webhook", name);
    return row && webhook(row);
  }

  async addWebhook(
    organization: number,
    { name, mapping }: Pick<Webhook, "name" | "mapping">,
    by: Actor,
    nowMs: number,
  ): Promise<Webhook> {
    return inTransaction(this.#sql, async (tx) => {
      await lockKnownOrganization(tx, organization);
      if ((await named(tx, organization, "webhook", name)) !== undefined) throw webhookNameTaken(name);
      refuseTooManyWebhooks((await list(tx, organization, "webhook")).length);
      const added = await put(tx, organization, "webhook", name, mapping, nowMs);
      await this.#audit.note(tx, organization, webhookNote("webhook.created", { name, mapping }), by, nowMs);
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
    return inTransaction(this.#sql, async (tx) => {
      const before = await lockWebhook(tx, organization, id);
      if (before === undefined) return undefined;
      if (JSON.stringify(before.mapping) === JSON.stringify(mapping)) return before;
      const after = await put(tx, organization, "webhook", before.name, mapping, nowMs);
      await this.#audit.note(tx, organization, webhookChangedNote(before, mapping), by, nowMs);
      return webhook(after);
    });
  }

  async removeWebhook(organization: number, id: number, by: Actor, nowMs: number): Promise<boolean> {
    return inTransaction(this.#sql, async (tx) => {
      const before = await lockWebhook(tx, organization, id);
      if (before === undefined) return false;
      await tx`DELETE FROM source_settings WHERE id = ${id}`;
      await this.#audit.note(tx, organization, webhookNote("webhook.deleted", before), by, nowMs);
      return true;
    });
  }

  stripe(organization: number): Promise<StripeSettings> {
    return findStripe(this.#sql, organization);
  }

  async changeStripe(
    organization: number,
    change: StripeSettingsChange,
    by: Actor,
    nowMs: number,
  ): Promise<StripeSettings> {
    return inTransaction(this.#sql, async (tx) => {
      await lockKnownOrganization(tx, organization);
      const { updatedAtMs, ...before } = await findStripe(tx, organization);
      const after: StripeStored = { ...before, ...change };
      const note = stripeChangedNote(before, after);
      if (note === undefined) return { ...before, updatedAtMs };
      await put(tx, organization, "stripe", noName, after, nowMs);
      await this.#audit.note(tx, organization, note, by, nowMs);
      return { ...after, updatedAtMs: nowMs };
    });
  }
}

async function list(queries: Queries, organization: number, source: Source): Promise<readonly Row[]> {
  return queries<Row[]>`
    SELECT ${columns(queries)} FROM source_settings
    WHERE organization = ${organization} AND source = ${source} ORDER BY name`;
}

async function named(
  queries: Queries,
  organization: number,
  source: Source,
  name: string,
): Promise<Row | undefined> {
  const [row] = await queries<Row[]>`
    SELECT ${columns(queries)} FROM source_settings
    WHERE organization = ${organization} AND source = ${source} AND name = ${storable(name)}`;
  return row;
}

/** The organization's webhook with this id, which nobody else changes meanwhile. */
async function lockWebhook(tx: Tx, organization: number, id: number): Promise<Webhook | undefined> {
  const [row] = await tx<Row[]>`
    SELECT ${columns(tx)} FROM source_settings
    WHERE organization = ${organization} AND source = 'webhook' AND id = ${id} FOR UPDATE`;
  return row && webhook(row);
}

async function findStripe(queries: Queries, organization: number): Promise<StripeSettings> {
  const row = await named(queries, organization, "stripe", noName);
  return row === undefined
    ? { ...stripeInitially, updatedAtMs: null }
    : { ...(JSON.parse(row.settings) as StripeStored), updatedAtMs: row.updatedAtMs };
}

async function put(
  tx: Tx,
  organization: number,
  source: Source,
  name: string,
  settings: object,
  nowMs: number,
): Promise<Row> {
  const [row] = await tx<Row[]>`
    INSERT INTO source_settings (organization, source, name, settings, created_at_ms, updated_at_ms)
    VALUES (${organization}, ${source}, ${storable(name)}, ${JSON.stringify(settings)}, ${nowMs}, ${nowMs})
    ON CONFLICT (organization, source, name) DO UPDATE
    SET settings = excluded.settings, updated_at_ms = excluded.updated_at_ms
    RETURNING ${columns(tx)}`;
  if (row === undefined) throw new Error("PostgreSQL returned no row for a source's settings.");
  return row;
}

function columns(queries: Queries) {
  return queries`id, name, settings, created_at_ms AS "createdAtMs", updated_at_ms AS "updatedAtMs"`;
}

function webhook({ name, settings, ...row }: Row): Webhook {
  return { ...row, name: restored(name), mapping: JSON.parse(settings) as WebhookMapping };
}
