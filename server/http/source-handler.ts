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
import { readSourceBytes, SourceBody, whyRounded } from "./source-body.ts";
import { noteOutcomes, storeSourced } from "./source-outcomes.ts";
import { tokenInBody, tokenInHead } from "./source-token.ts";
import { turnedAway, type WriteParts, writing } from "./write-steps.ts";

/** What a path of a connected source is. */
export interface SourceRoute {
  /** Whose path it is; which client of several sent, `senderOf` says. */
  readonly source: SourceName;
  readonly path: string;
  /** Who sends, by what the body and the User-Agent header say. */
  readonly senderOf: (body: unknown, userAgent: string | null) => SourceName;
  readonly translate: (
    body: unknown,
    delivery: Delivery,
    sent: SentBody,
  ) => Translation | Promise<Translation>;
  /** Sent by a tool's server to an address that was given to it: the token is in the address or in a header, the body may
   * be an array, and only parts of it are kept. */
  readonly isWebhook?: boolean;
  /** The 200 that the client knows. */
  readonly success: (sender: SourceName) => Response;
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

async function receive(
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

  const bytes = opened.body?.bytes ?? (await readSourceBytes(request, limits.batchBytes));
  if (!isInvalid(bytes)) watched?.body(bytes);
  const body = opened.body ?? (isInvalid(bytes) ? bytes : SourceBody.parse(bytes, route.isWebhook));
  // A slow body may take longer than a change of the timezone, or than the token lives.
  const current = await authorizer.authorizeSecret(secret);
  if (current === undefined) return failure("invalid_write_key", errorMessages.invalidToken);
  if (isInvalid(body)) return unreadable(route.source, parts, current, body);
  const sender = route.senderOf(body.value, request.headers.get("user-agent"));
  watched?.sentBy(sender);
  return store(route, parts, { sender, body, caller: current, request, watched });
}

interface Opened {
  readonly secret: string;
  readonly caller: Caller;
  /** Where it had to be read to find the token. */
  readonly body?: SourceBody;
}

/** Whose request it is, or its refusal. A body that may be anybody's is read up to a lower limit, and only when nothing
 * else says whose it is. */
async function openToken(
  { isWebhook }: SourceRoute,
  request: Request,
  authorizer: Authorizer,
): Promise<Opened | Response> {
  const shown = tokenInHead(request, authorizer);
  if (shown !== undefined) {
    const caller = await authorizer.authorizeSecret(shown);
    return caller === undefined ? unknownToken() : { secret: shown, caller };
  }
  if (isWebhook) return unknownToken();
  const bytes = await readSourceBytes(request, limits.openBodyBytes);
  if (isInvalid(bytes)) {
    return failure("validation_error", `${bytes.invalid} With the token in a header it may be larger.`);
  }
  // What has no token anywhere is not worth being parsed.
  const body = authorizer.mayHoldSecret(bytes) ? SourceBody.parse(bytes) : undefined;
  const secret = body instanceof SourceBody ? tokenInBody(body.value, authorizer) : undefined;
  const caller = secret === undefined ? undefined : await authorizer.authorizeSecret(secret);
  if (!(body instanceof SourceBody) || secret === undefined || caller === undefined) return unknownToken();
  return { secret, caller, body };
}

function unknownToken(): Response {
  return failure("invalid_write_key", errorMessages.invalidToken);
}

function unreadable(
  source: SourceName,
  { intake }: WriteParts,
  { organization }: Caller,
  { invalid }: Invalid,
): Response {
  intake.noteTurnedAway(source, organization.id, "refused_validation", invalid);
  intake.countSourced(source, organization.id, "rejected");
  return failure("validation_error", invalid);
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
  if (isInvalid(translated)) return unreadable(sender, parts, caller, translated);
  if (translated.length > limits.sourceItems) {
    const invalid = `body has more than ${limits.sourceItems} messages: send fewer.`;
    return unreadable(sender, parts, caller, { invalid });
  }
  const waitSeconds = usage.itemsBucket.takeInAdvance(performance.now(), translated.length);
  if (waitSeconds > 0) {
    intake.noteTurnedAway(sender, organization.id, "rate_limited", errorMessages.tooManyItems);
    return tooMany(errorMessages.tooManyItems, waitSeconds, usage.itemsBucket.perSecond);
  }
  const items = translated.map(({ sent, translated: said }) => ({
    sent,
    translated: (route.isWebhook ? whyRounded(said) : body.whyUnstorable(sent)) ?? said,
  }));
  const outcomes = await storeSourced(items, arrival, sender, intake);
  noteOutcomes(sender, organization.id, outcomes, { intake, watched });
  return route.success(sender);
}
