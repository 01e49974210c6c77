/** The paths of PostHog's clients, and the one that they share with the write API. */
import { isInvalid } from "../../intake/intake.ts";
import { posthogToken, translatePosthog } from "../../sources/sources.ts";
import { payloadTooLarge } from "../port/answers.ts";
import type { Handler } from "../port/routes.ts";
import { readPosthogBody } from "./posthog-body.ts";
import { receiveBytes, senderIn, sourceHandler } from "./source-handler.ts";
import type { SourceRoute } from "./source-route.ts";
import { tokenInHead } from "./source-token.ts";
import { type ReceivedBatch, writeHandler } from "./write.ts";
import type { WriteParts } from "./write-steps.ts";

/** Of servers and of pages, of today and of before. /batch is theirs too, see `sharedBatch`. */
export const posthogPaths = ["/i/v0/e", "/e", "/capture", "/i/v1/analytics/events"] as const;

const posthogRoute = (path: string): SourceRoute => ({
  ...{ source: "posthog", path, senderOf: () => "posthog" },
  unwrap: (request, bytes, maxBytes) => {
    const said = { query: queryOf(request), contentType: request.headers.get("content-type") };
    return readPosthogBody(bytes, said, maxBytes);
  },
  tokenIn: (body, authorizer) => {
    const token = posthogToken(body);
    return token !== undefined && authorizer.canBeSecret(token) ? token : undefined;
  },
  translate: (body, delivery, sent) => translatePosthog(body, delivery, queryOf(sent).get("_")),
  success: (_sender, request) => success(path, request),
  // posthog-node drops what is answered 400, and sends what is answered 413 again in halves.
  tooLarge: payloadTooLarge,
});

/** Clients in pages send again what is not answered 200, but to a beacon nobody listens. */
function success(path: string, request: Request): Response {
  if (queryOf(request).get("beacon") === "1") return new Response(null, { status: 204 });
  // What is not named in the newest answer was taken.
  return Response.json(path.startsWith("/i/v1/") ? { results: {} } : { status: "Ok" });
}

export const posthogRoutes: readonly SourceRoute[] = posthogPaths.map(posthogRoute);

/**
 * POST /batch: PostHog's when the body has an `api_key`, otherwise the write API's. PostHog's clients have no header for a
 * token, so without an Authorization header nothing but an `api_key` can let a request in; with one that lets it in the
 * write API reads the body, and hands over what is theirs.
 */
export function sharedBatch(parts: WriteParts): Handler {
  const route = { ...posthogRoute("/batch"), isShared: true };
  const theirs = sourceHandler(route, parts);
  const ours = writeHandler("batch", parts, (batch) => receiveTheirs(route, parts, batch));
  return (request, connection) =>
    request.headers.get("authorization") === null ? theirs(request, connection) : ours(request, connection);
}

/** Takes a batch that is PostHog's, which the write API has let in already; undefined for its own. */
function receiveTheirs(route: SourceRoute, parts: WriteParts, batch: ReceivedBatch) {
  const { body, request, watched } = batch;
  const secret = tokenInHead(request, parts.authorizer);
  if (secret === undefined || isInvalid(body) || typeof body.value.api_key !== "string") return undefined;
  watched?.from(senderIn(request, { secret, caller: batch.caller }));
  return receiveBytes(route, parts, { ...batch, secret, parsed: body });
}

function queryOf({ url }: { readonly url: string }): URLSearchParams {
  const question = url.indexOf("?");
  return new URLSearchParams(question < 0 ? "" : url.slice(question));
}
