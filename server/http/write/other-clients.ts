/** The paths that clients of Jitsu, Dittofeed, OpenPanel and Mixpanel send to. */

import { translateJitsu } from "../../sources/jitsu.ts";
import { type MixpanelCall, mixpanelToken, translateMixpanel } from "../../sources/mixpanel.ts";
import { translateOpenpanel } from "../../sources/openpanel.ts";
import { type SegmentCall, translateSegment } from "../../sources/segment.ts";
import { readPosthogBody } from "./posthog-body.ts";
import { unwrapGzip } from "./source-body.ts";
import type { SourceRoute } from "./source-route.ts";
import { tokenInBody } from "./source-token.ts";

const calls = [
  "identify",
  "track",
  "group",
  "page",
  "screen",
  "alias",
  "batch",
] as const satisfies SegmentCall[];

const ok = () => Response.json({ success: true });

/** Jitsu's paths, of pages and of servers. */
const jitsuRoutes = calls.flatMap((call) =>
  [`/api/s/${call}`, `/api/s/s2s/${call}`].map(
    (path): SourceRoute => ({
      source: "jitsu",
      path,
      senderOf: () => "jitsu",
      unwrap: unwrapGzip,
      tokenIn: tokenInBody,
      translate: (body, delivery) => translateJitsu(body, delivery, call),
      success: ok,
    }),
  ),
);

const dittofeedRoutes = calls.map(
  (call): SourceRoute => ({
    source: "dittofeed",
    path: `/api/public/apps/${call}`,
    senderOf: () => "dittofeed",
    unwrap: unwrapGzip,
    tokenIn: tokenInBody,
    success: ok,
    translate: (body, delivery) => translateSegment(body, delivery, call),
  }),
);

/** OpenPanel's client appends /track to its address, which is the write API's own path. So its address has a
 * path. */
const openpanelRoute: SourceRoute = {
  source: "openpanel",
  path: "/openpanel/track",
  senderOf: () => "openpanel",
  unwrap: unwrapGzip,
  tokenIn: () => undefined,
  translate: (body, delivery) => translateOpenpanel(body, delivery),
  // It keeps what it is told, and sends neither back.
  success: () => Response.json({ deviceId: "", sessionId: "" }),
};

/** Mixpanel's client for servers sends single events by GET, and both clients append /track to their
 * address. */
const mixpanelRoute = (path: string, call: MixpanelCall): SourceRoute => ({
  source: "mixpanel",
  path,
  senderOf: () => "mixpanel",
  unwrap: (request, bytes, maxBytes) => {
    const query = queryOf(request);
    const sent = request.method === "GET" ? Buffer.from(query.get("data") ?? "") : bytes;
    return readPosthogBody(sent, { query, contentType: request.headers.get("content-type") }, maxBytes);
  },
  tokenIn: (body, authorizer) => {
    const token = mixpanelToken(body);
    return token !== undefined && authorizer.canBeSecret(token) ? token : undefined;
  },
  translate: (body, delivery) => translateMixpanel(body, delivery, call),
  success: (_sender, request) =>
    queryOf(request).get("verbose") === "1" ? Response.json({ status: 1, error: null }) : new Response("1"),
});

const mixpanelPaths = {
  "/mixpanel/track": "track",
  "/mixpanel/import": "track",
  "/mixpanel/engage": "engage",
  "/mixpanel/groups": "groups",
} as const;

/** Mixpanel's routes. Its page sends with credentials, and by GET, too. */
export const mixpanelRoutes = Object.entries(mixpanelPaths).map(([path, call]) => mixpanelRoute(path, call));

/** The routes of the other tools. */
export const otherClientRoutes: readonly SourceRoute[] = [...jitsuRoutes, ...dittofeedRoutes, openpanelRoute];

function queryOf({ url }: { readonly url: string }): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start));
}
