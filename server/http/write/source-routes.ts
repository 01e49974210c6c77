/** Every path that the clients of other tools speak, and which of their pages may send from a browser. */
import type { SourceName } from "../../../contract/sources.ts";
import { type SegmentCall, senderOf, translateSegment } from "../../sources/sources.ts";
import type { Handler } from "../port/routes.ts";
import { posthogPaths, posthogRoutes, sharedBatch } from "./posthog-routes.ts";
import { unwrapGzip } from "./source-body.ts";
import { sourceHandler } from "./source-handler.ts";
import type { SourceRoute } from "./source-route.ts";
import { tokenInBody } from "./source-token.ts";
import type { WriteParts } from "./write-steps.ts";

/** Segment's paths, which RudderStack and Customer.io share: of servers, of browsers, and of RudderStack's beacon. */
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
    ...{ source: "segment" as const, path, senderOf, success: segmentSuccess },
    ...{ unwrap: unwrapGzip, tokenIn: tokenInBody },
    translate: (body, delivery) => translateSegment(body, delivery, call),
  })),
);

function segmentSuccess(sender: SourceName): Response {
  return sender === "rudderstack" ? new Response("OK") : Response.json({ success: true });
}

/** The paths by what they are for, for those who describe them. */
export const sourcePaths = { segment: segmentPaths, posthog: posthogPaths } as const;

/** The handlers of connected sources, by method and path. A page of any origin may send, with a token and never with
 * cookies; what it may not do is read, so this is said of no other path. */
export function sourceRoutes(parts: WriteParts): Record<string, Handler> {
  const handlers: Record<string, Handler> = {};
  for (const route of [...segmentRoutes, ...posthogRoutes]) {
    handlers[`POST ${route.path}`] = withOpened(sourceHandler(route, parts));
    handlers[`OPTIONS ${route.path}`] = preflight;
  }
  // Pages of theirs send elsewhere.
  handlers["POST /batch"] = sharedBatch(parts);
  return handlers;
}

function withOpened(handle: Handler): Handler {
  return async (request, connection) => opened(await handle(request, connection));
}

function opened(response: Response): Response {
  response.headers.set("Access-Control-Allow-Origin", "*");
  // Without it the client in the page would not see how long to wait.
  response.headers.set("Access-Control-Expose-Headers", "Retry-After");
  return response;
}

/** What their clients send beside what any page may; others are allowed too, since a header gives no right here. */
const usualHeaders = "Authorization, Content-Type, Content-Encoding, X-Write-Key, X-Retry-Count, AnonymousId";
const maxHeadersCharacters = 500;

function preflight(request: Request): Response {
  const asked = request.headers.get("access-control-request-headers") ?? "";
  const isList = asked.length <= maxHeadersCharacters && /^[\w-]+(\s*,\s*[\w-]+)*$/.test(asked);
  return opened(
    new Response(null, {
      status: 204,
      headers: {
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": isList ? asked : usualHeaders,
        // Two hours are the most that Chromium remembers.
        "Access-Control-Max-Age": "7200",
        Vary: "Access-Control-Request-Headers",
      },
    }),
  );
}
