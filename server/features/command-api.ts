/**
 * Routes of intake, answered for the command line: all but those that need a session. The command line has
 * the rights of an owner. It comes by the control socket, or asks these handlers itself while no server runs.
 */
import { intakeRoutes } from "../../contract/api/intake-routes.ts";
import { needsSession, type Route } from "../../contract/api/route.ts";
import { callerHeaders } from "../http/api/caller.ts";
import type { Place } from "../http/api/gate.ts";
import type { PlaceParts } from "../http/api/intake-api.ts";
import { checkedBody, checkedQuery, formatOf } from "../http/api/request.ts";
import { notFound, refused } from "../http/port/answers.ts";
import { RouteTable } from "../http/port/route-table.ts";
import { commandLine } from "../ledger/audit.ts";
import { roleRights } from "../members/rights.ts";
import { intakeHandlers } from "./intake-handlers.ts";

/** The services that these routes use. */
export type CommandParts = Omit<PlaceParts, "maxRequestsPerSecond">;

/** What the command line may set the rate of an organization to: it is for whoever runs the installation. */
const maxRequestsPerSecond = 1_000_000;

const routes: readonly (readonly [string, Route])[] = Object.entries(intakeRoutes);
const table = new RouteTable(Object.fromEntries(routes.filter(([, route]) => !needsSession(route))));

type Handler = (context: object) => Promise<{ readonly answer?: unknown }>;

// The context that a route's handler gets is made below from the route's own entry.
const handlers = intakeHandlers as unknown as Readonly<Record<string, Handler>>;

/** The answer to a request of the command line. A header names its organization.
 * @throws Error when the ledger fails */
export function answerCommand(parts: CommandParts, request: Request): Promise<Response> {
  return answerAt({ ...parts, maxRequestsPerSecond }, request, () => placeOf(parts, request));
}

/** The answer to a request whose place is known, and whose caller may ask this route.
 * @throws Error when the ledger fails */
export async function answerAt(
  parts: PlaceParts,
  request: Request,
  placeOf: () => Promise<Place>,
): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const found = table.find(request.method, pathname);
  const handler = handlers[found?.name ?? ""];
  if (found === undefined || handler === undefined) return notFound();
  try {
    const { route, path } = found;
    formatOf(route, searchParams);
    const query = checkedQuery(route.query, table.validator(route.query), searchParams);
    const body =
      route.body && checkedBody(request, await request.bytes(), route.body, table.validator(route.body));
    const place = await placeOf();
    const { answer } = await handler({ ...parts, nowMs: parts.nowMs(), place, path, query, body });
    if (route.status === 204) return new Response(null, { status: 204 });
    return Response.json(answer, { status: route.status });
  } catch (error) {
    const refusal = refused(error);
    if (refusal === undefined) throw error;
    return refusal;
  }
}

async function placeOf({ ledger }: CommandParts, request: Request): Promise<Place> {
  const id = Number(request.headers.get(callerHeaders.organization));
  const organization = await ledger.organizations.find(id);
  if (organization === undefined) throw new Error("a command came without its organization");
  return { organization, role: "owner", rights: roleRights.owner, actor: commandLine };
}
