/**
 * The way of a connected source's request. The steps are those of the write API, 401, 429, 400, with their clients' rules:
 * the token may be in the body, a bad item never fails the others, and what is answered is what their service answers.
 */
import { errorMessages } from "../../contract/errors.ts";
import { limits } from "../../contract/limits.ts";
import type { SourceName } from "../../contract/sources.ts";
import { type Arrival, type Invalid, isInvalid, type WatchedRequest } from "../intake/intake.ts";
import type { Delivery, TranslatedItem } from "../sources/sources.ts";
import { failure, tooMany } from "./answers.ts";
import type { Authorizer, Caller } from "./authorize.ts";
import { SourceBody, whyRounded, whyTooMuch } from "./source-body.ts";
import { noteOutcomes, storeSourced } from "./source-outcomes.ts";
import { tokenInHead } from "./source-token.ts";
import { turnedAway, type WriteParts, writing } from "./write-steps.ts";

/** What a path of a connected source is. */
export interface SourceRoute {
  /** Whose path it is; which client of several sent, `senderOf` says. */
  readonly source: SourceName;
  readonly path: string;
  /** Who sends, by what the body and the User-Agent header say. */
  readonly senderOf: (body: unknown, userAgent: string | null) => SourceName;
  /** The bytes of its JSON, as they were before its client wrapped them. */
  readonly readBytes: (request: Request, maxBytes: number) => Promise<Uint8Array | Invalid>;
  /** The token, where clients put it into the body. Without it the path is a webhook's: sent by a tool's server to an address
   * that was given to it, the token is in the address or in a header, the body may be an array, and only parts of it are kept. */
  readonly tokenIn?: (body: unknown, authorizer: Authorizer) => string | undefined;
  /** The path is one of the write API too, whose order of checks holds: without a token it is 401 before anything else. */
  readonly isShared?: boolean;
  readonly translate: (
    body: unknown,
    delivery: Delivery,
    sent: SentBody,
  ) => Translation | Promise<Translation>;
  /** The 200 that the client knows. */
  readonly success: (sender: SourceName, request: Request) => Response;
  /** What the client knows of a body that is too large, where that is no 400. */
  readonly tooLarge?: (message: string) => Response;
}

type Translation = readonly TranslatedItem[] | Invalid;

/** What a translation may ask for beside the body. */
export interface SentBody {
  readonly organization: number;
  readonly headers: Headers;
  readonly url: string;
  readonly bytes: Uint8Array;
}

/** Makes the handler of a source's path. */
export function sourceHandler(
  route: SourceRoute,
  parts: WriteParts,
): (request: Request) => Promise<Response> {
  return writing(route.source, route.path, parts, (request, watched) =>
    receive(route, parts, request, watched),
  );
}

/** The steps of a source's request, for those who count and log it themselves. */
export async function receive(
  route: SourceRoute,
  parts: WriteParts,
  request: Request,
  watched: WatchedRequest | undefined,
): Promise<Response> {
  const { authorizer, intake } = parts;
  const opened = await openToken(route, request, authorizer);
  if (opened instanceof Response) return opened;
  const { secret, caller } = opened;
  watched?.from({
    ...{ organization: caller.organization.id, token: caller.label, secret },
    idempotencyKey: request.headers.get("idempotency-key"),
  });
  const refused = turnedAway(intake, route.source, caller);
  if (refused !== undefined) return refused;

  const bytes = opened.bytes ?? (await route.readBytes(request, limits.batchBytes));
  if (!isInvalid(bytes)) watched?.body(bytes);
  const body = isInvalid(bytes) ? bytes : SourceBody.parse(bytes, isWebhook(route));
  // A slow body may take longer than a change of the timezone, or than the token lives.
  const current = await authorizer.authorizeSecret(secret);
  if (current === undefined) return failure("invalid_write_key", errorMessages.invalidToken);
  if (isInvalid(body)) return unreadable(route, parts, current, body);
  // What stands anywhere else in a body, in a property say, lets nobody in.
  if (opened.bytes !== undefined && route.tokenIn?.(body.value, authorizer) !== secret) return unknownToken();
  const sender = route.senderOf(body.value, request.headers.get("user-agent"));
  watched?.sentBy(sender);
  return store(route, parts, { sender, body, caller: current, request, watched });
}

interface Opened {
  readonly secret: string;
  readonly caller: Caller;
  /** The body, where it had to be read to find the token. */
  readonly bytes?: Uint8Array;
}

/** Whose request it is, or its refusal. A body that may be anybody's is read up to a lower limit, and only when nothing
 * else says whose it is. */
async function openToken(
  route: SourceRoute,
  request: Request,
  authorizer: Authorizer,
): Promise<Opened | Response> {
  const shown = tokenInHead(request, authorizer);
  if (shown !== undefined) {
    const caller = await authorizer.authorizeSecret(shown);
    return caller === undefined ? unknownToken() : { secret: shown, caller };
  }
  const { tokenIn, isShared } = route;
  if (tokenIn === undefined) return unknownToken();
  const bytes = await route.readBytes(request, isShared ? limits.batchBytes : limits.openBodyBytes);
  if (isInvalid(bytes)) {
    if (isShared) return unknownToken();
    return refusal(route, bytes, `${bytes.invalid} With the token in a header it may be larger.`);
  }
  // What has no token anywhere is not worth being parsed, and whose it is decides how often it may be.
  const callers = await authorizer.callersIn(bytes);
  const [[secret, caller] = []] = callers;
  if (secret === undefined || caller === undefined) return unknownToken();
  if (callers.size === 1) return { secret, caller, bytes };
  const body = SourceBody.parse(bytes);
  const said = isInvalid(body) ? undefined : tokenIn(body.value, authorizer);
  const sayer = said === undefined ? undefined : callers.get(said);
  return said === undefined || sayer === undefined ? unknownToken() : { secret: said, caller: sayer, bytes };
}

function unknownToken(): Response {
  return failure("invalid_write_key", errorMessages.invalidToken);
}

function isWebhook({ tokenIn }: SourceRoute): boolean {
  return tokenIn === undefined;
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

function refusal({ tooLarge }: SourceRoute, { isTooLarge }: Invalid, message: string): Response {
  return isTooLarge && tooLarge !== undefined ? tooLarge(message) : failure("validation_error", message);
}

interface Sent {
  readonly sender: SourceName;
  readonly body: SourceBody;
  readonly caller: Caller;
  readonly request: Request;
  readonly watched: WatchedRequest | undefined;
}

/** Stores what the items of a body say. */
async function store(
  route: SourceRoute,
  parts: WriteParts,
  { sender, body, caller, request, watched }: Sent,
): Promise<Response> {
  const { intake } = parts;
  const { usage, organization, zone } = caller;
  const arrival: Arrival = {
    ...{ organization: organization.id, zone, receivedAtMs: Date.now() },
    // A message of theirs brings its own id.
    idempotencyKey: null,
  };
  usage.lastUsedAtMs = arrival.receivedAtMs;
  const { headers, url } = request;
  const beside = { organization: organization.id, headers, url, bytes: body.bytes };
  const translated = await route.translate(body.value, arrival, beside);
  const ofSender = { ...route, source: sender };
  if (isInvalid(translated)) return unreadable(ofSender, parts, caller, translated);
  const tooMuch = isWebhook(route) ? whyTooMuch(translated) : undefined;
  if (tooMuch !== undefined) return unreadable(ofSender, parts, caller, tooMuch);
  const waitSeconds = usage.itemsBucket.takeInAdvance(performance.now(), translated.length);
  if (waitSeconds > 0) {
    intake.noteTurnedAway(sender, organization.id, "rate_limited", errorMessages.tooManyItems);
    return tooMany(errorMessages.tooManyItems, waitSeconds, usage.itemsBucket.perSecond);
  }
  const items = translated.map(({ sent, translated: said }) => ({
    sent,
    translated: (isWebhook(route) ? whyRounded(said) : body.whyUnstorable(sent)) ?? said,
  }));
  const outcomes = await storeSourced(items, arrival, sender, intake);
  noteOutcomes(sender, organization.id, outcomes, { intake, watched });
  return route.success(sender, request);
}
