/** The paths of PostHog's clients, and the one that they share with the write API. */
import { isInvalid, parseObject } from "../intake/json.ts";
import { posthogToken, translatePosthog } from "../sources/sources.ts";
import { payloadTooLarge } from "./answers.ts";
import { readBody } from "./body.ts";
import { readPosthogBody } from "./posthog-body.ts";
import { receive, type SourceRoute, sourceHandler } from "./source-handler.ts";
import { writeHandler } from "./write.ts";
import type { WriteParts } from "./write-steps.ts";

type Handler = (request: Request) => Promise<Response>;

/** Of servers and of pages, of today and of before. /batch is theirs too, see `sharedBatch`. */
export const posthogPaths = ["/i/v0/e", "/e", "/capture", "/i/v1/analytics/events"] as const;

const posthogRoute = (path: string): SourceRoute => ({
  ...{ source: "posthog", path, senderOf: () => "posthog" },
  readBytes: async (request, maxBytes) => {
    const bytes = await readBody(request, maxBytes);
    if (isInvalid(bytes)) return bytes;
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
  const route = posthogRoute("/batch");
  const theirs = sourceHandler(route, parts);
  const ours = writeHandler("batch", parts, (request, body, watched) =>
    hasApiKey(body) ? receive(route, parts, withBody(request, body), watched) : undefined,
  );
  return (request) => (request.headers.get("authorization") === null ? theirs(request) : ours(request));
}

/** Whether a body is a JSON object with an `api_key`. The name is looked for first: to parse each batch twice would cost
 * as much again. */
function hasApiKey(body: Uint8Array): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!bytes.includes('"api_key"')) return false;
  const parsed = parseObject(body);
  return !isInvalid(parsed) && typeof parsed.value.api_key === "string";
}

/** The request with its body as it was before Content-Encoding. */
function withBody(request: Request, body: Uint8Array): Request {
  const headers = new Headers(request.headers);
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  return new Request(request.url, { method: "POST", headers, body });
}

function queryOf({ url }: { readonly url: string }): URLSearchParams {
  const question = url.indexOf("?");
  return new URLSearchParams(question < 0 ? "" : url.slice(question));
}
