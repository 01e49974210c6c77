/** An organization's settings of its sources: signing secrets, and the mapping of its webhooks. */
import { Refusal } from "../../../contract/refusal.ts";
import {
  sourceSettingLimits,
  type TestMode,
  type WebhookMapping,
  type WebhookPreset,
  type WebhookSignature,
} from "../../../contract/source-settings.ts";
import type { Actor, AuditNote } from "../../ledger/audit.ts";
import { forUpdate } from "../../ledger/dialect.ts";
import type { Engine } from "../../ledger/engine.ts";
import {
  count,
  exists,
  integer,
  Json,
  json,
  part,
  RowOf,
  returningOne,
  run,
  select,
  text,
  type Work,
} from "../../ledger/sql.ts";
import { lockKnownOrganization } from "../../ledger/stores/organization-rows.ts";

/** A billing tool that sends to a webhook. */
export interface PresetSettings {
  readonly preset: WebhookPreset;
  /** In plain text: a signature cannot be checked with a hash of the secret. Without one, requests are not
   * verified. */
  readonly secret?: string;
  /** Left out: `ignore`. */
  readonly testMode?: TestMode;
}

/** A webhook with a mapping. It has both a secret and a signature, or neither: then requests are not
 * verified. */
export interface MappingSettings {
  readonly mapping: WebhookMapping;
  /** In plain text, as a preset's. */
  readonly secret?: string;
  readonly signature?: WebhookSignature;
}

/** How a webhook's bodies are read and verified. */
export type WebhookSettings = MappingSettings | PresetSettings;

export type Webhook = WebhookSettings & {
  readonly id: number;
  /** A part of its address, unique among the organization's webhooks. */
  readonly name: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** A change of the given fields of a webhook. A secret of null stops verifying. */
export interface WebhookChange {
  readonly mapping?: WebhookMapping;
  readonly signature?: WebhookSignature;
  readonly secret?: string | null;
  readonly testMode?: TestMode;
}

export interface StripeSettings {
  /** In plain text: a signature cannot be checked with a hash of the secret. Any of them may be used for a
   * signature. */
  readonly signingSecrets: readonly string[];
  readonly unknownCustomers: "create" | "wait";
  readonly testMode: TestMode;
  /** Null before the first change. */
  readonly updatedAtMs: number | null;
}

export type StripeSettingsChange = Partial<StripeStored>;

/** The stored settings of Stripe. */
export type StripeStored = Omit<StripeSettings, "updatedAtMs">;

/** The initial settings of Stripe. */
const stripeInitially: StripeStored = {
  signingSecrets: [],
  unknownCustomers: "wait",
  testMode: "ignore",
};

/** The settings of a webhook after a change. @throws Refusal for a change of the other kind */
function webhookSettingsAfter(before: WebhookSettings, change: WebhookChange): WebhookSettings {
  if ("mapping" in before) return mappingAfter(before, change);
  const [field] = (["mapping", "signature"] as const).filter((name) => change[name] !== undefined);
  if (field !== undefined)
    throw new Refusal(`${field} cannot be set: this webhook is read by the preset ${before.preset}.`);
  const { secret = before.secret ?? null, testMode = before.testMode } = change;
  return {
    preset: before.preset,
    ...(secret !== null && { secret }),
    ...(testMode !== undefined && { testMode }),
  };
}

function mappingAfter(before: MappingSettings, change: WebhookChange): MappingSettings {
  if (change.testMode !== undefined)
    throw new Refusal("testMode cannot be set: only a webhook with a preset has it. Leave it out.");
  const { mapping = before.mapping, secret = before.secret ?? null } = change;
  const signature = change.signature ?? (change.secret === null ? undefined : before.signature);
  return verifiedMapping(mapping, secret ?? undefined, signature);
}

/** The settings of a mapping. @throws Refusal for a secret without a signature, or the reverse */
export function verifiedMapping(
  mapping: WebhookMapping,
  secret: string | undefined,
  signature: WebhookSignature | undefined,
): MappingSettings {
  if (secret === undefined && signature === undefined) return { mapping };
  if (secret !== undefined && signature !== undefined) return { mapping, secret, signature };
  throw new Refusal(
    secret === undefined
      ? "secret is missing: send the key that the tool signs with."
      : 'signature is missing: send "standard-webhooks", or the header, the algorithm and the encoding that the tool signs with.',
  );
}

/** The entry of a webhook that was added or deleted. */
function webhookNote(
  action: "webhook.created" | "webhook.deleted",
  webhook: WebhookSettings & { readonly name: string },
): AuditNote {
  const { name } = webhook;
  const summary = action === "webhook.created" ? `Added the webhook ${name}` : `Deleted the webhook ${name}`;
  return { action, summary, detail: { name, ...shownSettings(webhook) } };
}

/** The entry of a webhook whose settings were changed. */
function webhookChangedNote(before: Webhook, after: WebhookSettings): AuditNote {
  const { name } = before;
  return {
    action: "webhook.changed",
    summary: `Changed how the webhook ${name} is ${isVerifiedOtherwise(before, after) ? "verified" : "read"}`,
    detail:
      "mapping" in before && "mapping" in after && !isVerifiedOtherwise(before, after)
        ? { name, from: before.mapping, to: after.mapping }
        : { name, from: shownSettings(before), to: shownSettings(after) },
  };
}

function isVerifiedOtherwise(before: WebhookSettings, after: WebhookSettings): boolean {
  const signatures = [before, after].map((one) =>
    "mapping" in one ? JSON.stringify(one.signature) : undefined,
  );
  return before.secret !== after.secret || signatures[0] !== signatures[1];
}

/** Settings with only the last four characters of the secret. */
function shownSettings(settings: WebhookSettings) {
  if ("mapping" in settings) {
    const { mapping, secret, signature } = settings;
    return { mapping, ...(secret !== undefined && { secret: secret.slice(-4), signature }) };
  }
  const { preset, secret, testMode } = settings;
  return { preset, secret: secret?.slice(-4) ?? null, ...(testMode !== undefined && { testMode }) };
}

/** The entry of changed settings of Stripe. Undefined if nothing changed. It has only the last four
 * characters of secrets. */
function stripeChangedNote(before: StripeStored, after: StripeStored): AuditNote | undefined {
  const changed = (["signingSecrets", "unknownCustomers", "testMode"] as const).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  if (changed.length === 0) return undefined;
  return {
    action: "stripe.changed",
    summary: `Changed of Stripe: ${changed.map((key) => stripeWords[key]).join(", ")}`,
    detail: { from: withoutSecrets(before), to: withoutSecrets(after) },
  };
}

const stripeWords = {
  signingSecrets: "signing secrets",
  unknownCustomers: "unknown customers",
  testMode: "test mode",
} as const;

function withoutSecrets({ signingSecrets, unknownCustomers, testMode }: StripeStored) {
  return { signingSecrets: signingSecrets.map((secret) => secret.slice(-4)), unknownCustomers, testMode };
}

/** The error when another webhook of the organization has the name. */
function webhookNameTaken(name: string): Refusal {
  return new Refusal(`name is taken: there is a webhook called ${name} already.`);
}

/** @param webhooks the number of the organization's webhooks
 * @throws Refusal when the limit is reached */
function refuseTooManyWebhooks(webhooks: number): void {
  const { webhooksPerOrganization: most } = sourceSettingLimits;
  if (webhooks < most) return;
  throw new Refusal(`There are ${most} webhooks already: delete one before you add another.`);
}

/** A mapping has no field `preset` and no field `mapping`. Without a secret it is stored as it is, as in
 * releases that had no secret. */
type StoredWebhook = WebhookMapping | MappingSettings | PresetSettings;

type WebhookRow = Pick<Webhook, "id" | "name" | "createdAtMs" | "updatedAtMs"> & {
  readonly settings: StoredWebhook;
};

const webhook = new RowOf<WebhookRow>({
  id: integer(),
  name: text(),
  settings: json(),
  createdAtMs: integer(),
  updatedAtMs: integer(),
});
const stripe = new RowOf<{ readonly settings: StripeStored; readonly updatedAtMs: number }>({
  settings: json(),
  updatedAtMs: integer(),
});

/** Stripe has one row, with an empty name. */
const noName = "";

/** The store of sources' settings. Every change and its entry in the audit log are one commit. No entry has a
 * secret. */
export function sourceSettingsStore(engine: Engine) {
  return { ...webhookStore(engine), ...stripeStore(engine) };
}

export type SourceSettingsStore = ReturnType<typeof sourceSettingsStore>;

function webhookStore(engine: Engine) {
  return {
    /** Sorted by name. */
    webhooks: async (organization: number) => {
      const rows = await engine.alone(
        select(webhook)`FROM source_settings WHERE ${ofWebhooks(organization)} ORDER BY name`,
      );
      return rows.map(webhookOf);
    },

    webhook: async (organization: number, name: string) => {
      const [found] = await engine.alone(
        select(webhook)`FROM source_settings WHERE ${ofWebhooks(organization)} AND name = ${name}`,
      );
      return found && webhookOf(found);
    },

    /** @throws Refusal when another webhook has the name, there are too many, or the organization does not
     * exist. */
    addWebhook: (
      organization: number,
      { name, ...settings }: WebhookSettings & { readonly name: string },
      by: Actor,
      nowMs: number,
    ) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        if (yield* exists`FROM source_settings WHERE ${ofWebhooks(organization)} AND name = ${name}`) {
          throw webhookNameTaken(name);
        }
        refuseTooManyWebhooks(yield* count`FROM source_settings WHERE ${ofWebhooks(organization)}`);
        const added = yield* putWebhook(organization, name, settings, nowMs);
        yield* audit.note(organization, webhookNote("webhook.created", added), by, nowMs);
        return added;
      }),

    /** @returns undefined when the organization has no such webhook.
     * @throws Refusal for fields of a preset in a change of a mapping, or the reverse, and for a secret
     * without its signature. */
    changeWebhook: (organization: number, id: number, change: WebhookChange, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        const before = yield* lockWebhook(organization, id);
        if (before === undefined) return undefined;
        const settings = webhookSettingsAfter(before, change);
        if (JSON.stringify(stored(before)) === JSON.stringify(stored(settings))) return before;
        const after = yield* putWebhook(organization, before.name, settings, nowMs);
        yield* audit.note(organization, webhookChangedNote(before, settings), by, nowMs);
        return after;
      }),

    /** @returns false when the organization has no such webhook. */
    removeWebhook: (organization: number, id: number, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        const before = yield* lockWebhook(organization, id);
        if (before === undefined) return false;
        yield* run`DELETE FROM source_settings WHERE id = ${id}`;
        yield* audit.note(organization, webhookNote("webhook.deleted", before), by, nowMs);
        return true;
      }),
  };
}

function stripeStore(engine: Engine) {
  return {
    stripe: (organization: number) => engine.alone(findStripe(organization)),

    /** Changes the given fields. @throws Refusal when the organization does not exist. */
    changeStripe: (organization: number, change: StripeSettingsChange, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const { updatedAtMs, ...before } = yield* findStripe(organization);
        const after: StripeStored = { ...before, ...change };
        const note = stripeChangedNote(before, after);
        if (note === undefined) return { ...before, updatedAtMs };
        yield* run`${put(organization, "stripe", noName, after, nowMs)}`;
        yield* audit.note(organization, note, by, nowMs);
        return { ...after, updatedAtMs: nowMs };
      }),
  };
}

function ofWebhooks(organization: number) {
  return part`organization = ${organization} AND source = 'webhook'`;
}

/** The organization's webhook with this id, locked until the commit. */
function* lockWebhook(organization: number, id: number): Work<Webhook | undefined> {
  const [found] = yield* select(webhook)`
    FROM source_settings WHERE ${ofWebhooks(organization)} AND id = ${id} ${forUpdate}`;
  return found && webhookOf(found);
}

function* putWebhook(
  organization: number,
  name: string,
  settings: WebhookSettings,
  nowMs: number,
): Work<Webhook> {
  return webhookOf(
    yield* returningOne(webhook)`${put(organization, "webhook", name, stored(settings), nowMs)}`,
  );
}

function stored(settings: WebhookSettings): StoredWebhook {
  if ("mapping" in settings) {
    const { mapping, secret, signature } = settings;
    return secret === undefined || signature === undefined ? mapping : { mapping, secret, signature };
  }
  const { preset, secret, testMode } = settings;
  return {
    preset,
    ...(secret !== undefined && { secret }),
    ...(testMode !== undefined && { testMode }),
  };
}

function webhookOf({ settings, ...row }: WebhookRow): Webhook {
  const isWhole = "preset" in settings || "mapping" in settings;
  return isWhole ? { ...row, ...settings } : { ...row, mapping: settings };
}

function* findStripe(organization: number): Work<StripeSettings> {
  const [row] = yield* select(stripe)`
    FROM source_settings WHERE organization = ${organization} AND source = 'stripe' AND name = ${noName}`;
  return row === undefined
    ? { ...stripeInitially, updatedAtMs: null }
    : Object.assign({}, stripeInitially, row.settings, { updatedAtMs: row.updatedAtMs });
}

function put(
  organization: number,
  source: "stripe" | "webhook",
  name: string,
  settings: object,
  nowMs: number,
) {
  return part`
    INSERT INTO source_settings (organization, source, name, settings, created_at_ms, updated_at_ms)
    VALUES (${organization}, ${source}, ${name}, ${Json.of(settings)}, ${nowMs}, ${nowMs})
    ON CONFLICT (organization, source, name) DO UPDATE
    SET settings = excluded.settings, updated_at_ms = excluded.updated_at_ms`;
}
