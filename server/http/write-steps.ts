/** The steps that all ways of writing share: the write API's (write.ts) and the connected sources' (source-handler.ts). */
import { errorMessages } from "../../contract/errors.ts";
import type { Intake, WatchedRequest } from "../intake/intake.ts";
import type { Endpoint, LiveView } from "../intake/live.ts";
import type { Logger } from "../process/log.ts";
import type { AnswerCounts } from "../process/metrics.ts";
import { tooMany, unexpected } from "./answers.ts";
import type { Authorizer, Caller } from "./authorize.ts";

export interface WriteParts {
  readonly authorizer: Authorizer;
  readonly intake: Intake;
  readonly live: LiveView;
  readonly counts: AnswerCounts;
  readonly log: Logger;
}

/** While no write is taken, senders are asked to come back after this many seconds. */
const closedRetryAfterSeconds = 5;

/** A disk that fails would otherwise write a line for each of a thousand requests a second. */
const minMsBetweenErrorLines = 1_000;

/** Makes a handler of these steps: what they throw is logged and answered 500, every answer is counted, and shown to who
 * watches. */
export function writing(
  endpoint: Endpoint,
  path: string,
  parts: WriteParts,
  steps: (request: Request, watched: WatchedRequest | undefined) => Promise<Response>,
): (request: Request) => Promise<Response> {
  let lastErrorLineMs = Number.NEGATIVE_INFINITY;
  return async (request) => {
    const watched = parts.live.isWatched ? parts.live.request(endpoint, path) : undefined;
    let response: Response;
    try {
      response = await steps(request, watched);
    } catch (error) {
      response = unexpected();
      // Who went away in the middle of a body is no failure of ours.
      if (request.signal.aborted) return response;
      if (performance.now() - lastErrorLineMs > minMsBetweenErrorLines) {
        lastErrorLineMs = performance.now();
        parts.log.error({ err: error, route: endpoint }, "write requests fail");
      }
    }
    parts.counts.add(endpoint, response.status);
    if (watched?.isShown) {
      watched
        .answered(response)
        .catch((error) => parts.log.warn({ err: error }, "a request was not shown live"));
    }
    return response;
  };
}

/** The 429 for a caller who is over the limit of requests, or for everybody while no write is taken; undefined when the
 * request may go on. */
export function turnedAway(
  intake: Intake,
  endpoint: Endpoint,
  { organization, usage }: Caller,
): Response | undefined {
  const waitSeconds = usage.bucket.take(performance.now());
  if (waitSeconds > 0) {
    intake.noteTurnedAway(endpoint, organization.id, "rate_limited", errorMessages.tooManyRequests);
    return tooMany(errorMessages.tooManyRequests, waitSeconds, usage.bucket.perSecond);
  }
  return intake.closedBecause === undefined
    ? undefined
    : tooMany(intake.closedBecause, closedRetryAfterSeconds);
}
