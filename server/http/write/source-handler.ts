/**
 * The way of a connected source's request. The steps are those of the write API, 401, 429, 400, with their clients' rules:
 * the token may be in the body, a bad item never fails the others, and what is answered is what their service answers.
 */
import { errorMessages } from "../../../contract/errors.ts";
import { limits } from "../../../contract/limits.ts";
import type { SourceName } from "../../../contract/sources.ts";
import {
  type Arrival,
  type Invalid,
  isInvalid,
  type ParsedObject,
  type Sender,
  type WatchedRequest,
} from "../../intake/intake.ts";
import { failure, tooMany } from "../port/answers.ts";
import type { Caller } from "../port/authorize.ts";
import { readBody } from "../port/body.ts";
import type { Connection } from "../port/routes.ts";
import { SourceBody, whyRounded, whyTooMuch } from "./source-body.ts";
import { openToken } from "./source-opening.ts";
import { storeSourced } from "./source-outcomes.ts";
import { isWebhook, refusal, type SourceRoute, unwrapped } from "./source-route.ts";
import { type Received, turnedAway, type WriteParts, whileClosed, writing } from "./write-steps.ts";

/** Makes the handler of a source's path. */
export function sourceHandler(
  route: SourceRoute,
  parts: WriteParts,
): (request: Request, connection: Connection) => Promise<Response> {
  return writing(route.source, route.path, parts, (received) => receive(route, parts, received));
}

async function receive(route: SourceRoute, parts: WriteParts, received: Received): Promise<Response> {
  const opened = await openToken(route, parts, received);
  if (opened instanceof Response) return opened;
  const { request, watched } = received;
  watched?.from(senderIn(request, opened));
  const refused = turnedAway(parts.intake, route.source, opened.caller);
  if (refused !== undefined) return refused;
  const bytes = opened.bytes ?? (await readBytes(route, parts, request));
  return receiveBytes(route, parts, { ...opened, request, watched, bytes });
}

/** A source's request that was let in, and its body. */
export interface LetIn {
  readonly request: Request;
  readonly watched: WatchedRequest | undefined;
  readonly secret: string;
  readonly caller: Caller;
  readonly bytes: Uint8Array | Invalid;
  /** The body as JSON, where it was parsed already. */
  readonly parsed?: ParsedObject;
  /** The token was found in the body: it has to stand where it belongs. */
  readonly isOpenedByBody?: true;
}

/** The steps of a source's request after those that let it in. */
export async function receiveBytes(route: SourceRoute, parts: WriteParts, letIn: LetIn): Promise<Response> {
  const { request, watched, secret, bytes, parsed } = letIn;
  const { authorizer } = parts;
  if (!isInvalid(bytes)) watched?.body(bytes);
  const body = isInvalid(bytes) ? bytes : SourceBody.parse(bytes, { mayBeAny: isWebhook(route), parsed });
  // A slow body may take longer than a change of the timezone, or than the token lives.
  const current = await authorizer.authorizeSecret(secret);
  if (current === undefined) return unknownToken();
  if (isInvalid(body)) return unreadable(route, parts, current, body);
  // A token that stands anywhere else in a body, in a property say, lets nobody in.
  if (letIn.isOpenedByBody && route.tokenIn?.(body.value, authorizer) !== secret) return unknownToken();
  const sender = route.senderOf(body.value, request.headers.get("user-agent"));
  watched?.sentBy(sender);
  return store(route, parts, { sender, body, secret, caller: current, request, watched });
}

/** A request of a sender whose token may be in what is shown. */
export function senderIn(request: Request, { secret, caller }: Pick<LetIn, "secret" | "caller">): Sender {
  return {
    ...{ organization: caller.organization.id, token: caller.label, secret },
    idempotencyKey: request.headers.get("idempotency-key"),
  };
}

async function readBytes(
  route: SourceRoute,
  { bodies }: WriteParts,
  request: Request,
): Promise<Uint8Array | Invalid> {
  const bytes = await readBody(request, limits.batchBytes, bodies);
  return isInvalid(bytes) ? bytes : unwrapped(route, bodies, request, bytes, limits.batchBytes);
}

function unknownToken(): Response {
  return failure("invalid_write_key", errorMessages.invalidToken);
}

/** @param route with the sender as its source, once that is known */
function unreadable(
  route: SourceRoute,
  { intake }: WriteParts,
  { organization }: Caller,
  why: Invalid,
): Response {
  intake.noteTurnedAway(route.source, organization.id, "refused_validation", why.invalid);
  intake.countSourced(route.source, organization.id, "rejected");
  return refusal(route, why, why.invalid);
}

interface Sent {
  readonly sender: SourceName;
  readonly body: SourceBody;
  readonly secret: string;
  readonly caller: Caller;
  readonly request: Request;
  readonly watched: WatchedRequest | undefined;
}

/** Stores what the items of a body say. */
async function store(
  route: SourceRoute,
  parts: WriteParts,
  { sender, body, secret, caller, request, watched }: Sent,
): Promise<Response> {
  const { authorizer, intake } = parts;
  const { usage, organization } = caller;
  const receivedAtMs = Date.now();
  usage.lastUsedAtMs = receivedAtMs;
  const { headers, url } = request;
  const beside = { organization: organization.id, headers, url, bytes: body.bytes };
  const translated = await route.translate(body.value, { receivedAtMs }, beside);
  // A translation may wait for the ledger longer than a change of the timezone takes, or than the token lives. From here to
  // the commit's group the event loop has no turn: whatever waits for requests under way waits for this one.
  const current = await authorizer.authorizeSecret(secret);
  if (current === undefined) return unknownToken();
  const ofSender = { ...route, source: sender };
  if (isInvalid(translated)) return unreadable(ofSender, parts, caller, translated);
  const tooMuch = isWebhook(route) ? whyTooMuch(translated) : undefined;
  if (tooMuch !== undefined) return unreadable(ofSender, parts, caller, tooMuch);
  const closed = whileClosed(intake, organization.id);
  if (closed !== undefined) return closed;
  const waitSeconds = usage.itemsBucket.takeInAdvance(performance.now(), translated.length);
  if (waitSeconds > 0) {
    intake.noteTurnedAway(sender, organization.id, "rate_limited", errorMessages.tooManyItems);
    return tooMany(errorMessages.tooManyItems, waitSeconds, usage.itemsBucket.perSecond);
  }
  const items = translated.map(({ sent, translated: said }, index) => ({
    sent,
    translated: (isWebhook(route) ? whyRounded(said) : body.whyUnstorable(sent, index)) ?? said,
  }));
  // A message of theirs brings its own id.
  const arrival: Arrival = {
    ...{ organization: organization.id, zone: current.zone, receivedAtMs },
    ...{ idempotencyKey: null, isBrowser: caller.isBrowser },
  };
  await storeSourced(items, arrival, sender, { intake, watched });
  return route.success(sender, request);
}
