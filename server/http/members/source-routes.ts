/** The routes of what an organization sets of its sources: how webhooks are read, and what Stripe signs with. Whoever
 * reads figures sees it, but for secrets; changing takes the right to manage. */
import { NoParameters } from "../../../contract/api/api.ts";
import { noSuch, Refusal } from "../../../contract/refusal.ts";
import {
  reservedWebhookNames,
  StripeSettingsAnswer,
  StripeSettingsChangeBody,
  sourceSettingLimits,
  WebhookAnswer,
  WebhookChangeBody,
  WebhookCreateBody,
  WebhooksAnswer,
  WebhookTryAnswer,
  WebhookTryBody,
} from "../../../contract/source-settings.ts";
import type { StripeSettings, Webhook } from "../../ledger/ledger.ts";
import { checkMapping, translateWebhook, triedItem } from "../../sources/sources.ts";
import { idIn } from "./ids.ts";
import { type PeopleRoute, peopleRoute } from "./route.ts";

const query = NoParameters;
const maxTriedItems = 20;

const webhooks: readonly PeopleRoute[] = [
  peopleRoute({
    ...{ method: "GET", path: "/api/webhooks", access: "read", status: 200, query },
    summary: "Webhooks, and how their bodies are read",
    answer: WebhooksAnswer,
    handler: async ({ ledger, place }) => ({
      answer: {
        webhooks: (await ledger.sourceSettings.webhooks(place.organization.id)).map(webhookAnswer),
      },
    }),
  }),
  peopleRoute({
    ...{ method: "POST", path: "/api/webhooks", access: "manage", status: 201, query },
    summary: "Add a webhook; it is sent to /v1/webhooks/NAME/TOKEN",
    body: WebhookCreateBody,
    answer: WebhookAnswer,
    handler: async ({ ledger, place, body, nowMs }) => {
      if (reservedWebhookNames.some((name) => name === body.name)) {
        throw new Refusal(`name is taken: ${body.name} means something else in an address.`);
      }
      checkMapping(body.mapping);
      const { organization, actor } = place;
      return {
        answer: webhookAnswer(await ledger.sourceSettings.addWebhook(organization.id, body, actor, nowMs)),
      };
    },
  }),
  peopleRoute({
    ...{ method: "POST", path: "/api/webhooks/try", access: "manage", status: 200, query },
    summary: "What would come of a body; nothing is stored",
    body: WebhookTryBody,
    maxBodyBytes: sourceSettingLimits.tryBytes,
    answer: WebhookTryAnswer,
    handler: async ({ body, nowMs }) => {
      checkMapping(body.mapping);
      const translated = translateWebhook(body.payload, body.mapping, { receivedAtMs: nowMs });
      if ("invalid" in translated) return { answer: { invalid: translated.invalid, items: [] } };
      return { answer: { invalid: null, items: translated.slice(0, maxTriedItems).map(triedItem) } };
    },
  }),
  peopleRoute({
    ...{ method: "PATCH", path: "/api/webhooks/:id", access: "manage", status: 200, query },
    summary: "Change how a webhook's bodies are read",
    body: WebhookChangeBody,
    answer: WebhookAnswer,
    handler: async ({ ledger, place, path, body, nowMs }) => {
      checkMapping(body.mapping);
      const { organization, actor } = place;
      const id = idIn(path.id, "webhook");
      const after = await ledger.sourceSettings.changeWebhook(
        ...([organization.id, id, body.mapping, actor, nowMs] as const),
      );
      if (after === undefined) throw noSuch("webhook");
      return { answer: webhookAnswer(after) };
    },
  }),
  peopleRoute({
    ...{ method: "DELETE", path: "/api/webhooks/:id", access: "manage", status: 204, query },
    summary: "Delete a webhook; what is sent to it is refused from now on",
    handler: async ({ ledger, place, path, nowMs }) => {
      const { organization, actor } = place;
      const id = idIn(path.id, "webhook");
      const isGone = await ledger.sourceSettings.removeWebhook(organization.id, id, actor, nowMs);
      if (!isGone) throw noSuch("webhook");
      return {};
    },
  }),
];

const stripe: readonly PeopleRoute[] = [
  peopleRoute({
    ...{ method: "GET", path: "/api/stripe", access: "read", status: 200, query },
    summary: "How events of Stripe's are taken; they are sent to /v1/webhooks/stripe/TOKEN",
    answer: StripeSettingsAnswer,
    handler: async ({ ledger, place }) => ({
      answer: stripeAnswer(await ledger.sourceSettings.stripe(place.organization.id)),
    }),
  }),
  peopleRoute({
    ...{ method: "PATCH", path: "/api/stripe", access: "manage", status: 200, query },
    summary: "Change how events of Stripe's are taken",
    body: StripeSettingsChangeBody,
    answer: StripeSettingsAnswer,
    handler: async ({ ledger, place, body, nowMs }) => {
      const { organization, actor } = place;
      return {
        answer: stripeAnswer(await ledger.sourceSettings.changeStripe(organization.id, body, actor, nowMs)),
      };
    },
  }),
];

export const peopleSourceRoutes: readonly PeopleRoute[] = [...webhooks, ...stripe];

function webhookAnswer({ createdAtMs, updatedAtMs, ...webhook }: Webhook) {
  return { ...webhook, createdAt: instant(createdAtMs), updatedAt: instant(updatedAtMs) };
}

function stripeAnswer({ signingSecrets, unknownCustomers, updatedAtMs }: StripeSettings) {
  return {
    signingSecrets: signingSecrets.map((secret) => ({ lastFour: secret.slice(-4) })),
    unknownCustomers,
    updatedAt: updatedAtMs === null ? null : instant(updatedAtMs),
  };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
