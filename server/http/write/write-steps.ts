/** The steps that all ways of writing share: the write API's (write.ts) and the connected sources' (source-handler.ts). */
import { errorMessages } from "../../../contract/errors.ts";
import type { Endpoint, Intake, LiveView, WatchedRequest } from "../../intake/intake.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { OrganizationGone } from "../../ledger/ledger.ts";
import { Denied } from "../../members/members.ts";
import type { AnswerCounts, Logger } from "../../process/process.ts";
import { failure, tooMany, unexpected } from "../port/answers.ts";
import type { Authorizer, Caller } from "../port/authorize.ts";
import type { BodyBudget } from "../port/body-budget.ts";
import type { Connection } from "../port/routes.ts";
import type { UnknownTokens } from "../port/unknown-tokens.ts";

export interface WriteParts {
  readonly authorizer: Authorizer;
  readonly intake: Intake;
  readonly ledger: Pick<Ledger, "sourceSettings" | "identities" | "findUser">;
  readonly live: LiveView;
  readonly counts: AnswerCounts;
  readonly bodies: BodyBudget;
  readonly unknownTokens: UnknownTokens;
  readonly log: Logger;
}

/** A request that the steps begin with. */
export interface Received {
  readonly request: Request;
  readonly connection: Connection;
  readonly watched: WatchedRequest | undefined;
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
  steps: (received: Received) => Promise<Response>,
): (request: Request, connection: Connection) => Promise<Response> {
  let lastErrorLineMs = Number.NEGATIVE_INFINITY;
  return async (request, connection) => {
    const watched = parts.live.isWatched ? parts.live.request(endpoint, path) : undefined;
    let response: Response;
    try {
      response = await steps({ request, connection, watched });
    } catch (error) {
      const refusal = error instanceof OrganizationGone ? gone() : refused(error);
      response = refusal ?? unexpected();
      // A sender that went away in the middle of a body is no failure of ours.
      if (request.signal.aborted) return response;
      if (refusal === undefined && performance.now() - lastErrorLineMs > minMsBetweenErrorLines) {
        lastErrorLineMs = performance.now();
        parts.log.error({ err: error, route: endpoint }, "write requests fail");
      }
    } finally {
      parts.bodies.release(request);
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

/** The answer to a request that was under way when its organization was deleted. */
function gone(): Response {
  return failure("invalid_write_key", errorMessages.invalidToken);
}

/** The 429 to a request whose body found no room; undefined for a failure of ours. */
function refused(error: unknown): Response | undefined {
  if (!(error instanceof Denied) || error.retryAfterSeconds === undefined) return undefined;
  return tooMany(error.message, error.retryAfterSeconds);
}

/** The 429 for a caller who is over the limit of requests, or while no write is taken; undefined when the request may go on. */
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
  return whileClosed(intake, organization.id);
}

/** The 429 to an organization of which no write is taken; undefined while writes are. Asked again when a body is read: by then
 * enough may wait. */
export function whileClosed(intake: Intake, organization: number): Response | undefined {
  const because = intake.closedFor(organization);
  return because === undefined ? undefined : tooMany(because, closedRetryAfterSeconds);
}
