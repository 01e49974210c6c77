/** Stores settings of sources: a row for each webhook, and one for Stripe after its first change. */
import type { WebhookMapping } from "../../../contract/source-settings.ts";
import {
  type MappingSettings,
  type PresetSettings,
  refuseTooManyWebhooks,
  type SourceSettingsStore,
  type StripeSettings,
  type StripeStored,
  stripeChangedNote,
  stripeInitially,
  type Webhook,
  type WebhookSettings,
  webhookChangedNote,
  webhookNameTaken,
  webhookNote,
  webhookSettingsAfter,
} from "../ports/source-settings.ts";
import { forUpdate } from "./engine/dialect.ts";
import type { Engine } from "./engine/engine.ts";
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
} from "./engine/sql.ts";
import { lockKnownOrganization } from "./organization-rows.ts";

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

/** The store of sources' settings. */
export function sourceSettingsStore(engine: Engine): SourceSettingsStore {
  return { ...webhookStore(engine), ...stripeStore(engine) };
}

function webhookStore(engine: Engine): Omit<SourceSettingsStore, "stripe" | "changeStripe"> {
  return {
    webhooks: async (organization) => {
      const rows = await engine.alone(
        select(webhook)`FROM source_settings WHERE ${ofWebhooks(organization)} ORDER BY name`,
      );
      return rows.map(webhookOf);
    },

    webhook: async (organization, name) => {
      const [found] = await engine.alone(
        select(webhook)`FROM source_settings WHERE ${ofWebhooks(organization)} AND name = ${name}`,
      );
      return found && webhookOf(found);
    },

    addWebhook: (organization, { name, ...settings }, by, nowMs) =>
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

    changeWebhook: (organization, id, change, by, nowMs) =>
      engine.transaction(function* (audit) {
        const before = yield* lockWebhook(organization, id);
        if (before === undefined) return undefined;
        const settings = webhookSettingsAfter(before, change);
        if (JSON.stringify(stored(before)) === JSON.stringify(stored(settings))) return before;
        const after = yield* putWebhook(organization, before.name, settings, nowMs);
        yield* audit.note(organization, webhookChangedNote(before, settings), by, nowMs);
        return after;
      }),

    removeWebhook: (organization, id, by, nowMs) =>
      engine.transaction(function* (audit) {
        const before = yield* lockWebhook(organization, id);
        if (before === undefined) return false;
        yield* run`DELETE FROM source_settings WHERE id = ${id}`;
        yield* audit.note(organization, webhookNote("webhook.deleted", before), by, nowMs);
        return true;
      }),
  };
}

function stripeStore(engine: Engine): Pick<SourceSettingsStore, "stripe" | "changeStripe"> {
  return {
    stripe: (organization) => engine.alone(findStripe(organization)),

    changeStripe: (organization, change, by, nowMs) =>
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
