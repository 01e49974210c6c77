/**
 * The JSON API's way in, on the public port: who is calling, how often, and on to the analysis process. Answers
 * pass as streams. What the client calls itself goes no further: the organization is the key's.
 */
import { errorMessages } from "../../contract/errors.ts";
import { fetchSocket, Unreachable } from "../process/control.ts";
import { failure, notFound, tooMany } from "./answers.ts";
import { analysisStarting, callerHeaders } from "./api.ts";
import type { Authorizer } from "./authorize.ts";
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
    const caller = await authorizer.authorize(request.headers.get("authorization"));
    if (caller === undefined) return failure("invalid_write_key", errorMessages.invalidReadKey);
    const { usage, organization, rights } = caller;
    const waitSeconds = usage.bucket.take(performance.now());
    if (waitSeconds > 0) return tooMany(errorMessages.tooManyRequests, waitSeconds, usage.bucket.perSecond);
    usage.lastUsedAtMs = Date.now();
    const { pathname, search } = new URL(request.url, "http://localhost");
    // The other process answers more than this: /api/../rebuild must not get there.
    if (!pathname.startsWith("/api/")) return notFound();
    // An erasure is silent for longer than any default.
    connection.timeout(request, 0);
    try {
      const answer = await fetchSocket(analysis, pathname.replace(/\/$/, "") + search, {
        method: request.method,
        headers: {
          [callerHeaders.organization]: String(organization.id),
          [callerHeaders.rights]: rights.join(" "),
        },
        signal: request.signal,
        timeout: false,
      });
      return new Response(answer.body, { status: answer.status, headers: passedOn(answer.headers) });
    } catch (error) {
      if (error instanceof Unreachable) return analysisStarting();
      throw error;
    }
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
