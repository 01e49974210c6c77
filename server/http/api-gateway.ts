/**
 * The JSON API's way in, on the public port: who is calling, how often, and on to the analysis process. Answers
 * pass as streams, bodies whole, so that a slow one costs nothing beyond this process. What the client calls itself goes
 * no further: the organization is the key's.
 */
import { errorMessages } from "../../contract/errors.ts";
import { isInvalid } from "../intake/json.ts";
import { fetchSocket, Unreachable } from "../process/control.ts";
import { failure, notFound, tooMany, unexpected } from "./answers.ts";
import { analysisStarting, callerHeaders } from "./api.ts";
import { readApiBody } from "./api-body.ts";
import type { Authorizer, Caller } from "./authorize.ts";
import type { ApiHandler } from "./routes.ts";

/** Requests that each read key may send in a second: figures cost milliseconds, writes microseconds. */
export const readKeyRequestsPerSecond = 100;

export interface ApiGateway {
  /** Of read keys. */
  readonly authorizer: Authorizer;
  /** The analysis process's socket. */
  readonly analysis: string;
}

/** Makes the handler of everything under /api. */
export function apiHandler({ authorizer, analysis }: ApiGateway): ApiHandler {
  return async (request, connection) => {
    const authorization = request.headers.get("authorization");
    const caller = await authorizer.authorize(authorization);
    if (caller === undefined) return failure("invalid_write_key", errorMessages.invalidReadKey);
    const { usage } = caller;
    const waitSeconds = usage.bucket.take(performance.now());
    if (waitSeconds > 0) return tooMany(errorMessages.tooManyRequests, waitSeconds, usage.bucket.perSecond);
    usage.lastUsedAtMs = Date.now();
    const { pathname, search } = new URL(request.url, "http://localhost");
    // The other process answers more than this: /api/../rebuild must not get there.
    if (!pathname.startsWith("/api/")) return notFound();
    try {
      const body = await readApiBody(request);
      if (isInvalid(body)) return failure("validation_error", body.invalid);
      // A slow body may take longer than the key lives.
      const current = body === null ? caller : await authorizer.authorize(authorization);
      if (current === undefined) return failure("invalid_write_key", errorMessages.invalidReadKey);
      // Only now, because a body may not be as slow as it likes. An erasure is silent for longer than any default.
      connection.timeout(request, 0);
      const answer = await fetchSocket(analysis, pathname.replace(/\/$/, "") + search, {
        ...{ method: request.method, headers: passedTo(current, request), body, signal: request.signal },
        timeout: false,
      });
      return new Response(answer.body, { status: answer.status, headers: passedOn(answer.headers) });
    } catch (error) {
      if (error instanceof Unreachable) return analysisStarting();
      // Who went away in the middle of a body is no failure of ours.
      if (request.signal.aborted) return unexpected();
      throw error;
    }
  };
}

function passedTo({ id, organization, rights }: Caller, request: Request): Record<string, string> {
  const contentType = request.headers.get("content-type");
  return {
    [callerHeaders.organization]: String(organization.id),
    [callerHeaders.readKey]: String(id),
    [callerHeaders.rights]: rights.join(" "),
    ...(contentType !== null && { "Content-Type": contentType }),
  };
}

function passedOn(headers: Headers): Headers {
  const passed = new Headers();
  for (const name of ["content-type", "retry-after"]) {
    const value = headers.get(name);
    if (value !== null) passed.set(name, value);
  }
  return passed;
}
