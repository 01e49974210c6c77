/**
 * The JSON API on the public port: authorizes and limits requests, and passes them on to the analysis
 * process. Answers pass as streams. Bodies pass whole, so that a slow body costs nothing in analysis. No
 * header of the client names the organization: it is the read key's, or one of which the signed-in person is
 * a member.
 */

import { analysisRoutes } from "../../../contract/api/analysis-routes.ts";
import { errorMessages } from "../../../contract/errors.ts";
import { notSignedIn } from "../../../contract/refusal.ts";
import { isInvalid } from "../../intake/admission/json.ts";
import { type Peer, Unreachable } from "../../process/control.ts";
import { analysisStarting, failure, refused, unexpected } from "../port/answers.ts";
import type { BodyBudget } from "../port/body-budget.ts";
import type { Connection, Handler } from "../port/handler.ts";
import type { ReadKeys } from "../port/read-keys.ts";
import { RouteTable } from "../port/route-table.ts";

import { type Caller, headersOfCaller } from "./caller.ts";
import type { PeopleGate } from "./gate.ts";
import type { IntakeApi } from "./intake-api.ts";
import { readApiBody } from "./request.ts";
import type { SentCookie } from "./session-cookie.ts";

/** Requests that each read key may send in a second: figures cost milliseconds, writes microseconds. */
export const readKeyRequestsPerSecond = 100;

const routes = new RouteTable(analysisRoutes);

export interface ApiGateway {
  readonly keys: ReadKeys;
  /** Of sessions. */
  readonly gate: PeopleGate;
  /** The routes that are answered here. */
  readonly intake: IntakeApi;
  /** Room for the bodies of requests. */
  readonly bodies: BodyBudget;
  /** The process that answers questions. */
  readonly analysis: Peer;
}

/** Makes the handler of everything under /api. */
export function apiHandler(gateway: ApiGateway): Handler {
  return async (request, connection) => {
    const url = new URL(request.url, "http://localhost");
    try {
      const own = gateway.intake.answer(request, url, connection);
      return await (own ?? figure(gateway, request, url, connection));
    } catch (error) {
      if (error instanceof Unreachable) return analysisStarting();
      const known = refused(error);
      if (known !== undefined) return known;
      // A client that disconnects while it sends the body is not an error of the service.
      if (request.signal.aborted) return unexpected();
      throw error;
    } finally {
      gateway.bodies.release(request);
    }
  };
}

async function figure(
  gateway: ApiGateway,
  request: Request,
  url: URL,
  connection: Connection,
): Promise<Response> {
  const sent = gateway.gate.sent(request, connection);
  const isKey = request.headers.has("authorization") || sent.secret === undefined;
  const signedIn = isKey ? undefined : (await gateway.gate.from(request, connection, sent)).before;
  if (!isKey && signedIn === undefined) throw notSignedIn(true);
  const pathname = url.pathname.replace(/\/$/, "");
  // The other process answers more than these: /api/../rebuild must not get there.
  const hasRoute = routes.find(request.method, pathname) !== undefined;
  const refusal = isKey
    ? await gateway.keys.limit(request, connection, hasRoute)
    : gateway.gate.refuseForeign(request, true);
  if (refusal !== undefined) return refusal;
  if (!hasRoute) return failure("not_found", errorMessages.apiRouteNotFound);
  const body = await readApiBody(request, gateway.bodies);
  if (isInvalid(body)) return failure("validation_error", body.invalid);
  // Only now: while the body was read, the key may have been revoked or the session ended.
  const asking = isKey ? await askingKey(gateway, request) : await askingPerson(gateway, sent, url);
  // Not earlier: the timeout also limits slow bodies. An erasure is silent for longer than the default
  // timeout.
  connection.timeout(request, 0);
  const answer = await gateway.analysis.fetch(pathname + url.search, {
    method: request.method,
    headers: passedTo(asking, request),
    body,
    signal: request.signal,
    timeout: false,
  });
  const headers = passedOn(answer.headers);
  return new Response(answer.body, { status: answer.status, headers });
}

async function askingKey({ keys }: ApiGateway, request: Request): Promise<Caller> {
  const { organization, rights, actor } = await keys.place(request);
  return { organization: organization.id, rights, actor };
}

async function askingPerson({ gate }: ApiGateway, sent: SentCookie, url: URL): Promise<Caller> {
  const signedIn = await gate.signedIn(sent);
  if (signedIn === undefined) throw notSignedIn(true);
  const { organization, rights, actor } = await gate.place(signedIn, url.searchParams);
  return { organization: organization.id, rights, actor };
}

function passedTo(asking: Caller, request: Request): Record<string, string> {
  const contentType = request.headers.get("content-type");
  return {
    ...headersOfCaller(asking),
    ...(contentType !== null && { "Content-Type": contentType }),
  };
}

function passedOn(headers: Headers): Headers {
  // A cached answer could be shown to the next person who signs in with this browser.
  const passed = new Headers({ "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" });
  for (const name of ["content-type", "content-disposition", "retry-after"]) {
    const value = headers.get(name);
    if (value !== null) passed.set(name, value);
  }
  return passed;
}
