/**
 * The JSON API in the intake process: routes about people, their organizations and settings. They change the
 * ledger and work while analysis is away, except the default exemption of a hold-out and the tasks of a
 * segment. A stranger's body is not read, and what holds when the body is there decides: limit, origin,
 * session, body, session again, organization, right, parameters, schema. Some routes also take a read key. A
 * request with an Authorization header counts by its key alone there, and its cookie does not count.
 */
import type { Static, TSchema } from "typebox";
import { type Access, type PathNames, type Route, takesReadKeys } from "../../../contract/api/route.ts";
import type {
  IntakeRouteName,
  RouteAnswer,
  RouteBody,
  RouteQuery,
  Routes,
} from "../../../contract/api/routes.ts";
import { organizationParameter } from "../../../contract/members.ts";
import { ApiError, notSignedIn } from "../../../contract/refusal.ts";
import { isInvalid } from "../../intake/admission/json.ts";
import type { Intake } from "../../intake/intake-service.ts";
import type { LiveView } from "../../intake/live.ts";
import type { OrganizationParts } from "../../members/organization.ts";
import type { Entered, From, SignedIn, SignIn } from "../../members/sign-in.ts";
import type { Peer } from "../../process/control.ts";
import type { Logger } from "../../process/log.ts";
import type { Outbox } from "../../sending/outbox.ts";
import { failure, refused, unexpected } from "../port/answers.ts";
import type { BodyBudget } from "../port/body-budget.ts";
import type { Connection } from "../port/handler.ts";
import type { ReadKeys } from "../port/read-keys.ts";
import { type Found, RouteTable } from "../port/route-table.ts";
import { type PeopleGate, type Place, rightsOfKey } from "./gate.ts";
import { checkedBody, checkedQuery, formatOf, readApiBody } from "./request.ts";
import { type Reached, type SentCookie, setDevice, setSession } from "./session-cookie.ts";

/** Far more than nearly all of these bodies need. */
const defaultBodyBytes = 16 * 1024;

/** The services of routes that need no session. */
export interface PlaceParts extends OrganizationParts {
  /** Sends messages to destinations. */
  readonly outbox: Pick<Outbox, "settings" | "sendDue" | "mail">;
  /** Computes the default exemption of a hold-out, and evaluates segments. */
  readonly analysis: Peer;
  /** Stores events. */
  readonly intake: Pick<Intake, "track" | "closedFor">;
  /** The public address of the service. */
  readonly address: () => string;
  readonly nowMs: () => number;
}

export interface IntakeParts extends PlaceParts {
  /** Whether pages load pictures from other hosts. */
  readonly remoteImages: boolean;
  readonly gate: PeopleGate;
  readonly keys: ReadKeys;
  readonly signIn: SignIn;
  readonly live: LiveView;
  readonly imports: ImportFiles;
  readonly bodies: BodyBudget;
  readonly log: Logger;
}

/** Where the files are that are uploaded for imports. */
interface ImportFiles {
  /** Has a folder for each file. */
  readonly folder: string;
  /** The name of this machine in a cluster. */
  readonly node: string | null;
  /** The next step of a file is due. */
  wake(): void;
  /** Keeps the folder of a file that is coming, until the function that is returned is called. */
  receiving(name: string): () => void;
  /** How far the present step of a file is. */
  progressOf(id: number): { readonly share: number; readonly waitsFor: string | null } | undefined;
}

/** The services, and the place of the request. */
interface PlaceContext extends Omit<PlaceParts, "nowMs"> {
  readonly nowMs: number;
  readonly place: Place;
}

/** The services, the place and the person of the request. @typeParam Of the access that the route needs */
interface PersonContext<Of extends Access> extends Omit<IntakeParts, "nowMs"> {
  readonly nowMs: number;
  readonly place: Of extends "anybody" | "session" ? undefined : Place;
  readonly from: From;
  readonly signedIn: Of extends "anybody" ? SignedIn | undefined : SignedIn;
  /** The place that the session has now; undefined once it has lost the right to this route. */
  readonly placeNow: () => Promise<Place | undefined>;
  /** The body of a route that takes a file. Its bytes are not counted before they come. */
  readonly upload: ReadableStream<Uint8Array> | null;
}

interface SentTo<Name extends IntakeRouteName> {
  readonly path: Readonly<Record<PathNames<Name>, string>>;
  readonly query: RouteQuery<Name>;
  readonly body: RouteBody<Name>;
}

/** Handlers of routes that need no session get the place alone: read keys and the command line have no
 * person. */
type IntakeContext<Name extends IntakeRouteName> = SentTo<Name> &
  (Routes[Name] extends { readonly access: "anybody" | "session" } | { readonly needsPerson: true }
    ? PersonContext<Routes[Name]["access"]>
    : PlaceContext);

/** The answer of a handler, and its change of the session's cookie. */
interface Reply<Answer> {
  readonly answer?: Answer;
  /** The session that begins. */
  readonly entered?: Entered | undefined;
  /** The session ends. */
  readonly left?: boolean;
  /** Server-sent events in place of an answer. */
  readonly stream?: ReadableStream<Uint8Array>;
  /** A file in place of an answer. */
  readonly file?: { readonly name: string; readonly content: Blob };
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
    const isByKey = takesReadKeys(found.route) && request.headers.has("authorization");
    const answer = isByKey
      ? this.#answerKey(found, request, url.searchParams, connection)
      : this.#answer(found, request, url.searchParams, connection);
    return answer.catch((error: unknown) => {
      // A client that disconnects while it sends the body is not an error of the service.
      if (request.signal.aborted) return unexpected();
      const refusal = refused(error);
      if (refusal !== undefined) return refusal;
      this.#parts.log.error({ err: error, route: found.name }, "a request of a person failed");
      return unexpected();
    });
  }

  /** The answer to a request with a read key. Its organization is the key's, so no parameter names one. */
  async #answerKey(
    found: Found,
    request: Request,
    parameters: URLSearchParams,
    connection: Connection,
  ): Promise<Response> {
    const { gate, keys } = this.#parts;
    const refusal = (await keys.limit(request, connection)) ?? gate.refuseForeignKey(request);
    if (refusal !== undefined) return refusal;
    const { route } = found;
    const sent = await this.#read(request, route);
    if (isInvalid(sent)) return failure("validation_error", sent.invalid);
    const { organization, rights, actor } = await keys.place(request);
    const place: Place = { organization, role: null, rights: rightsOfKey(rights), actor };
    refuseWithoutRight(route, place);
    return respond(route, await this.#handled(found, request, { sent, parameters, place }), null);
  }

  async #answer(
    found: Found,
    request: Request,
    parameters: URLSearchParams,
    connection: Connection,
  ): Promise<Response> {
    const { gate, bodies } = this.#parts;
    const { route } = found;
    const cookie = gate.sent(request, connection);
    const isOpen = route.access === "anybody";
    const isSignIn = isOpen && request.method === "POST";
    const from = await gate.from(request, connection, cookie, isSignIn);
    // A request without a cookie has nothing that another site's page could use: its answer is that of a
    // missing session.
    const isSession = !isOpen && cookie.secret !== undefined;
    const foreign = gate.refuseForeign(request, isSession);
    if (foreign !== undefined) return foreign;
    if (isOpen) bodies.open(request);
    else if (from.before === undefined) throw notSignedIn(takesReadKeys(route));
    const sent = route.isUpload === true ? null : await this.#read(request, route);
    if (isInvalid(sent)) return failure("validation_error", sent.invalid);
    const signedIn = await gate.signedIn(cookie);
    if (!isOpen && signedIn === undefined) throw notSignedIn(takesReadKeys(route));
    const place = signedIn && (await this.#place(route, signedIn, parameters));
    parameters.delete(organizationParameter);
    const placeNow = () => this.#placeNow(route, cookie, place);
    const upload = route.isUpload === true ? request.body : null;
    const asked = { sent, parameters, place, from, signedIn, placeNow, upload };
    return respond(route, await this.#handled(found, request, asked), cookie.reached);
  }

  #read(request: Request, { maxBodyBytes = defaultBodyBytes }: Route) {
    return readApiBody(request, this.#parts.bodies, maxBodyBytes);
  }

  /** The handler's reply, once parameters and body are checked. */
  #handled({ name, route, path }: Found, request: Request, asked: Asked): Promise<Reply<unknown>> {
    const { sent, parameters, ...context } = asked;
    formatOf(route, parameters);
    const query = checkedQuery(route.query, this.#routes.validator(route.query), parameters);
    const body = this.#body(route, request, sent);
    const handler = this.#handlers[name];
    if (handler === undefined) throw new Error(`${name} has no handler`);
    return handler({ ...this.#parts, ...context, nowMs: this.#parts.nowMs(), path, query, body });
  }

  async #place(route: Route, signedIn: SignedIn, parameters: URLSearchParams): Promise<Place | undefined> {
    if (route.access === "anybody" || route.access === "session") return undefined;
    const place = await this.#parts.gate.place(signedIn, parameters);
    refuseWithoutRight(route, place);
    return place;
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

/** A request before its parameters and its body are checked, and who asks. */
interface Asked {
  readonly sent: Uint8Array | null;
  readonly parameters: URLSearchParams;
  readonly place: Place | undefined;
  readonly from?: From;
  readonly signedIn?: SignedIn | undefined;
  readonly placeNow?: () => Promise<Place | undefined>;
  readonly upload?: ReadableStream<Uint8Array> | null;
}

/** @throws ApiError when the place has no right to the route */
function refuseWithoutRight({ access }: Route, { role, rights }: Place): void {
  if (rights.some((right) => right === access)) return;
  throw new ApiError(
    "forbidden",
    role === null
      ? `This read key has no right to ${access}.`
      : `Your role in this organization, ${role}, has no right to this.`,
  );
}

/** @param reached null for a read key, which gets no cookie */
function respond(
  { status, isFile }: Route,
  { answer, entered, left, stream, file }: Reply<unknown>,
  reached: Reached | null,
): Response {
  // Sessions, and secrets that are shown once, must not be cached.
  const headers = new Headers({ "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" });
  if (reached !== null && (entered !== undefined || left === true)) {
    headers.append("Set-Cookie", setSession(entered?.secret, reached));
  }
  if (reached !== null && entered !== undefined) {
    headers.append("Set-Cookie", setDevice(entered.device, reached));
  }
  if (stream !== undefined) {
    // A proxy that buffers would delay "live" by minutes.
    headers.set("Content-Type", "text/event-stream; charset=utf-8");
    headers.set("X-Accel-Buffering", "no");
    return new Response(stream, { status, headers });
  }
  if (file !== undefined && isFile !== undefined) {
    headers.set("Content-Type", `${isFile}; charset=utf-8`);
    headers.set("Content-Disposition", `attachment; filename="${file.name}"`);
    return new Response(file.content, { status, headers });
  }
  if (status === 204) return new Response(null, { status, headers });
  return Response.json(answer, { status, headers });
}
