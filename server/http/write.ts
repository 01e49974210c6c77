/**
 * The way of a write request, as a list of steps. Each step may end it with an answer from the closed list
 * of the specification, in the order that the specification's users rely on: 401, 429, 400, 404.
 */
import { errorMessages } from "../../contract/errors.ts";
import { limits } from "../../contract/limits.ts";
import {
  type Arrival,
  errorOf,
  type Intake,
  isInvalid,
  type Outcome,
  type WatchedRequest,
} from "../intake/intake.ts";
import type { LiveView } from "../intake/live.ts";
import type { Logger } from "../process/log.ts";
import type { AnswerCounts } from "../process/metrics.ts";
import { failure, success, tooMany, unexpected } from "./answers.ts";
import type { Authorizer } from "./authorize.ts";
import { storeBatch } from "./batch.ts";
import { readBody } from "./body.ts";

export interface WriteParts {
  readonly authorizer: Authorizer;
  readonly intake: Intake;
  readonly live: LiveView;
  readonly counts: AnswerCounts;
  readonly log: Logger;
}

/** While no write is taken, senders are asked to come back after this many seconds. */
const closedRetryAfterSeconds = 5;

export type WriteKind = "identify" | "track" | "batch";

/** A disk that fails would otherwise write a line for each of a thousand requests a second. */
const minMsBetweenErrorLines = 1_000;

/** Makes the handler of POST /identify, /track or /batch. */
export function writeHandler(kind: WriteKind, parts: WriteParts): (request: Request) => Promise<Response> {
  let lastErrorLineMs = Number.NEGATIVE_INFINITY;
  return async (request) => {
    const watched = parts.live.isWatched ? parts.live.request(kind) : undefined;
    let response: Response;
    try {
      response = await write(kind, parts, request, watched);
    } catch (error) {
      response = unexpected();
      // Who went away in the middle of a body is no failure of ours.
      if (request.signal.aborted) return response;
      if (performance.now() - lastErrorLineMs > minMsBetweenErrorLines) {
        lastErrorLineMs = performance.now();
        parts.log.error({ err: error, route: kind }, "write requests fail");
      }
    }
    parts.counts.add(kind, response.status);
    if (watched?.isShown) {
      watched
        .answered(response)
        .catch((error) => parts.log.warn({ err: error }, "a request was not shown live"));
    }
    return response;
  };
}

async function write(
  kind: WriteKind,
  parts: WriteParts,
  request: Request,
  watched: WatchedRequest | undefined,
): Promise<Response> {
  const { authorizer, intake } = parts;
  const authorization = request.headers.get("authorization");
  const caller = await authorizer.authorize(authorization);
  if (caller === undefined) return failure("invalid_write_key", errorMessages.invalidToken);

  const { usage } = caller;
  watched?.from({
    ...{ organization: caller.organization.id, token: caller.label },
    idempotencyKey: request.headers.get("idempotency-key"),
  });
  const waitSeconds = usage.bucket.take(performance.now());
  if (waitSeconds > 0) {
    intake.noteTurnedAway(kind, caller.organization.id, "rate_limited", errorMessages.tooManyRequests);
    return tooMany(errorMessages.tooManyRequests, waitSeconds, usage.bucket.perSecond);
  }
  if (intake.closedBecause !== undefined) return tooMany(intake.closedBecause, closedRetryAfterSeconds);

  const body = await readBody(request, kind === "batch" ? limits.batchBytes : limits.bodyBytes);
  if (isInvalid(body)) {
    intake.noteTurnedAway(kind, caller.organization.id, "refused_validation", body.invalid);
    return failure("validation_error", body.invalid);
  }
  watched?.body(body);
  // A slow body may take longer than a change of the timezone, or than the token lives.
  const current = await authorizer.authorize(authorization);
  if (current === undefined) return failure("invalid_write_key", errorMessages.invalidToken);
  const arrival: Arrival = {
    organization: current.organization.id,
    zone: current.zone,
    receivedAtMs: Date.now(),
    idempotencyKey: request.headers.get("idempotency-key"),
  };
  usage.lastUsedAtMs = arrival.receivedAtMs;
  if (kind === "batch") return storeBatch(intake, usage.itemsBucket, body, arrival, watched);
  return answer(await intake[kind](body, arrival, watched));
}

function answer(outcome: Outcome): Response {
  const error = errorOf(outcome);
  return error === undefined ? success() : failure(error.name, error.message);
}
