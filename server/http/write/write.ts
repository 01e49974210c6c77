/**
 * The request path of the write API: `write` is the list of its steps. Each may end the request with an
 * answer from the closed list of the specification, in the order that the specification gives: 401, 429, 400,
 * 404. Connected sources (source-handler.ts) share the steps that are exported here.
 */
import { errorMessages } from "../../../contract/errors.ts";
import { limits } from "../../../contract/limits.ts";
import { ApiError } from "../../../contract/refusal.ts";
import type { Arrival } from "../../intake/admission/admit-event.ts";
import {
  asObject,
  type Invalid,
  isInvalid,
  type ParsedObject,
  parseInTurns,
} from "../../intake/admission/json.ts";
import { errorOf, type Outcome } from "../../intake/decide/requests.ts";
import type { Intake } from "../../intake/intake-service.ts";
import type { Endpoint, LiveView } from "../../intake/live.ts";
import type { WatchedRequest } from "../../intake/watched-request.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { OrganizationGone } from "../../ledger/transact.ts";
import type { Logger } from "../../process/log.ts";
import type { AnswerCounts } from "../../process/metrics.ts";
import { failure, success, tooMany, unexpected, unknownToken } from "../port/answers.ts";
import type { Authorizer, Caller } from "../port/authorize.ts";
import { readBody } from "../port/body.ts";
import type { BodyBudget } from "../port/body-budget.ts";
import type { Connection, Handler } from "../port/handler.ts";
import type { UnknownTokens } from "../port/unknown-tokens.ts";
import { storeBatch } from "./batch.ts";

export interface WriteParts {
  readonly authorizer: Authorizer;
  readonly intake: Intake;
  readonly ledger: Pick<Ledger, "sourceSettings" | "identities" | "findUser">;
  readonly live: LiveView;
  readonly counts: AnswerCounts;
  readonly bodies: BodyBudget;
  readonly unknownTokens: UnknownTokens;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** A request at the first step. */
export interface Received {
  readonly request: Request;
  readonly connection: Connection;
  /** For the live view; undefined while no member watches it. */
  readonly watched: WatchedRequest | undefined;
}

type WriteKind = "identify" | "track" | "batch";

/** A batch whose Authorization header is valid. */
export interface ReceivedBatch {
  readonly request: Request;
  readonly watched: WatchedRequest | undefined;
  readonly caller: Caller;
  readonly bytes: Uint8Array;
  /** The bytes as JSON. */
  readonly body: ParsedObject | Invalid;
}

/** Answers a batch of a connected source; undefined for a batch of the write API. */
type SourceBatchHandler = (batch: ReceivedBatch) => Promise<Response> | undefined;

/** Retry-After of the 429 while no write is taken. */
const closedRetryAfterSeconds = 5;

/** A disk that fails would otherwise write a line for each of a thousand requests a second. */
const minMsBetweenErrorLines = 1_000;

/** Makes the handler of POST /identify, /track or /batch. */
export function writeHandler(kind: WriteKind, parts: WriteParts, ofSource?: SourceBatchHandler): Handler {
  return writing(kind, `/${kind}`, parts, (received) => write(kind, parts, received, ofSource));
}

/**
 * The steps of a request, from its header to its answer. Each may be the last.
 *
 * Steps 7 to 11 are in intake/ and in the ledger; `Intake.track` begins with the seventh.
 *
 * | step         | where                                         | ends with |
 * | ------------ | --------------------------------------------- | --------- |
 * | 7 admit      | intake/track.ts, intake/identify.ts: pure     | 400       |
 * | 8 wait       | intake/commit-lane.ts: for a commit           | 429       |
 * | 9 decide     | intake/decide/decide.ts: pure                 | 404, 201  |
 * | 10 commit    | ledger/sqlite/write/transact.ts               | 500       |
 * | 11 count     | intake/: warnings, sources, live view         | 201       |
 */
async function write(
  kind: WriteKind,
  parts: WriteParts,
  { request, connection, watched }: Received,
  ofSource: SourceBatchHandler | undefined,
): Promise<Response> {
  const { authorizer, intake, bodies, unknownTokens } = parts;

  // 1 Who sends? 401
  const authorization = request.headers.get("authorization");
  const caller = await authorizer.authorize(authorization);
  if (caller === undefined) return unknownTokens.answer(request, connection);
  watched?.from({
    organization: caller.organization.id,
    token: caller.label,
    secret: authorization === null ? undefined : authorizer.secretIn(authorization),
    idempotencyKey: request.headers.get("idempotency-key"),
  });

  // 2 Is it within its rate? 429
  const refusal = overLimit(intake, kind, caller);
  if (refusal !== undefined) return refusal;
  noteServerToken(intake, kind, caller, request);

  // 3 Read the body, as far as the limits of size and memory allow. 400, 429
  const body = await readBody(request, kind === "batch" ? limits.batchBytes : limits.bodyBytes, bodies);
  if (isInvalid(body)) {
    intake.noteRefused(kind, caller.organization.id, "refused_validation", body.invalid);
    return failure("validation_error", body.invalid);
  }

  // 4 Is it a batch of another tool's client? Its handler answers.
  const turn = () => bodies.turn(request);
  const batch = kind === "batch" ? asObject(await parseInTurns(body, turn)) : undefined;
  const answerOfSource = batch && ofSource?.({ request, watched, caller, bytes: body, body: batch });
  if (answerOfSource !== undefined) return answerOfSource;
  watched?.body(body);

  // 5 Does the token still hold? While a slow body was read, it may have been revoked, or the timezone may
  // have changed. 401
  const current = await authorizer.authorize(authorization);
  if (current === undefined) return unknownToken();

  // 6 Are writes taken? 429
  const closed = whileClosed(intake, current.organization.id);
  if (closed !== undefined) return closed;
  const arrival: Arrival = {
    organization: current.organization.id,
    zone: current.zone,
    receivedAtMs: parts.nowMs(),
    idempotencyKey: request.headers.get("idempotency-key"),
    isBrowser: current.isBrowser,
  };
  current.usage.lastUsedAtMs = arrival.receivedAtMs;

  if (batch !== undefined)
    return storeBatch(intake, current.usage.itemsBucket, batch, arrival, turn, watched);
  const storing =
    kind === "identify" ? intake.identify(body, arrival, watched) : intake.track(body, arrival, watched);
  return answer(await storing);
}

function answer(outcome: Outcome): Response {
  const error = errorOf(outcome);
  return error === undefined ? success() : failure(error.name, error.message);
}

/** Makes a handler of steps. An error of a step is logged and answered 500. Every answer is counted and shown
 * live. */
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
      const refusal = refusalOf(error);
      response = refusal ?? unexpected();
      // A client that disconnects while it sends the body is not an error of the service.
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

/** The answer to an error that the request caused; undefined for an error of the service. */
function refusalOf(error: unknown): Response | undefined {
  // The organization was deleted while the request was under way.
  if (error instanceof OrganizationGone) return unknownToken();
  if (!(error instanceof ApiError) || error.retryAfterSeconds === undefined) return undefined;
  return tooMany(error.message, error.retryAfterSeconds);
}

/** Warns of a token that is for servers and came from a page, where everybody can read it. The request is
 * taken: it may be the only way in which the application sends. */
export function noteServerToken(
  intake: Intake,
  endpoint: Endpoint,
  { organization, isBrowser }: Caller,
  { headers }: Request,
): void {
  const origin = headers.get("origin");
  if (origin === null || isBrowser) return;
  intake.noteTaken(endpoint, organization.id, "server_token_in_page", origin);
}

/** The 429 to a caller over its limit of requests, or while no write is taken; undefined when the request may
 * continue. */
export function overLimit(
  intake: Intake,
  endpoint: Endpoint,
  { organization, usage }: Caller,
): Response | undefined {
  const waitSeconds = usage.bucket.take(performance.now());
  if (waitSeconds > 0) {
    intake.noteRefused(endpoint, organization.id, "rate_limited", errorMessages.tooManyRequests);
    return tooMany(errorMessages.tooManyRequests, waitSeconds, usage.bucket.perSecond);
  }
  return whileClosed(intake, organization.id);
}

/** The 429 while no write of the organization is taken. It is checked again after the body was read, because
 * many requests may have arrived meanwhile. */
export function whileClosed(intake: Intake, organization: number): Response | undefined {
  const because = intake.closedFor(organization);
  return because === undefined ? undefined : tooMany(because, closedRetryAfterSeconds);
}
