/** Settings of an organization's sources: the mappings of webhooks and Stripe's signing secrets. The right to read shows them
 * without secrets. Changes need the right to manage. */
import { noSuch, Refusal } from "../../../contract/refusal.ts";
import { reservedWebhookNames } from "../../../contract/source-settings.ts";
import type { StripeSettings, Webhook } from "../../ledger/ledger.ts";
import { checkMapping, translateWebhook, triedItem } from "../../sources/sources.ts";
import { idIn } from "../api/request.ts";
import { instant, instantOrNull } from "../figures/rows.ts";
import type { IntakeHandlers } from "./intake-api.ts";

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
    checkMapping(body.mapping);
    const { organization, actor } = place;
    return {
      answer: webhookAnswer(await ledger.sourceSettings.addWebhook(organization.id, body, actor, nowMs)),
    };
  },

  "POST /api/webhooks/try": async ({ body, nowMs }) => {
    checkMapping(body.mapping);
    const translated = translateWebhook(body.payload, body.mapping, { receivedAtMs: nowMs });
    if ("invalid" in translated) return { answer: { invalid: translated.invalid, items: [] } };
    return { answer: { invalid: null, items: translated.slice(0, maxTriedItems).map(triedItem) } };
  },

  "PATCH /api/webhooks/:id": async ({ ledger, place, path, body, nowMs }) => {
    checkMapping(body.mapping);
    const { organization, actor } = place;
    const id = idIn(path.id, "webhook");
    const after = await ledger.sourceSettings.changeWebhook(organization.id, id, body.mapping, actor, nowMs);
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

function webhookAnswer({ createdAtMs, updatedAtMs, ...webhook }: Webhook) {
  return { ...webhook, createdAt: instant(createdAtMs), updatedAt: instant(updatedAtMs) };
}

function stripeAnswer({ signingSecrets, unknownCustomers, updatedAtMs }: StripeSettings) {
  return {
    signingSecrets: signingSecrets.map((secret) => ({ lastFour: secret.slice(-4) })),
    unknownCustomers,
    updatedAt: instantOrNull(updatedAtMs),
  };
}
