/**
 * The JSON API in the analysis process. Intake, which alone can reach this socket, has authorized the
 * request: headers name the organization, the caller and its rights. Of the client's own headers intake
 * passes the body's type alone.
 */

import type { Static, TSchema } from "typebox";
import type { Route } from "../../../contract/api/route.ts";
import { errorMessages } from "../../../contract/errors.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { Actor } from "../../ledger/audit.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import { begun } from "../../process/begun.ts";
import { currentVersionOf } from "../../process/call.ts";
import { CallFailed } from "../../process/control.ts";
import type { Asker } from "../../process/fair-turns.ts";
import type { Logger } from "../../process/log.ts";
import { askedBy } from "../../warehouse/engine/warehouse.ts";
import { analysisStarting, conflict, failure, refused, tooMany, unexpected } from "../port/answers.ts";
import { type Found, RouteTable } from "../port/route-table.ts";
import { callerHeaders } from "./caller.ts";
import type { AnyContext, ApiParts, Chunks, DocumentAnswer, Handlers } from "./context.ts";
import { csvAnswer, untilEnd } from "./csv.ts";
import { freshnessOf } from "./freshness.ts";
import { OpenQuestions } from "./open-questions.ts";
import { PassiveEventsOfOrganizations } from "./passive-events.ts";
import { checkedBody, checkedQuery, formatOf } from "./request.ts";

/** Answers requests by a table of routes and their handlers. */
export class AnalysisApi {
  readonly #routes: RouteTable;
  readonly #handlers: Handlers<unknown>;
  readonly #wholeTables: Handlers<Chunks>;
  readonly #documents: Handlers<DocumentAnswer>;
  readonly #open = new OpenQuestions();
  readonly #passive = new PassiveEventsOfOrganizations();

  /** @param wholeLists reads all rows for a CSV, where a handler reads one page @param documents answers
   * files */
  constructor(
    routes: Readonly<Record<string, Route>>,
    handlers: Handlers<unknown>,
    {
      wholeLists,
      documents,
    }: { readonly wholeLists: Handlers<Chunks>; readonly documents: Handlers<DocumentAnswer> },
  ) {
    this.#routes = new RouteTable(routes);
    this.#handlers = handlers;
    this.#wholeTables = wholeLists;
    this.#documents = documents;
  }

  /** The answer to a request under /api. @param parts undefined while analysis is starting */
  async answer(parts: ApiParts | undefined, request: Request): Promise<Response> {
    if (parts === undefined) return analysisStarting();
    const { pathname, searchParams } = new URL(request.url);
    const found = this.#routes.find(request.method, pathname);
    if (found === undefined) return failure("not_found", errorMessages.apiRouteNotFound);
    const { access } = found.route;
    if (!rightsOf(request).includes(access)) return failure("forbidden", noRight(request, access));
    const asker = askerOf(request);
    const end = this.#open.begin(asker);
    if (end === undefined) return tooMany(errorMessages.tooManyQuestions, 1);
    try {
      return await this.#handled(parts, found, request, searchParams, end);
    } catch (error) {
      end();
      return failed(error, found.name, request, parts.log);
    }
  }

  /** @param end is called when the question is over, unless this throws */
  async #handled(
    parts: ApiParts,
    { name, route, path }: Found,
    request: Request,
    sent: URLSearchParams,
    end: () => void,
  ): Promise<Response> {
    const format = formatOf(route, sent);
    const ofTable = format === "csv" ? ["columns"] : [];
    const query = checkedQuery(route.query, this.#routes.validator(route.query), sent, ofTable);
    const body = await this.#body(route, request);
    const organization = await organizationOf(parts.ledger, request);
    const zone = zoneOf(organization.timezone);
    const actor = actorOf(request);
    const rights = rightsOf(request);
    const warehouse = askedBy(askerOf(request), parts.warehouse);
    // The service's own warehouse: other requests share the answer, which must not fail when this client
    // leaves.
    const passiveEvents = () => this.#passive.of(parts, organization.id);
    const context = {
      ...parts,
      warehouse,
      passiveEvents,
      organization,
      actor,
      rights,
      zone,
      path,
      query,
      body,
    };
    const document = this.#documents[name];
    if (document !== undefined) return documentAnswer(await document(context), end);
    const handler = this.#handlers[name];
    if (handler === undefined) throw new Error(`${name} has no handler`);
    if (format === "csv") {
      return csvAnswer({ name, route, handler, wholeTable: this.#wholeTables[name] }, context, sent, end);
    }
    const answer = route.isFigure ? await withFreshness(context, handler) : await handler(context);
    end();
    return Response.json(answer, { status: route.status });
  }

  async #body({ body: schema }: Route, request: Request): Promise<Static<TSchema>> {
    if (schema === undefined) return undefined;
    return checkedBody(request, await request.bytes(), schema, this.#routes.validator(schema));
  }
}

/** A file. Its first bytes are read before this returns, so that an error has its own status. */
async function documentAnswer(
  { fileName, contentType, chunks }: DocumentAnswer,
  end: () => void,
): Promise<Response> {
  return new Response(untilEnd(await begun(chunks), end), {
    headers: { "Content-Type": contentType, "Content-Disposition": `attachment; filename="${fileName}"` },
  });
}

/** A figure and its freshness. The freshness is asked first: rows that are loaded meanwhile may be in the
 * figure, and the freshness is still true. */
async function withFreshness(
  context: AnyContext,
  handler: (context: AnyContext) => Promise<unknown>,
): Promise<object> {
  const freshness = await freshnessOf(context);
  return { ...((await handler(context)) as object), freshness };
}

function failed(error: unknown, route: string, request: Request, log: Logger): Response {
  const version = currentVersionOf(error);
  if (version !== undefined) return conflict(errorMessages.settingsChanged, version);
  const refusal = refused(error);
  if (refusal !== undefined) return refusal;
  // A refusal by intake's ledger.
  if (error instanceof CallFailed && error.isRefusal) return failure("validation_error", error.message);
  // The query of a client that disconnects is stopped.
  if (!request.signal.aborted) log.error({ err: error, route }, "a question failed");
  return unexpected();
}

function rightsOf(request: Request): readonly string[] {
  return request.headers.get(callerHeaders.rights)?.split(" ") ?? [];
}

/** The caller, as intake wrote it down. */
function actorOf(request: Request): Actor {
  return JSON.parse(decodeURIComponent(request.headers.get(callerHeaders.actor) ?? "")) as Actor;
}

/** The asker whose turn at the engine a question takes, until the client leaves. */
function askerOf(request: Request): Asker {
  const { person, by } = actorOf(request);
  const group = request.headers.get(callerHeaders.organization) ?? "";
  return { group, member: person === null ? by : `person ${person.id}`, signal: request.signal };
}

function noRight(request: Request, right: string): string {
  const caller = actorOf(request).person === null ? "This read key" : "Your role in this organization";
  return `${caller} has no right to ${right}.`;
}

async function organizationOf(ledger: SharedLedger, request: Request): Promise<Organization> {
  const id = Number(request.headers.get(callerHeaders.organization));
  const found = await ledger.organizations.find(id);
  if (found === undefined) throw new Error("a request came without its organization");
  return found;
}
