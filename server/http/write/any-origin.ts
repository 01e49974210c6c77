/**
 * Lets pages of any origin send. Only paths that write are wrapped: a page sends with a token that everybody
 * can read, without cookies, and reads no more than whether it was taken. No path that answers with data is
 * among them.
 */
import type { Handler } from "../port/handler.ts";

/** A handler whose answers, errors too, a page of any origin may read. */
export function withAnyOrigin(handle: Handler): Handler {
  return async (request, connection) => allowAnyOrigin(await handle(request, connection));
}

/** Lets a page of any origin read the answers to a client that sends with credentials: a browser shows it no
 * answer that is for all origins. The path reads no cookie, so the page of an origin learns nothing by its
 * name. */
export function withItsOrigin(handle: Handler): Handler {
  return async (request, connection) => {
    const response = allowAnyOrigin(await handle(request, connection));
    const origin = request.headers.get("origin");
    if (origin === null) return response;
    response.headers.set("Access-Control-Allow-Origin", origin);
    response.headers.set("Access-Control-Allow-Credentials", "true");
    response.headers.set("Vary", "Origin");
    return response;
  };
}

/** The handler of a path of the write API, whose usual callers are servers: only pages, which send their
 * origin, are told. */
export function withPages(handle: Handler): Handler {
  return async (request, connection) => {
    const response = await handle(request, connection);
    return request.headers.has("origin") ? allowAnyOrigin(response) : response;
  };
}

function allowAnyOrigin(response: Response): Response {
  response.headers.set("Access-Control-Allow-Origin", "*");
  // Without this header the client in the page cannot see how long to wait.
  response.headers.set("Access-Control-Expose-Headers", "Retry-After");
  return response;
}

/** Headers that clients send. Others are allowed too, because a header gives no right here. */
const usualHeaders =
  "Authorization, Content-Type, Content-Encoding, Idempotency-Key, X-Write-Key, X-Retry-Count, AnonymousId";
const maxHeadersCharacters = 500;

/** Answers what a browser asks before it sends. */
export function preflight(request: Request): Response {
  const Allow = "POST, OPTIONS";
  if (!request.headers.has("origin")) return new Response(null, { status: 204, headers: { Allow } });
  const requested = request.headers.get("access-control-request-headers") ?? "";
  const isList = requested.length <= maxHeadersCharacters && /^[\w-]+(\s*,\s*[\w-]+)*$/.test(requested);
  return allowAnyOrigin(
    new Response(null, {
      status: 204,
      headers: {
        Allow,
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": isList ? requested : usualHeaders,
        // Chromium remembers a preflight for two hours at most.
        "Access-Control-Max-Age": "7200",
        Vary: "Access-Control-Request-Headers",
      },
    }),
  );
}
