/** The paths that clients of other tools send to: Segment's, PostHog's and webhooks. */
import { isInvalid } from "../../intake/admission/json.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { findPerson } from "../../sources/billing/person.ts";
import { stripeScheme, whyNotSigned } from "../../sources/billing/signature.ts";
import { translatePosthog, withPosthogVisitors } from "../../sources/posthog.ts";
import { posthogToken } from "../../sources/posthog-envelope.ts";
import { type SegmentCall, senderOf, translateSegment } from "../../sources/segment.ts";
import { stripePerson, translateStripe } from "../../sources/stripe/stripe.ts";
import { ofWebhook, translateWebhook } from "../../sources/webhook.ts";
import { translatePreset } from "../../sources/webhook-presets.ts";
import { whyNotVerified } from "../../sources/webhook-verify.ts";
import { notFound, payloadTooLarge } from "../port/answers.ts";
import type { Handler } from "../port/handler.ts";
import { preflight, withAnyOrigin, withItsOrigin, withPages } from "./any-origin.ts";
import { mixpanelRoutes, otherClientRoutes } from "./other-clients.ts";
import { readPosthogBody } from "./posthog-body.ts";
import { unwrapGzip } from "./source-body.ts";
import { receiveBytes, senderIn, sourceHandler } from "./source-handler.ts";
import type { SourceRoute } from "./source-route.ts";
import { tokenInBody, tokenInHead, webhookAddress, webhookPrefix } from "./source-token.ts";
import { type ReceivedBatch, type WriteParts, writeHandler } from "./write.ts";

/** Segment's paths, which RudderStack and Customer.io share: of servers, of browsers, and of RudderStack's
 * beacon. */
const segmentPaths: Readonly<Record<SegmentCall, readonly string[]>> = {
  identify: ["/v1/identify", "/v1/i"],
  track: ["/v1/track", "/v1/t"],
  group: ["/v1/group", "/v1/g"],
  page: ["/v1/page", "/v1/p"],
  screen: ["/v1/screen", "/v1/s"],
  alias: ["/v1/alias", "/v1/a"],
  batch: ["/v1/batch", "/v1/b", "/beacon/v1/batch"],
};

const calls = Object.keys(segmentPaths) as SegmentCall[];

const segmentRoutes: readonly SourceRoute[] = calls.flatMap((call) =>
  segmentPaths[call].map((path) => ({
    source: "segment" as const,
    path,
    senderOf,
    unwrap: unwrapGzip,
    tokenIn: tokenInBody,
    translate: (body, delivery) => translateSegment(body, delivery, call),
    success: (sender) => (sender === "rudderstack" ? new Response("OK") : Response.json({ success: true })),
  })),
);

/** PostHog's paths: of servers and of pages, of current and of older clients. /batch is theirs too, see
 * `sharedBatch`. */
const posthogPaths = ["/i/v0/e", "/e", "/capture", "/i/v1/analytics/events"] as const;

const posthogRoute = (path: string): SourceRoute => ({
  source: "posthog",
  path,
  senderOf: () => "posthog",
  unwrap: (request, bytes, maxBytes) => {
    const about = { query: queryOf(request), contentType: request.headers.get("content-type") };
    return readPosthogBody(bytes, about, maxBytes);
  },
  tokenIn: (body, authorizer) => {
    const token = posthogToken(body);
    return token !== undefined && authorizer.canBeSecret(token) ? token : undefined;
  },
  translate: (body, delivery, sent) => translatePosthog(body, delivery, queryOf(sent).get("_")),
  withVisitors: withPosthogVisitors,
  success: (_sender, request) => posthogSuccess(path, request),
  // posthog-node drops a body that is answered 400, and sends one that is answered 413 again in halves.
  tooLarge: payloadTooLarge,
});

/** Clients in pages send again unless they get 200. A beacon's answer is not read. */
function posthogSuccess(path: string, request: Request): Response {
  if (queryOf(request).get("beacon") === "1") return new Response(null, { status: 204 });
  // The newest clients take every event as stored that the answer does not name.
  return Response.json(path.startsWith("/i/v1/") ? { results: {} } : { status: "Ok" });
}

/**
 * POST /batch belongs to PostHog when the body has an `api_key`, otherwise to the write API. PostHog's
 * clients send no Authorization header. Without this header only an `api_key` authorizes. With it the write
 * API reads the body, and passes a batch of PostHog on.
 */
function sharedBatch(parts: WriteParts): Handler {
  const route = { ...posthogRoute("/batch"), isShared: true };
  const ofPosthog = sourceHandler(route, parts);
  const ofWriteApi = writeHandler("batch", parts, (batch) => receivePosthogBatch(route, parts, batch));
  return (request, connection) =>
    request.headers.get("authorization") === null
      ? ofPosthog(request, connection)
      : ofWriteApi(request, connection);
}

/** Takes a batch of PostHog after authorization by the write API; undefined for a batch of the write API. */
function receivePosthogBatch(route: SourceRoute, parts: WriteParts, batch: ReceivedBatch) {
  const { body, request, watched } = batch;
  const secret = tokenInHead(request, parts.authorizer);
  if (secret === undefined || isInvalid(body) || typeof body.value.api_key !== "string") return undefined;
  watched?.from(senderIn(request, { secret, caller: batch.caller }));
  return receiveBytes({ ...parts, route }, { ...batch, secret, parsed: body });
}

function queryOf({ url }: { readonly url: string }): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start));
}

/** The handler of `POST /v1/webhooks/stripe/TOKEN` and of `/v1/webhooks/NAME/TOKEN`, a webhook that an
 * organization has set up. Their senders set no header, or one of their own, so the token is the end of the
 * address. No log has it. */
function webhookHandler(parts: WriteParts): Handler {
  const stripe = sourceHandler(stripeRoute(parts.ledger), parts);
  const other = sourceHandler(webhookRoute(parts.ledger), parts);
  return (request, connection) => {
    const address = webhookAddress(request.url);
    if (address === undefined) return notFound();
    return address.name === "stripe" ? stripe(request, connection) : other(request, connection);
  };
}

type WebhookLedger = Pick<Ledger, "sourceSettings" | "identities" | "findUser">;

function stripeRoute(ledger: WebhookLedger): SourceRoute {
  return {
    source: "stripe",
    path: `${webhookPrefix}stripe`,
    unwrap: unwrapGzip,
    senderOf: () => "stripe",
    success: () => Response.json({ received: true }),
    translate: async (body, delivery, { organization, headers, bytes }) => {
      const { signingSecrets, unknownCustomers, testMode } = await ledger.sourceSettings.stripe(organization);
      if (signingSecrets.length > 0) {
        const why = whyNotSigned(stripeScheme, headers, bytes, signingSecrets, delivery.receivedAtMs);
        if (why !== undefined) return { invalid: why };
      }
      const known = await findPerson(ledger, organization, stripePerson(body));
      return translateStripe(body, delivery, known, unknownCustomers, testMode);
    },
  };
}

function webhookRoute(ledger: WebhookLedger): SourceRoute {
  return {
    source: "webhook",
    path: `${webhookPrefix}NAME`,
    unwrap: unwrapGzip,
    senderOf: () => "webhook",
    success: () => Response.json({ success: true }),
    translate: async (body, delivery, { organization, url, headers, bytes }) => {
      const name = webhookAddress(url)?.name ?? "";
      const webhook = await ledger.sourceSettings.webhook(organization, name);
      if (webhook === undefined) {
        return { invalid: `There is no webhook called ${name}: add it among the sources.` };
      }
      const why = whyNotVerified(webhook, { headers, bytes }, delivery.receivedAtMs);
      if (why !== undefined) return { invalid: why };
      const text = () => new TextDecoder().decode(bytes);
      const items =
        "preset" in webhook
          ? await translatePreset(
              ledger,
              organization,
              { preset: webhook.preset, body, testMode: webhook.testMode },
              delivery,
            )
          : translateWebhook(body, webhook.mapping, delivery, text);
      return "invalid" in items ? items : items.map((item) => ofWebhook(name, item));
    },
  };
}

/** The paths by purpose, for the OpenAPI document. */
export const sourcePaths = {
  segment: segmentPaths,
  posthog: posthogPaths,
  others: [...otherClientRoutes, ...mixpanelRoutes].map(({ source, path }) => ({ source, path })),
} as const;

/** The handlers of connected sources, by method and path. A page of any origin may send to all of them but
 * webhooks. */
export function sourceRoutes(parts: WriteParts): Record<string, Handler> {
  const handlers: Record<string, Handler> = {};
  for (const route of [...segmentRoutes, ...posthogPaths.map(posthogRoute), ...otherClientRoutes]) {
    handlers[`POST ${route.path}`] = withAnyOrigin(sourceHandler(route, parts));
    handlers[`OPTIONS ${route.path}`] = preflight;
  }
  for (const route of mixpanelRoutes) {
    const handle = withItsOrigin(sourceHandler(route, parts));
    for (const method of ["GET", "POST"]) handlers[`${method} ${route.path}`] = handle;
    handlers[`OPTIONS ${route.path}`] = withItsOrigin(preflight);
  }
  handlers["POST /batch"] = withPages(sharedBatch(parts));
  handlers["OPTIONS /batch"] = preflight;
  handlers[`POST ${webhookPrefix}*`] = webhookHandler(parts);
  return handlers;
}
