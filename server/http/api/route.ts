/**
 * The JSON API in the analysis process: finds the route, checks the right and the parameters, asks the handler
 * and writes JSON or CSV. Who is calling was settled by intake, which alone can reach this socket: it names the
 * organization, the key and its rights in headers of its own, and passes none of the client's but the body's type.
 */
import type { Static, TSchema } from "typebox";
import type { Validator } from "typebox/compile";
import { errorMessages } from "../../../contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { ApiError, Refusal } from "../../../contract/refusal.ts";
import { Zone } from "../../calendar/calendar.ts";
import type { Actor, Organization, Right, SharedLedger } from "../../ledger/ledger.ts";
import type { Asker, Logger } from "../../process/process.ts";
import { CallFailed, currentVersionOf } from "../../process/process.ts";
import type { Scheduler, ScoringService, SourceWatch } from "../../scoring/scoring.ts";
import type { AnalysisService, Failure, Freshness } from "../../warehouse/warehouse.ts";
import { askedBy, type Warehouse } from "../../warehouse/warehouse.ts";
import { PassiveEventsOfOrganizations } from "../figures/passive-events.ts";
import { analysisStarting, conflict, failure, refused, tooMany, unexpected } from "../port/answers.ts";
import { type Found, RouteTable } from "../port/route-table.ts";
import { parseApiBody } from "./body.ts";
import { csvAnswer } from "./csv.ts";
import { OpenQuestions } from "./open-questions.ts";

export { ApiError };

export const callerHeaders = {
  organization: "rekindle-organization",
  /** Who it is, as JSON in percent-encoding: names are no ASCII. */
  actor: "rekindle-actor",
  rights: "rekindle-rights",
} as const;

/** What handlers ask: the two stores, the long work, and the clock. */
export interface ApiParts {
  readonly warehouse: Warehouse;
  readonly ledger: SharedLedger;
  readonly analysis: Pick<AnalysisService, "erase" | "eraseAccount">;
  readonly scoring: ScoringService;
  readonly sources: Pick<SourceWatch, "statuses" | "silent">;
  readonly nowMs: () => number;
  readonly freshness: (organization: number) => Promise<Freshness>;
  readonly scheduler: Pick<Scheduler, "earlierScores">;
  /** Work that fails for an organization at this moment. */
  readonly failures: (organization: number) => readonly Failure[];
  readonly log: Logger;
}

/** The names after colons in a path's pattern. */
export type PathNames<Path extends string> = Path extends `${infer Start}/${infer Rest}`
  ? PathNames<Start> | PathNames<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : never;

export interface ApiContext<Query extends TSchema, Path extends string, Body extends TSchema = TSchema>
  extends ApiParts {
  readonly organization: Organization;
  /** Who asks: a read key, or a person. */
  readonly actor: Actor;
  readonly zone: Zone;
  readonly passiveEvents: () => Promise<readonly string[]>;
  readonly path: Readonly<Record<PathNames<Path>, string>>;
  readonly query: Static<Query>;
  /** What was sent; undefined for a route that takes no body. */
  readonly body: Static<Body>;
}

export interface ApiRoute<
  Query extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
  Path extends string = string,
  Table extends string = string,
  Body extends TSchema = TSchema,
> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: Path;
  readonly right: Right;
  readonly summary: string;
  /** An object of strings, numbers and booleans; what has a default may be left out. */
  readonly query: Query;
  /** The JSON object that has to be sent. A route without one does not look at what is. */
  readonly body?: Body;
  readonly answer: Answer;
  /** The array of the answer that is its table, which can be had as CSV. */
  readonly table?: Table;
  /** All rows of the table, chunk by chunk, for a CSV that is not only a page. @throws ApiError before the first */
  everything?(context: ApiContext<Query, Path, Body>): Promise<AsyncIterable<readonly JsonObject[]>>;
  /** @throws ApiError when it cannot be answered. */
  handler(context: ApiContext<Query, Path, Body>): Promise<Static<Answer>>;
}

/** Makes an entry of the table of routes, its handler typed by its own schemas. */
export function route<
  Query extends TSchema,
  Answer extends TSchema,
  Path extends string,
  Body extends TSchema = TSchema,
>(entry: ApiRoute<Query, Answer, Path, keyof Static<Answer> & string, Body>): ApiRoute {
  return entry;
}

/** Answers requests by a table of routes. */
export class Api {
  readonly #routes: RouteTable<ApiRoute>;
  readonly #zones = new Map<string, Zone>();
  readonly #open = new OpenQuestions();
  readonly #passive = new PassiveEventsOfOrganizations();

  constructor(routes: readonly ApiRoute[]) {
    this.#routes = new RouteTable(routes);
  }

  /** The answer to a request under /api; `parts` undefined while analysis is starting. */
  async answer(parts: ApiParts | undefined, request: Request): Promise<Response> {
    if (parts === undefined) return analysisStarting();
    const { pathname, searchParams } = new URL(request.url);
    const found = this.#routes.find(request.method, pathname);
    if (found === undefined) return failure("not_found", errorMessages.apiRouteNotFound);
    const { route } = found;
    const rights = request.headers.get(callerHeaders.rights)?.split(" ") ?? [];
    if (!rights.includes(route.right)) {
      return failure("forbidden", noRight(request, route.right));
    }
    const asker = askerOf(request);
    const end = this.#open.begin(asker);
    if (end === undefined) return tooMany(errorMessages.tooManyQuestions, 1);
    try {
      return await this.#handled(parts, found, request, searchParams, end);
    } catch (error) {
      end();
      return this.#failed(error, route, request, parts.log);
    }
  }

  /** @param end is called when the question is over, unless this throws */
  async #handled(
    parts: ApiParts,
    { route, path }: Found<ApiRoute>,
    request: Request,
    sent: URLSearchParams,
    end: () => void,
  ): Promise<Response> {
    const format = formatOf(route, sent);
    const ofTable = format === "csv" ? ["columns"] : [];
    const query = checkedQuery(route.query, this.#routes.validator(route.query), sent, ofTable);
    const body = await this.#body(route, request);
    const organization = await organizationOf(parts.ledger, request);
    const zone = this.#zones.get(organization.timezone) ?? new Zone(organization.timezone);
    this.#zones.set(organization.timezone, zone);
    const actor = actorOf(request);
    const warehouse = askedBy(askerOf(request), parts.warehouse);
    // Asked of the service's own warehouse: the answer is shared with others, who must not fail when this asker leaves.
    const passiveEvents = () => this.#passive.of(parts, organization.id);
    const context = { ...parts, warehouse, passiveEvents, organization, actor, zone, path, query, body };
    if (format === "csv") return csvAnswer(route, context, sent, end);
    const answer = await route.handler(context);
    end();
    return Response.json(answer);
  }

  #failed(error: unknown, route: ApiRoute, request: Request, log: Logger): Response {
    const refusal = error instanceof ApiError ? refused(error) : undefined;
    if (refusal !== undefined) return refusal;
    const version = currentVersionOf(error);
    if (version !== undefined) return conflict(errorMessages.settingsChanged, version);
    // The ledger's own refusals, which are in words for whoever asked.
    const isRefusal = error instanceof Refusal || (error instanceof CallFailed && error.isRefusal);
    if (isRefusal) return failure("validation_error", error.message);
    // Who went away had the query stopped.
    if (!request.signal.aborted) log.error({ err: error, route: route.path }, "a question failed");
    return unexpected();
  }

  async #body({ body: schema }: ApiRoute, request: Request): Promise<Static<TSchema>> {
    if (schema === undefined) return undefined;
    const sent = await parseApiBody(request, schema, this.#routes.validator(schema));
    if ("invalid" in sent) throw new ApiError("validation_error", sent.invalid);
    return sent.body;
  }
}

/** The parameters of a request, as their schema has them. @param others names that are no parameters of the schema
 * @throws ApiError naming the one that is wrong */
export function checkedQuery(
  schema: TSchema,
  validator: Validator,
  sent: URLSearchParams,
  others: readonly string[] = [],
): Static<TSchema> {
  const query = readQuery(schema, sent, others);
  if (validator.Check(query)) return query;
  const [error] = validator.Errors(query);
  const named = error?.instancePath.split("/")[1];
  const extra = Object.keys(query).find((name) => !Object.hasOwn(propertiesOf(schema), name));
  if (extra !== undefined) {
    throw new ApiError("validation_error", `${extra} is no parameter of this path: leave it out.`);
  }
  throw new ApiError("validation_error", `${named ?? "a parameter"} is not valid: ${error?.message}.`);
}

/** Who asks, as intake wrote it down. */
function actorOf(request: Request): Actor {
  return JSON.parse(decodeURIComponent(request.headers.get(callerHeaders.actor) ?? "")) as Actor;
}

/** Whose turn it is that the question takes, until who asked goes away. */
function askerOf(request: Request): Asker {
  const { person, by } = actorOf(request);
  const group = request.headers.get(callerHeaders.organization) ?? "";
  return { group, member: person === null ? by : `person ${person.id}`, signal: request.signal };
}

function noRight(request: Request, right: Right): string {
  const who = actorOf(request).person === null ? "This read key" : "Your role in this organization";
  return `${who} has no right to ${right}.`;
}

function formatOf(route: ApiRoute, sent: URLSearchParams): "json" | "csv" {
  const format = sent.get("format") ?? "json";
  if (format === "json" || (format === "csv" && route.table !== undefined)) return format;
  const formats = route.table === undefined ? "json" : "json or csv";
  throw new ApiError("validation_error", `format is not valid: send ${formats}.`);
}

/** The parameters as the values that their schemas ask for. What is not such a value stays a text, which the
 * schema then refuses. */
function readQuery(
  schema: TSchema,
  sent: URLSearchParams,
  others: readonly string[],
): Record<string, unknown> {
  const properties = propertiesOf(schema);
  // Without a prototype: a parameter may be called __proto__.
  const query: Record<string, unknown> = Object.create(null);
  for (const [name, property] of Object.entries(properties)) {
    if (isJsonObject(property) && "default" in property) query[name] = property.default;
  }
  for (const [name, text] of sent) {
    if (name === "format" || others.includes(name)) continue;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    query[name] = isJsonObject(property) ? parsed(property, text) : text;
  }
  return query;
}

function parsed({ type, enum: listed }: JsonObject, text: string): unknown {
  if (Array.isArray(listed)) return listed.find((value) => String(value) === text) ?? text;
  if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === "array") return jsonOf(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** What a text says as JSON; itself where it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The schemas of an object's properties. */
export function propertiesOf(schema: TSchema): Readonly<Record<string, unknown>> {
  return "properties" in schema && isJsonObject(schema.properties) ? schema.properties : {};
}

async function organizationOf(ledger: SharedLedger, request: Request): Promise<Organization> {
  const id = Number(request.headers.get(callerHeaders.organization));
  const found = await ledger.organizations.find(id);
  if (found === undefined) throw new Error("a request came without its organization");
  return found;
}
