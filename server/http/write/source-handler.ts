/**
 * The request path of a connected source. The steps are those of the write API (401, 429, 400) with the rules
 * of the source's clients: the token may be in the body, a bad item never rejects the others, and the answer
 * is the one that the tool gives.
 */
import { errorMessages } from "../../../contract/errors.ts";
import { limits } from "../../../contract/limits.ts";
import type { SourceName } from "../../../contract/sources.ts";
import type { Arrival } from "../../intake/admission/admit-event.ts";
import { type Invalid, isInvalid, type ParsedObject, type Turn } from "../../intake/admission/json.ts";
import { slicesOf } from "../../intake/admission/slices.ts";
import type { Sender, WatchedRequest } from "../../intake/watched-request.ts";
import { tooMany, unknownToken } from "../port/answers.ts";
import type { Authorizer, Caller } from "../port/authorize.ts";
import { inflateBody, readBody, readSentBody } from "../port/body.ts";
import type { Handler } from "../port/handler.ts";
import { SourceBody, whyTooMuch } from "./source-body.ts";
import { type KeptItem, storeSourced } from "./source-outcomes.ts";
import { isWebhook, refusal, type SourceRoute, unwrapped } from "./source-route.ts";
import { tokenInHead } from "./source-token.ts";
import { noteServerToken, overLimit, type Received, type WriteParts, whileClosed, writing } from "./write.ts";

/** A path of a source, with the services that answer it. */
interface SourceParts extends WriteParts {
  readonly route: SourceRoute;
}

/** Makes the handler of a source's path. */
export function sourceHandler(route: SourceRoute, parts: WriteParts): Handler {
  return writing(route.source, route.path, parts, (received) => receive({ ...parts, route }, received));
}

async function receive(parts: SourceParts, received: Received): Promise<Response> {
  const opened = await openToken(parts, received);
  if (opened instanceof Response) return opened;
  const { request, watched } = received;
  watched?.from(senderIn(request, opened));
  const refused = overLimit(parts.intake, parts.route.source, opened.caller);
  if (refused !== undefined) return refused;
  const bytes = opened.bytes ?? (await readBytes(parts, request));
  return receiveBytes(parts, { ...opened, request, watched, bytes });
}

interface Opened {
  readonly secret: string;
  readonly caller: Caller;
  /** The body, if it was read to find the token. */
  readonly bytes?: Uint8Array;
  readonly isOpenedByBody?: true;
}

/** The caller of a request, or its refusal. A body is read only when the head has no token, and up to a lower
 * limit. */
async function openToken(parts: SourceParts, received: Received): Promise<Opened | Response> {
  const { route, authorizer, unknownTokens } = parts;
  const { request, connection } = received;
  const secretInHead = tokenInHead(request, authorizer);
  if (secretInHead !== undefined) {
    const caller = await authorizer.authorizeSecret(secretInHead);
    // A webhook carries data of a company's own tools. A browser token is public, so it cannot send one.
    const isAccepted = caller !== undefined && !(caller.isBrowser && isWebhook(route));
    return isAccepted ? { secret: secretInHead, caller } : unknownTokens.answer(request, connection);
  }
  if (route.tokenIn === undefined) return unknownTokens.answer(request, connection);
  const bytes = await readOpenBody(parts, received);
  if (bytes instanceof Response) return bytes;
  const opened = await openBody(route, authorizer, bytes, () => parts.bodies.turn(request));
  if (opened !== undefined) {
    parts.bodies.known(request);
    return { ...opened, bytes, isOpenedByBody: true };
  }
  return unknownTokens.answer(request, connection, { bodyBytes: parts.bodies.heldBy(request) });
}

/** What is read of a body, before and inflated, whose address has sent too much without a known token. A
 * small body costs less than 0.2 ms, and others behind the same proxy would otherwise keep out a known token
 * in it. */
const heldUpBodyBytes = 64 * 1024;

/** The body of a request whose token can only be in it. The client's address is also charged for a body that
 * it does not finish, and for one that finds no room. */
async function readOpenBody(parts: SourceParts, received: Received): Promise<Uint8Array | Response> {
  const { bodies, unknownTokens } = parts;
  const { request, connection } = received;
  // A closed connection has no address any more.
  const address = unknownTokens.addressOf(request, connection);
  bodies.open(request);
  try {
    return await openBytes(parts, received);
  } catch (error) {
    unknownTokens.charge(address, bodies.heldBy(request));
    throw error;
  }
}

/** Reads and inflates an open body. The address's bucket is asked before and between the two, because many
 * bodies may have been read at once. */
async function openBytes(
  { route, bodies, unknownTokens }: SourceParts,
  { request, connection }: Received,
): Promise<Uint8Array | Response> {
  const most = () =>
    unknownTokens.refusal(request, connection) === undefined ? limits.openBodyBytes : heldUpBodyBytes;
  const sent = await readSentBody(request, most(), bodies);
  const maxBytes = most();
  const inflated = isInvalid(sent) ? sent : inflateBody(request, sent, maxBytes, bodies);
  const bytes = isInvalid(inflated) ? inflated : unwrapped(route, bodies, request, inflated, maxBytes);
  await bodies.turn(request);
  if (!isInvalid(bytes)) return bytes;
  return unknownTokens.answer(request, connection, {
    // A small body may have been inflated up to the limit.
    bodyBytes: bodies.heldBy(request) === 0 ? 0 : maxBytes,
    otherwise: openRefusal(route, request, bytes),
  });
}

/** The secret in a body, and its caller. Undefined when the body has no valid secret. Of several valid
 * secrets only the one in the source's own field counts. */
async function openBody(
  { tokenIn }: SourceRoute,
  authorizer: Authorizer,
  bytes: Uint8Array,
  turn: Turn,
): Promise<Pick<Opened, "secret" | "caller"> | undefined> {
  // A body without any token is not parsed.
  const callers = await authorizer.callersIn(bytes);
  const [[secret, caller] = []] = callers;
  if (secret === undefined || caller === undefined) return undefined;
  if (callers.size === 1) return { secret, caller };
  const body = await SourceBody.parse(bytes, turn);
  const named = isInvalid(body) ? undefined : tokenIn?.(body.value, authorizer);
  const callerNamed = named === undefined ? undefined : callers.get(named);
  return named === undefined || callerNamed === undefined
    ? undefined
    : { secret: named, caller: callerNamed };
}

/** The answer to an unreadable body without a token in its head. Undefined means the 401 of the write API,
 * which shares the path. */
function openRefusal(route: SourceRoute, { headers }: Request, why: Invalid): Response | undefined {
  // PostHog's clients send a body again in halves when they are told that it is too large.
  const isOfPosthog = headers.get("user-agent")?.startsWith("posthog-") ?? false;
  if (route.isShared && !(why.isTooLarge && isOfPosthog)) return undefined;
  return refusal(route, why, `${why.invalid} With the token in a header it may be larger.`);
}

/** A source's request after authorization, and its body. */
interface Authorized extends Opened {
  readonly request: Request;
  readonly watched: WatchedRequest | undefined;
}

interface WithBody extends Omit<Authorized, "bytes"> {
  readonly bytes: Uint8Array | Invalid;
  /** The body as JSON, if it was parsed already. */
  readonly parsed?: ParsedObject;
}

/** The steps of a source's request after authorization. */
export async function receiveBytes(parts: SourceParts, received: WithBody): Promise<Response> {
  const { request, watched, secret, bytes, parsed } = received;
  const { route, authorizer } = parts;
  if (!isInvalid(bytes)) watched?.body(bytes);
  const turn = () => parts.bodies.turn(request);
  const body = isInvalid(bytes)
    ? bytes
    : await SourceBody.parse(bytes, turn, { mayBeAny: isWebhook(route), parsed });
  // While a slow body was read, the timezone may have changed or the token may have been revoked.
  const current = await authorizer.authorizeSecret(secret);
  if (current === undefined) return unknownToken();
  if (isInvalid(body)) return unreadable(parts, current, body);
  // Only a token in the expected field counts; one inside event properties does not authenticate.
  if (received.isOpenedByBody && route.tokenIn?.(body.value, authorizer) !== secret) return unknownToken();
  const sender = route.senderOf(body.value, request.headers.get("user-agent"));
  watched?.sentBy(sender);
  if (!isWebhook(route)) noteServerToken(parts.intake, sender, current, request);
  return store(parts, { sender, body, secret, caller: current, request, watched });
}

/** The sender of a request for the live view, which hides the token in the payload. */
export function senderIn(request: Request, { secret, caller }: Pick<Opened, "secret" | "caller">): Sender {
  return {
    organization: caller.organization.id,
    token: caller.label,
    secret,
    idempotencyKey: request.headers.get("idempotency-key"),
  };
}

async function readBytes({ route, bodies }: SourceParts, request: Request): Promise<Uint8Array | Invalid> {
  const bytes = await readBody(request, limits.batchBytes, bodies);
  return isInvalid(bytes) ? bytes : unwrapped(route, bodies, request, bytes, limits.batchBytes);
}

/** @param sender once it is known, else the owner of the path */
function unreadable(
  { route, intake }: SourceParts,
  { organization }: Caller,
  why: Invalid,
  sender = route.source,
): Response {
  intake.noteRefused(sender, organization.id, "refused_validation", why.invalid);
  intake.countSourced(sender, organization.id, "rejected");
  return refusal(route, why, why.invalid);
}

interface Sent extends Omit<Authorized, "bytes"> {
  readonly sender: SourceName;
  readonly body: SourceBody;
}

/** Translates the items of a body and stores them. */
async function store(
  parts: SourceParts,
  { sender, body, secret, caller, request, watched }: Sent,
): Promise<Response> {
  const { route, authorizer, intake } = parts;
  const { usage, organization } = caller;
  const receivedAtMs = parts.nowMs();
  usage.lastUsedAtMs = receivedAtMs;
  const { headers, url } = request;
  const sent = { organization: organization.id, headers, url, bytes: body.bytes };
  const translated = await route.translate(body.value, { receivedAtMs }, sent);
  if (isInvalid(translated)) return unreadable(parts, caller, translated, sender);
  if (isWebhook(route)) await parts.bodies.turn(request);
  const tooMuch = isWebhook(route) ? whyTooMuch(translated) : undefined;
  if (tooMuch !== undefined) return unreadable(parts, caller, tooMuch, sender);
  const waitSeconds = usage.itemsBucket.takeInAdvance(performance.now(), translated.length);
  if (waitSeconds > 0) {
    intake.noteRefused(sender, organization.id, "rate_limited", errorMessages.tooManyItems);
    return tooMany(errorMessages.tooManyItems, waitSeconds, usage.itemsBucket.perSecond);
  }
  const ofPage = caller.isBrowser ? (route.withVisitors?.(translated) ?? translated) : translated;
  const items: KeptItem[] = [];
  for (const slice of slicesOf(ofPage, body.bytes.byteLength)) {
    for (const { sent: item, translated: result } of slice) {
      const translated = (isWebhook(route) ? undefined : body.whyUnstorable(item)) ?? result;
      items.push({ sent: item, translated, changed: body.changedIn(translated, items.length) });
    }
    await parts.bodies.turn(request);
  }
  // A translation and a turn take a while. Meanwhile the timezone may have changed or the token may have been
  // revoked. From here to the commit's group the event loop has no turn, so `settled` also waits for this
  // request.
  const current = await authorizer.authorizeSecret(secret);
  if (current === undefined) return unknownToken();
  const closed = whileClosed(intake, organization.id);
  if (closed !== undefined) return closed;
  // Each item of a source has its own message id.
  const arrival: Arrival = {
    organization: organization.id,
    zone: current.zone,
    receivedAtMs,
    idempotencyKey: null,
    isBrowser: caller.isBrowser,
    mayJoin: caller.rights.includes("join"),
  };
  await storeSourced(items, arrival, sender, { intake, watched });
  return route.success(sender, request);
}
