/** Settings of an organization's sources: the mappings of webhooks and Stripe's signing secrets. The right to
 * read shows them without secrets. Changes need the right to manage. */
import { noSuch, Refusal } from "../../../contract/refusal.ts";
import {
  reservedWebhookNames,
  type WebhookChangeBody,
  type WebhookCreateBody,
  type WebhookMapping,
  type WebhookPreset,
} from "../../../contract/source-settings.ts";
import { instant, instantOrNull } from "../../calendar/instant.ts";
import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import { idIn } from "../../http/api/request.ts";
import { triedItem } from "../../sources/tried.ts";
import { checkMapping, translateWebhook } from "../../sources/webhook.ts";
import { translateUnknown } from "../../sources/webhook-presets.ts";
import {
  type StripeSettings,
  verifiedMapping,
  type Webhook,
  type WebhookChange,
  type WebhookSettings,
} from "./store.ts";

const maxTriedItems = 20;

export const sourceSettingsHandlers = {
  "GET /api/webhooks": async ({ ledger, place }) => ({
    answer: {
      webhooks: (await ledger.sourceSettings.webhooks(place.organization.id)).map(webhookAnswer),
    },
  }),

  "POST /api/webhooks": async ({ ledger, place, body, nowMs }) => {
    if (reservedWebhookNames.some((name) => name === body.name)) {
      throw new Refusal(`name is taken: ${body.name} means something else in an address.`);
    }
    const { organization, actor } = place;
    const webhook = { name: body.name, ...settingsIn(body) };
    return {
      answer: webhookAnswer(await ledger.sourceSettings.addWebhook(organization.id, webhook, actor, nowMs)),
    };
  },

  "POST /api/webhooks/try": async ({ body, nowMs }) => {
    const reading = readingIn(body);
    const delivery = { receivedAtMs: nowMs };
    const translated =
      "mapping" in reading
        ? translateWebhook(body.payload, reading.mapping, delivery)
        : translateUnknown(body.payload, reading.preset, delivery);
    if ("invalid" in translated) return { answer: { invalid: translated.invalid, items: [] } };
    return { answer: { invalid: null, items: translated.slice(0, maxTriedItems).map(triedItem) } };
  },

  "PATCH /api/webhooks/:id": async ({ ledger, place, path, body, nowMs }) => {
    const change = changeIn(body);
    const { organization, actor } = place;
    const id = idIn(path.id, "webhook");
    const after = await ledger.sourceSettings.changeWebhook(organization.id, id, change, actor, nowMs);
    if (after === undefined) throw noSuch("webhook");
    return { answer: webhookAnswer(after) };
  },

  "DELETE /api/webhooks/:id": async ({ ledger, place, path, nowMs }) => {
    const { organization, actor } = place;
    const id = idIn(path.id, "webhook");
    const isGone = await ledger.sourceSettings.removeWebhook(organization.id, id, actor, nowMs);
    if (!isGone) throw noSuch("webhook");
    return {};
  },

  "GET /api/stripe": async ({ ledger, place }) => ({
    answer: stripeAnswer(await ledger.sourceSettings.stripe(place.organization.id)),
  }),

  "PATCH /api/stripe": async ({ ledger, place, body, nowMs }) => {
    const { organization, actor } = place;
    return {
      answer: stripeAnswer(await ledger.sourceSettings.changeStripe(organization.id, body, actor, nowMs)),
    };
  },
} satisfies Partial<IntakeHandlers>;

/** The mapping or the preset of a body. @throws Refusal unless it has one of them */
function readingIn({
  mapping,
  preset,
}: {
  readonly mapping?: WebhookMapping;
  readonly preset?: WebhookPreset;
}): { readonly mapping: WebhookMapping } | { readonly preset: WebhookPreset } {
  if (mapping !== undefined && preset !== undefined) {
    throw new Refusal("mapping and preset exclude each other: send one of them.");
  }
  if (preset !== undefined) return { preset };
  if (mapping === undefined) {
    throw new Refusal("mapping is missing: send an object of paths, or the preset of a billing tool.");
  }
  checkMapping(mapping);
  return { mapping };
}

function settingsIn({ secret, signature, testMode, ...body }: WebhookCreateBody): WebhookSettings {
  const reading = readingIn(body);
  if ("mapping" in reading) {
    if (testMode !== undefined) throw new Refusal("testMode belongs to a preset: leave it out of a mapping.");
    return verifiedMapping(reading.mapping, secret, signature);
  }
  if (signature !== undefined)
    throw new Refusal(
      `signature belongs to a mapping: the preset ${reading.preset} knows how its tool signs.`,
    );
  return {
    ...reading,
    ...(secret !== undefined && { secret }),
    ...(testMode !== undefined && { testMode }),
  };
}

function changeIn(change: WebhookChangeBody): WebhookChange {
  if (change.mapping !== undefined) checkMapping(change.mapping);
  return change;
}

function webhookAnswer({ id, name, createdAtMs, updatedAtMs, ...settings }: Webhook) {
  const { mapping, preset, secret, signature } = {
    mapping: null,
    preset: null,
    secret: undefined,
    signature: null,
    ...settings,
  };
  const testMode = "preset" in settings ? (settings.testMode ?? ("ignore" as const)) : null;
  return {
    testMode,
    id,
    name,
    mapping,
    preset,
    secret: secret === undefined ? null : { lastFour: secret.slice(-4) },
    signature: signature ?? null,
    createdAt: instant(createdAtMs),
    updatedAt: instant(updatedAtMs),
  };
}

function stripeAnswer({ signingSecrets, unknownCustomers, testMode, updatedAtMs }: StripeSettings) {
  return {
    signingSecrets: signingSecrets.map((secret) => ({ lastFour: secret.slice(-4) })),
    unknownCustomers,
    testMode,
    updatedAt: instantOrNull(updatedAtMs),
  };
}
