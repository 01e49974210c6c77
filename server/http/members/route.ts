/**
 * The routes of people, which intake answers itself: they change the ledger, and have to work while analysis is away.
 * Checks come in the order of what they cost: body, session, origin, organization, right, parameters, schema.
 */
import type { Static, TSchema } from "typebox";
import { organizationParameter } from "../../../contract/members.ts";
import { ApiError, notSignedIn } from "../../../contract/refusal.ts";
import type { LiveView } from "../../intake/intake.ts";
import { isInvalid } from "../../intake/intake.ts";
import type {
  Entered,
  From,
  MemberRight,
  OrganizationParts,
  SignedIn,
  SignIn,
} from "../../members/members.ts";
import type { Logger } from "../../process/process.ts";
import { parseApiBytes, readApiBody } from "../api/body.ts";
import { checkedQuery, type PathNames } from "../api/route.ts";
import { failure, refused, unexpected } from "../port/answers.ts";
import type { BodyBudget } from "../port/body-budget.ts";
import type { Connection } from "../port/handler.ts";
import { type Found, RouteTable } from "../port/route-table.ts";
import type { PeopleGate, Place } from "./gate.ts";
import { type SentCookie, setDevice, setSession } from "./session-cookie.ts";

/** Far more than nearly all of these bodies need. */
const maxBodyBytes = 16 * 1024;

/** Who may ask: anybody, who is signed in, or a member with this right. */
export type PeopleAccess = "anybody" | "session" | MemberRight;

export interface PeopleParts extends OrganizationParts {
  /** Whether pages load pictures from other hosts. */
  readonly remoteImages: boolean;
  readonly gate: PeopleGate;
  readonly signIn: SignIn;
  readonly live: LiveView;
  readonly bodies: BodyBudget;
  /** The service's address as people reach it. */
  readonly address: () => string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export interface PeopleContext<
  Access extends PeopleAccess,
  Query extends TSchema,
  Path extends string,
  Body extends TSchema,
> extends Omit<PeopleParts, "nowMs"> {
  readonly nowMs: number;
  readonly from: From;
  readonly signedIn: Access extends "anybody" ? SignedIn | undefined : SignedIn;
  readonly place: Access extends MemberRight ? Place : undefined;
  /** The place that the request's session has by now; undefined when it has no right to what it asks for any more. */
  readonly placeNow: () => Promise<Place | undefined>;
  readonly path: Readonly<Record<PathNames<Path>, string>>;
  readonly query: Static<Query>;
  readonly body: Static<Body>;
}

/** What a handler answers, and what becomes of the cookie. */
export interface PeopleReply<Answer extends TSchema> {
  readonly answer?: Static<Answer>;
  readonly entered?: Entered | undefined;
  readonly left?: boolean;
  /** Instead of an answer: server-sent events. */
  readonly stream?: ReadableStream<Uint8Array>;
}

export interface PeopleRoute<
  Access extends PeopleAccess = PeopleAccess,
  Query extends TSchema = TSchema,
  Path extends string = string,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: Path;
  readonly access: Access;
  readonly summary: string;
  readonly query: Query;
  readonly body?: Body;
  /** Of the body, where it needs more than others do. */
  readonly maxBodyBytes?: number;
  /** 204 has none. */
  readonly answer?: Answer;
  /** The answer is a stream of server-sent events, of which the schema says what each is. */
  readonly isStream?: boolean;
  readonly status: 200 | 201 | 204;
  /** @throws ApiError, Refusal */
  handler(context: PeopleContext<Access, Query, Path, Body>): Promise<PeopleReply<Answer>>;
}

/** Makes an entry of the table of routes, its handler typed by its own schemas. */
export function peopleRoute<
  Access extends PeopleAccess,
  Query extends TSchema,
  Path extends string,
  Body extends TSchema,
  Answer extends TSchema,
>(entry: PeopleRoute<Access, Query, Path, Body, Answer>): PeopleRoute {
  return entry as unknown as PeopleRoute;
}

export class PeopleApi {
  readonly #routes: RouteTable<PeopleRoute>;
  readonly #parts: PeopleParts;

  constructor(routes: readonly PeopleRoute[], parts: PeopleParts) {
    this.#routes = new RouteTable(routes);
    this.#parts = parts;
  }

  /** The answer to a request that one of the routes is for; undefined for all others. */
  answer(request: Request, url: URL, connection: Connection): Promise<Response> | undefined {
    const found = this.#routes.find(request.method, url.pathname.replace(/\/$/, ""));
    if (found === undefined) return undefined;
    return this.#answer(found, request, url.searchParams, connection).catch((error: unknown) => {
      // Who went away in the middle of a body is no failure of ours.
      if (request.signal.aborted) return unexpected();
      const known = refused(error);
      if (known !== undefined) return known;
      this.#parts.log.error({ err: error, route: found.route.path }, "a request of a person failed");
      return unexpected();
    });
  }

  async #answer(
    { route, path }: Found<PeopleRoute>,
    request: Request,
    parameters: URLSearchParams,
    connection: Connection,
  ): Promise<Response> {
    const { gate, bodies, nowMs } = this.#parts;
    const sent = await readApiBody(request, bodies, route.maxBodyBytes ?? maxBodyBytes);
    if (isInvalid(sent)) return failure("validation_error", sent.invalid);
    const cookie = gate.sent(request, connection);
    const isSignIn = route.access === "anybody" && route.method === "POST";
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
    const reply = await route.handler({
      ...{ ...this.#parts, nowMs: nowMs(), from, path, query, body, placeNow },
      // Both were looked up above for the routes that need them, which their types say.
      ...({ signedIn, place } as { signedIn: SignedIn; place: Place & undefined }),
    });
    return this.#response(route, reply, cookie.isSecure);
  }

  async #place(
    { access }: PeopleRoute,
    signedIn: SignedIn,
    parameters: URLSearchParams,
  ): Promise<Place | undefined> {
    if (access === "anybody" || access === "session") return undefined;
    const place = await this.#parts.gate.place(signedIn, parameters);
    if (place.rights.includes(access)) return place;
    throw new ApiError("forbidden", `Your role in this organization, ${place.role}, has no right to this.`);
  }

  async #placeNow(
    route: PeopleRoute,
    cookie: SentCookie,
    place: Place | undefined,
  ): Promise<Place | undefined> {
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

  #response(
    route: PeopleRoute,
    { answer, entered, left, stream }: PeopleReply<TSchema>,
    isSecure: boolean,
  ): Response {
    // Sessions, and secrets that are shown once, belong in no cache.
    const headers = new Headers({ "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" });
    if (entered !== undefined || left === true) {
      headers.append("Set-Cookie", setSession(entered?.secret, isSecure));
    }
    if (entered !== undefined) headers.append("Set-Cookie", setDevice(entered.device, isSecure));
    if (stream !== undefined) {
      // A proxy that waits for more before it passes anything on would make "live" minutes late.
      headers.set("Content-Type", "text/event-stream; charset=utf-8");
      headers.set("X-Accel-Buffering", "no");
      return new Response(stream, { status: route.status, headers });
    }
    if (route.status === 204) return new Response(null, { status: 204, headers });
    return Response.json(answer, { status: route.status, headers });
  }

  #body({ body: schema }: PeopleRoute, request: Request, sent: Uint8Array | null): Static<TSchema> {
    if (schema === undefined) return undefined;
    const parsed = parseApiBytes(request, sent ?? new Uint8Array(), schema, this.#routes.validator(schema));
    if ("invalid" in parsed) throw new ApiError("validation_error", parsed.invalid);
    return parsed.body;
  }
}
