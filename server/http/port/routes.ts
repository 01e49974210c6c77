/** Every route of the public port, on one screen. */

import { errorMessages } from "../../../contract/errors.ts";
import { isPageAddress, pageAddresses } from "../../../contract/pages.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { DashboardPages } from "../api/dashboard-pages.ts";
import { preflight, withPages } from "../write/any-origin.ts";
import { posthogScriptPrefixes, posthogStartRoutes } from "../write/posthog-start.ts";
import { sourceRoutes } from "../write/source-routes.ts";
import { webhookPrefix } from "../write/source-token.ts";
import { type WriteParts, writeHandler } from "../write/write.ts";
import { failure, notFound } from "./answers.ts";
import type { Handler } from "./handler.ts";
import { mayReadMetrics } from "./metrics-access.ts";
import { hintOfOtherTool } from "./other-tools.ts";
import { hasTwoHosts, type PageHost } from "./page-host.ts";

/** Contents of the routes beside the write API. */
export interface Pages {
  /** The names by which the pages are reached. */
  readonly host: PageHost;
  /** Routes of features beside the write API and the JSON API. */
  readonly ofFeatures: Record<string, Handler>;
  /** The path of PUBLIC_URL: empty or `/rekindle`. */
  readonly basePath: string;
  /** JSON. */
  readonly openapi: () => string;
  readonly reference: () => string;
  /** Markdown for coding assistants. */
  readonly llms: () => string;
  /** Whether figures can be asked for, and if not, why not. */
  readonly readiness: () => Promise<{ readonly ready: boolean; readonly detail: object }>;
  readonly metrics: () => Promise<string>;
  /** METRICS_TOKEN; null where none is set. */
  readonly metricsToken: string | null;
}

/** The handlers by method and path. */
export function routes(parts: WriteParts, pages: Pages): Record<string, Handler> {
  /** Without access every method is answered as for a path that does not exist. */
  const metrics =
    (answer: () => Response | Promise<Response>): Handler =>
    (request, connection) =>
      mayReadMetrics(request, connection, pages.metricsToken) ? answer() : notFound();
  return {
    "POST /identify": withPages(writeHandler("identify", parts)),
    "OPTIONS /identify": preflight,
    "POST /track": withPages(writeHandler("track", parts)),
    "OPTIONS /track": preflight,
    // POST /batch is one of them: the write API and PostHog's clients share it.
    ...sourceRoutes(parts),
    ...posthogStartRoutes(),
    ...pages.ofFeatures,

    "GET /": pages.host.page(
      () => new Response(null, { status: 302, headers: { Location: `${pages.basePath}/reference` } }),
    ),
    "GET /openapi.json": () =>
      new Response(pages.openapi(), { headers: { "Content-Type": "application/json;charset=utf-8" } }),
    "GET /reference": pages.host.page(() => page(pages.reference())),
    "GET /llms.txt": () =>
      new Response(pages.llms(), { headers: { "Content-Type": "text/plain; charset=utf-8" } }),

    // Said, because Bun adds a type of its own to GET and not to HEAD.
    "GET /healthz": () => new Response("ok\n", { headers: { "Content-Type": "text/plain; charset=utf-8" } }),
    "GET /readyz": async () => {
      const { ready, detail } = await pages.readiness();
      return Response.json(detail, { status: ready ? 200 : 503 });
    },
    "GET /metrics": metrics(
      async () =>
        new Response(await pages.metrics(), { headers: { "Content-Type": "text/plain; version=0.0.4" } }),
    ),
    "OPTIONS /metrics": metrics(
      () => new Response(null, { status: 204, headers: { Allow: "GET, HEAD, OPTIONS" } }),
    ),
  };
}

function page(html: string): Response {
  return new Response(html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy":
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      "X-Content-Type-Options": "nosniff",
    },
  });
}

/** Finds the route of a request by its path without query and trailing slash. With a base path, a request is
 * answered with it and without it, because some proxies take it away. All addresses of pages get one
 * document. Its router shows the page. Paths of connected sources may have extra slashes, because clients
 * append a path to an address that ends with one. A redirect would lose the body.
 * @throws Refusal when paths below the base path could be meant as paths of the service itself */
export function dispatch(
  table: Record<string, Handler>,
  api: Handler,
  { basePath, dashboard }: { readonly basePath: string; readonly dashboard: DashboardPages | undefined },
): Handler {
  const handlers = withHeadAndOptions({
    ...table,
    ...dashboard?.files,
    ...(dashboard && { "GET /": dashboard.document }),
  });
  refuseOwnPath(basePath, handlers);
  return (request, connection) => {
    if (hasTwoHosts(request)) return failure("validation_error", errorMessages.twoHosts);
    if (basePath !== "") takeAway(basePath, request);
    const path = pathOf(request.url);
    const handler =
      handlers.get(`${request.method} ${path}`) ?? handlers.get(`${request.method} ${wildcard(path)}`);
    if (handler !== undefined) return handler(request, connection);
    const hint = hintOfOtherTool(path);
    if (hint !== undefined) return notFound(hint);
    if (path.startsWith("/api/")) return api(request, connection);
    const isRead = request.method === "GET" || request.method === "HEAD";
    const tidied = isRead ? undefined : handlers.get(`${request.method} ${sourcePath(path)}`);
    if (tidied !== undefined) return tidied(request, connection);
    if (!isRead || dashboard === undefined) return notFound();
    if (isPageAddress(path)) return dashboard.document(request);
    return path.startsWith("/o/") ? dashboard.missing(request) : notFound();
  };
}

/** Whether a proxy takes the base path away is seen by the path alone, so that none of ours may begin
 * alike. */
function refuseOwnPath(basePath: string, handlers: ReadonlyMap<string, Handler>): void {
  const first = (path: string) => path.split("/", 2)[1];
  const routePaths = [...handlers.keys()].map((route) => route.slice(route.indexOf(" ") + 1));
  const own = new Set([...routePaths, ...pageAddresses, "/api"].map(first));
  own.delete("");
  if (!own.has(first(basePath))) return;
  throw new Refusal(
    `PUBLIC_URL has the path ${basePath}, and paths of the service itself begin with /${first(basePath)}: choose another one.`,
  );
}

/** Takes the base path out of a request's address. The handlers read the address, and know the connection by
 * this very object, so that a copy would not do. */
function takeAway(basePath: string, request: Request): void {
  const { url } = request;
  const start = startOfPath(url);
  const end = start + basePath.length;
  if (start < 0 || !url.startsWith(basePath, start) || !["/", "?", ""].includes(url.charAt(end))) return;
  const rest = url.slice(end);
  const value = url.slice(0, start) + (rest.startsWith("/") ? rest : `/${rest}`);
  Object.defineProperty(request, "url", { value });
}

/** HEAD is answered as GET is, and Bun leaves the body out; OPTIONS names the methods of a path. */
function withHeadAndOptions(table: Record<string, Handler>): Map<string, Handler> {
  const methods = Map.groupBy(Object.keys(table), (route) => route.slice(route.indexOf(" ") + 1));
  const handlers = new Map(Object.entries(table));
  for (const [path, own] of methods) {
    const get = table[`GET ${path}`];
    if (get !== undefined) handlers.set(`HEAD ${path}`, get);
    const names = own.map((route) => route.slice(0, route.indexOf(" ")));
    const Allow = [...names, ...(get === undefined ? [] : ["HEAD"]), "OPTIONS"].join(", ");
    if (handlers.has(`OPTIONS ${path}`)) continue;
    handlers.set(`OPTIONS ${path}`, () => new Response(null, { status: 204, headers: { Allow } }));
  }
  return handlers;
}

/** Our own clients know their paths. */
const exactPaths: ReadonlySet<string> = new Set(["/identify", "/track", "/arm"]);

/** A source's path without extra slashes. */
function sourcePath(path: string): string {
  const tidied = path.replace(/\/{2,}/g, "/").replace(/\/$/, "");
  return exactPaths.has(tidied) ? path : wildcard(tidied);
}

/** Prefixes of paths that contain names and tokens. All paths below one share a route. */
const wildcardPrefixes = [webhookPrefix, ...posthogScriptPrefixes];

function wildcard(path: string): string {
  const prefix = wildcardPrefixes.find((one) => path.startsWith(one));
  return prefix === undefined ? path : `${prefix}*`;
}

/** The path of a URL; `new URL` would cost 1 µs of every request. With a Host header that is none, Bun gives
 * the path alone. */
function pathOf(url: string): string {
  const start = startOfPath(url);
  if (start < 0) return "/";
  const query = url.indexOf("?", start);
  const end = query < 0 ? url.length : query;
  return end - start > 1 && url[end - 1] === "/" ? url.slice(start, end - 1) : url.slice(start, end);
}

/** Below 0 without a path. */
function startOfPath(url: string): number {
  return url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
}
