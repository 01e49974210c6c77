/**
 * The way of a write request, as a list of steps. Each step may end it with an answer from the closed list
 * of the specification, in the order that the specification's users rely on: 401, 429, 400, 404.
 */
import { errorMessages } from "../../contract/errors.ts";
import { limits } from "../../contract/limits.ts";
import { type Arrival, errorOf, isInvalid, type Outcome, type WatchedRequest } from "../intake/intake.ts";
import { failure, success } from "./answers.ts";
import { storeBatch } from "./batch.ts";
import { readBody } from "./body.ts";
import { turnedAway, type WriteParts, writing } from "./write-steps.ts";

export type WriteKind = "identify" | "track" | "batch";

/** Answers a body that is somebody else's than the write API's; undefined for its own. */
export type OtherHandler = (
  request: Request,
  body: Uint8Array,
  watched: WatchedRequest | undefined,
) => Promise<Response> | undefined;

/** Makes the handler of POST /identify, /track or /batch. */
export function writeHandler(
  kind: WriteKind,
  parts: WriteParts,
  other?: OtherHandler,
): (request: Request) => Promise<Response> {
  return writing(kind, `/${kind}`, parts, (request, watched) => write(kind, parts, request, watched, other));
}

async function write(
  kind: WriteKind,
  parts: WriteParts,
  request: Request,
  watched: WatchedRequest | undefined,
  other: OtherHandler | undefined,
): Promise<Response> {
  const { authorizer, intake } = parts;
  const authorization = request.headers.get("authorization");
  const caller = await authorizer.authorize(authorization);
  if (caller === undefined) return failure("invalid_write_key", errorMessages.invalidToken);

  watched?.from({
    ...{ organization: caller.organization.id, token: caller.label },
    idempotencyKey: request.headers.get("idempotency-key"),
  });
  const refused = turnedAway(intake, kind, caller);
  if (refused !== undefined) return refused;

  const body = await readBody(request, kind === "batch" ? limits.batchBytes : limits.bodyBytes);
  if (isInvalid(body)) {
    intake.noteTurnedAway(kind, caller.organization.id, "refused_validation", body.invalid);
    return failure("validation_error", body.invalid);
  }
  const others = other?.(request, body, watched);
  if (others !== undefined) return others;
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
  current.usage.lastUsedAtMs = arrival.receivedAtMs;
  if (kind === "batch") return storeBatch(intake, current.usage.itemsBucket, body, arrival, watched);
  return answer(await intake[kind](body, arrival, watched));
}

function answer(outcome: Outcome): Response {
  const error = errorOf(outcome);
  return error === undefined ? success() : failure(error.name, error.message);
}
