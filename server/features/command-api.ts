/**
 * Routes of intake, answered for the command line: destinations, deliveries, segments, alert rules, alerts,
 * saved views, and the work of team members. The command line has the rights of an owner. It comes by the
 * control socket, or asks these handlers itself while no server runs.
 */

import { ruleRoutes } from "../../contract/alerts/rule-routes.ts";
import type { Route } from "../../contract/api/route.ts";
import { destinationRoutes } from "../../contract/destinations/routes.ts";
import { workRoutes } from "../../contract/notes-and-tasks/routes.ts";
import { viewRoutes } from "../../contract/saved-views/views.ts";
import { segmentRoutes } from "../../contract/segments/routes.ts";
import { callerHeaders } from "../http/api/analysis-api.ts";
import type { Place } from "../http/api/gate.ts";
import type { IntakeParts } from "../http/api/intake-api.ts";
import { checkedBody, checkedQuery } from "../http/api/request.ts";
import { notFound, refused } from "../http/port/answers.ts";
import { RouteTable } from "../http/port/route-table.ts";
import { commandLine } from "../ledger/audit.ts";
import { roleRights } from "../members/rights.ts";
import { alertRuleHandlers } from "./alerts/rule-handlers.ts";
import { destinationHandlers } from "./destinations/handlers.ts";
import { contactHandlers } from "./notes-and-tasks/contacts.ts";
import { noteHandlers, ownerHandlers, taskHandlers } from "./notes-and-tasks/handlers.ts";
import { viewHandlers } from "./saved-views/handlers.ts";
import { segmentHandlers } from "./segments/handlers.ts";

/** The services that these routes use. */
export interface CommandParts
  extends Pick<IntakeParts, "ledger" | "intake" | "analysis" | "address" | "nowMs"> {
  readonly outbox: Pick<IntakeParts["outbox"], "settings" | "sendDue" | "mail">;
}

const routes: Readonly<Record<string, Route>> = {
  ...destinationRoutes,
  ...ruleRoutes,
  ...segmentRoutes,
  ...viewRoutes,
  ...workRoutes,
};
const table = new RouteTable(routes);

type Handler = (context: object) => Promise<{ readonly answer?: unknown }>;

// The context that a route's handler gets is made below from the route's own entry.
const handlers = {
  ...alertRuleHandlers,
  ...contactHandlers,
  ...destinationHandlers,
  ...noteHandlers,
  ...ownerHandlers,
  ...segmentHandlers,
  ...taskHandlers,
  ...viewHandlers,
} as unknown as Readonly<Record<string, Handler>>;

/** The answer to a request of the command line. A header names its organization.
 * @throws Error when the ledger fails */
export async function answerCommand(parts: CommandParts, request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const found = table.find(request.method, pathname);
  const handler = handlers[found?.name ?? ""];
  if (found === undefined || handler === undefined) return notFound();
  try {
    const { route, path } = found;
    const query = checkedQuery(route.query, table.validator(route.query), searchParams);
    const body =
      route.body && checkedBody(request, await request.bytes(), route.body, table.validator(route.body));
    const place = await placeOf(parts, request);
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
