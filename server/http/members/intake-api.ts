/**
 * The JSON API in the intake process: routes about people, their organizations and settings. They change the ledger and work
 * while analysis is away, except the default exemption of a hold-out and the tasks of a segment. Checks run in the order of their cost: body, session, origin, organization, right, parameters, schema.
 */
import type { Static, TSchema } from "typebox";
import type { Access, PathNames, Route } from "../../../contract/api/route.ts";
import type {
  IntakeRouteName,
  RouteAnswer,
  RouteBody,
  RouteQuery,
  Routes,
} from "../../../contract/api/routes.ts";
import { organizationParameter } from "../../../contract/members.ts";
import { ApiError, notSignedIn } from "../../../contract/refusal.ts";
import type { Outbox } from "../../actions/actions.ts";
import { type Intake, isInvalid, type LiveView } from "../../intake/intake.ts";
import type { Entered, From, OrganizationParts, SignedIn, SignIn } from "../../members/members.ts";
import type { Peer } from "../../process/process.ts";
import type { Logger } from "../../telemetry/telemetry.ts";
import { checkedBody, checkedQuery, readApiBody } from "../api/request.ts";
import { failure, refused, unexpected } from "../port/answers.ts";
import type { BodyBudget } from "../port/body-budget.ts";
import type { Connection } from "../port/handler.ts";
import { type Found, RouteTable } from "../port/route-table.ts";
import type { PeopleGate, Place } from "./gate.ts";
import { type SentCookie, setDevice, setSession } from "./session-cookie.ts";

/** Far more than nearly all of these bodies need. */
const defaultBodyBytes = 16 * 1024;

export interface IntakeParts extends OrganizationParts {
  /** Whether pages load pictures from other hosts. */
  readonly remoteImages: boolean;
  readonly gate: PeopleGate;
  readonly signIn: SignIn;
  readonly live: LiveView;
  /** Sends messages to destinations. */
  readonly outbox: Outbox;
  /** Computes the default exemption of a hold-out, and evaluates segments. */
  readonly analysis: Peer;
  /** Stores events. */
  readonly intake: Pick<Intake, "track" | "closedFor">;
  readonly bodies: BodyBudget;
  /** The public address of the service. */
  readonly address: () => string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** The services, and the person of the request. @typeParam Of the access that the route needs */
interface PersonContext<Of extends Access> extends Omit<IntakeParts, "nowMs"> {
  readonly nowMs: number;
  readonly from: From;
  readonly signedIn: Of extends "anybody" ? SignedIn | undefined : SignedIn;
  readonly place: Of extends "anybody" | "session" ? undefined : Place;
  /** The place that the session has now; undefined once it has lost the right to this route. */
  readonly placeNow: () => Promise<Place | undefined>;
}

interface IntakeContext<Name extends IntakeRouteName> extends PersonContext<Routes[Name]["access"]> {
  readonly path: Readonly<Record<PathNames<Name>, string>>;
  readonly query: RouteQuery<Name>;
  readonly body: RouteBody<Name>;
}

/** The answer of a handler, and its change of the session's cookie. */
interface Reply<Answer> {
  readonly answer?: Answer;
  /** The session that begins. */
  readonly entered?: Entered | undefined;
  /** The session ends. */
  readonly left?: boolean;
  /** Server-sent events in place of an answer. */
  readonly stream?: ReadableStream<Uint8Array>;
}

/** A handler for each route. @throws ApiError, Refusal */
export type IntakeHandlers = {
  readonly [Name in IntakeRouteName]: (context: IntakeContext<Name>) => Promise<Reply<RouteAnswer<Name>>>;
};

type AnyHandler = (context: object) => Promise<Reply<unknown>>;

export class IntakeApi {
  readonly #routes: RouteTable;
  readonly #handlers: Readonly<Record<string, AnyHandler>>;
  readonly #parts: IntakeParts;

  constructor(routes: Readonly<Record<string, Route>>, handlers: IntakeHandlers, parts: IntakeParts) {
    this.#routes = new RouteTable(routes);
    // The context that a route's handler gets is made below from the route's own entry.
    this.#handlers = handlers as unknown as Readonly<Record<string, AnyHandler>>;
    this.#parts = parts;
  }

  /** The answer to a request; undefined when none of the routes is its own. */
  answer(request: Request, url: URL, connection: Connection): Promise<Response> | undefined {
    const found = this.#routes.find(request.method, url.pathname.replace(/\/$/, ""));
    if (found === undefined) return undefined;
    return this.#answer(found, request, url.searchParams, connection).catch((error: unknown) => {
      // A client that disconnects while it sends the body is not an error of the service.
      if (request.signal.aborted) return unexpected();
      const refusal = refused(error);
      if (refusal !== undefined) return refusal;
      this.#parts.log.error({ err: error, route: found.name }, "a request of a person failed");
      return unexpected();
    });
  }

  async #answer(
    { name, route, path }: Found,
    request: Request,
    parameters: URLSearchParams,
    connection: Connection,
  ): Promise<Response> {
    const { gate, bodies, nowMs } = this.#parts;
    const sent = await readApiBody(request, bodies, route.maxBodyBytes ?? defaultBodyBytes);
    if (isInvalid(sent)) return failure("validation_error", sent.invalid);
    const cookie = gate.sent(request, connection);
    const isSignIn = route.access === "anybody" && request.method === "POST";
    const from = await gate.from(request, connection, cookie, isSignIn);
    const foreign = gate.refuseForeign(request, route.access !== "anybody");
    if (foreign !== undefined) return foreign;
    const signedIn = from.before;
    if (route.access !== "anybody" && signedIn === undefined) throw notSignedIn();
    const place = signedIn && (await this.#place(route, signedIn, parameters));
    parameters.delete(organizationParameter);
    const query = checkedQuery(route.query, this.#routes.validator(route.query), parameters);
    const body = this.#body(route, request, sent);
    const placeNow = () => this.#placeNow(route, cookie, place);
    const context = { ...this.#parts, nowMs: nowMs(), from, signedIn, place, path, query, body, placeNow };
    const handler = this.#handlers[name];
    if (handler === undefined) throw new Error(`${name} has no handler`);
    return respond(route, await handler(context), cookie.isSecure);
  }

  async #place(
    { access }: Route,
    signedIn: SignedIn,
    parameters: URLSearchParams,
  ): Promise<Place | undefined> {
    if (access === "anybody" || access === "session") return undefined;
    const place = await this.#parts.gate.place(signedIn, parameters);
    if (place.rights.includes(access)) return place;
    throw new ApiError("forbidden", `Your role in this organization, ${place.role}, has no right to this.`);
  }

  async #placeNow(route: Route, cookie: SentCookie, place: Place | undefined): Promise<Place | undefined> {
    const signedIn = await this.#parts.gate.signedIn(cookie);
    if (signedIn === undefined || place === undefined) return undefined;
    const parameters = new URLSearchParams({ [organizationParameter]: String(place.organization.id) });
    try {
      return await this.#place(route, signedIn, parameters);
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }

  #body({ body: schema }: Route, request: Request, sent: Uint8Array | null): Static<TSchema> {
    if (schema === undefined) return undefined;
    return checkedBody(request, sent ?? new Uint8Array(), schema, this.#routes.validator(schema));
  }
}

function respond(
  { status }: Route,
  { answer, entered, left, stream }: Reply<unknown>,
  isSecure: boolean,
): Response {
  // Sessions, and secrets that are shown once, must not be cached.
  const headers = new Headers({ "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" });
  if (entered !== undefined || left === true) {
    headers.append("Set-Cookie", setSession(entered?.secret, isSecure));
  }
  if (entered !== undefined) headers.append("Set-Cookie", setDevice(entered.device, isSecure));
  if (stream !== undefined) {
    // A proxy that buffers would delay "live" by minutes.
    headers.set("Content-Type", "text/event-stream; charset=utf-8");
    headers.set("X-Accel-Buffering", "no");
    return new Response(stream, { status, headers });
  }
  if (status === 204) return new Response(null, { status, headers });
  return Response.json(answer, { status, headers });
}
