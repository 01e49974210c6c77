/**
 * The way of a write request, as a list of steps. Each step may end it with an answer from the closed list
 * of the specification, in the order that the specification's users rely on: 401, 429, 400, 404.
 */
import { errorMessages } from "../../../contract/errors.ts";
import { limits } from "../../../contract/limits.ts";
import {
  type Arrival,
  errorOf,
  type Invalid,
  isInvalid,
  type Outcome,
  type ParsedObject,
  parseObject,
  type WatchedRequest,
} from "../../intake/intake.ts";
import { failure, success } from "../port/answers.ts";
import type { Caller } from "../port/authorize.ts";
import { readBody } from "../port/body.ts";
import type { Handler } from "../port/routes.ts";
import { storeBatch } from "./batch.ts";
import { type Received, turnedAway, type WriteParts, whileClosed, writing } from "./write-steps.ts";

export type WriteKind = "identify" | "track" | "batch";

/** A batch that was let in by its Authorization header. */
export interface ReceivedBatch {
  readonly request: Request;
  readonly watched: WatchedRequest | undefined;
  readonly caller: Caller;
  readonly bytes: Uint8Array;
  /** The bytes as JSON. */
  readonly body: ParsedObject | Invalid;
}

/** Answers a batch that is somebody else's than the write API's; undefined for its own. */
export type OtherHandler = (batch: ReceivedBatch) => Promise<Response> | undefined;

/** Makes the handler of POST /identify, /track or /batch. */
export function writeHandler(kind: WriteKind, parts: WriteParts, other?: OtherHandler): Handler {
  return writing(kind, `/${kind}`, parts, (received) => write(kind, parts, received, other));
}

async function write(
  kind: WriteKind,
  parts: WriteParts,
  { request, connection, watched }: Received,
  other: OtherHandler | undefined,
): Promise<Response> {
  const { authorizer, intake, bodies, unknownTokens } = parts;
  const authorization = request.headers.get("authorization");
  const caller = await authorizer.authorize(authorization);
  if (caller === undefined) return unknownTokens.answer(request, connection);

  watched?.from({
    ...{ organization: caller.organization.id, token: caller.label },
    secret: authorization === null ? undefined : authorizer.secretIn(authorization),
    idempotencyKey: request.headers.get("idempotency-key"),
  });
  const refused = turnedAway(intake, kind, caller);
  if (refused !== undefined) return refused;

  const body = await readBody(request, kind === "batch" ? limits.batchBytes : limits.bodyBytes, bodies);
  if (isInvalid(body)) {
    intake.noteTurnedAway(kind, caller.organization.id, "refused_validation", body.invalid);
    return failure("validation_error", body.invalid);
  }
  const batch = kind === "batch" ? parseObject(body) : undefined;
  const others = batch && other?.({ request, watched, caller, bytes: body, body: batch });
  if (others !== undefined) return others;
  watched?.body(body);
  // A slow body may take longer than a change of the timezone, or than the token lives.
  const current = await authorizer.authorize(authorization);
  if (current === undefined) return failure("invalid_write_key", errorMessages.invalidToken);
  const closed = whileClosed(intake, current.organization.id);
  if (closed !== undefined) return closed;
  const arrival: Arrival = {
    organization: current.organization.id,
    zone: current.zone,
    receivedAtMs: Date.now(),
    idempotencyKey: request.headers.get("idempotency-key"),
    isBrowser: current.isBrowser,
  };
  current.usage.lastUsedAtMs = arrival.receivedAtMs;
  if (batch !== undefined) return storeBatch(intake, current.usage.itemsBucket, batch, arrival, watched);
  const storing =
    kind === "identify" ? intake.identify(body, arrival, watched) : intake.track(body, arrival, watched);
  return answer(await storing);
}

function answer(outcome: Outcome): Response {
  const error = errorOf(outcome);
  return error === undefined ? success() : failure(error.name, error.message);
}
