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
import { readSourceBytes, SourceBody } from "./source-body.ts";
import { noteOutcomes, outcomesOf } from "./source-outcomes.ts";
import { tokenInBody, tokenInHead } from "./source-token.ts";
import { turnedAway, type WriteParts, writing } from "./write-steps.ts";

/** What a path of a connected source is. */
export interface SourceRoute {
  /** Whose path it is; which client of several sent, `senderOf` says. */
  readonly source: SourceName;
  readonly path: string;
  /** Who sends, by what the body and the User-Agent header say. */
  readonly senderOf: (body: unknown, userAgent: string | null) => SourceName;
  readonly translate: (body: unknown, delivery: Delivery) => readonly TranslatedItem[] | Invalid;
  /** The 200 that the client knows. */
  readonly success: (sender: SourceName) => Response;
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
  const opened = await openToken(request, authorizer);
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
  const body = opened.body ?? (isInvalid(bytes) ? bytes : SourceBody.parse(bytes));
  // A slow body may take longer than a change of the timezone, or than the token lives.
  const current = await authorizer.authorizeSecret(secret);
  if (current === undefined) return failure("invalid_write_key", errorMessages.invalidToken);
  if (isInvalid(body)) return unreadable(route.source, parts, current, body);
  const sender = route.senderOf(body.value, request.headers.get("user-agent"));
  watched?.sentBy(sender);
  return store(route, parts, { sender, body, caller: current, watched });
}

interface Opened {
  readonly secret: string;
  readonly caller: Caller;
  /** Where it had to be read to find the token. */
  readonly body?: SourceBody;
}

/** Whose request it is, or its refusal. A body that may be anybody's is read up to a lower limit, and only when nothing
 * else says whose it is. */
async function openToken(request: Request, authorizer: Authorizer): Promise<Opened | Response> {
  const shown = tokenInHead(request, authorizer);
  if (shown !== undefined) {
    const caller = await authorizer.authorizeSecret(shown);
    return caller === undefined ? unknownToken() : { secret: shown, caller };
  }
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
  return failure("validation_error", invalid);
}

interface Sent {
  readonly sender: SourceName;
  readonly body: SourceBody;
  readonly caller: Caller;
  readonly watched: WatchedRequest | undefined;
}

/** Stores what the items of a body say. */
async function store(
  route: SourceRoute,
  parts: WriteParts,
  { sender, body, caller, watched }: Sent,
): Promise<Response> {
  const { intake } = parts;
  const { usage, organization, zone } = caller;
  const arrival: Arrival = {
    ...{ organization: organization.id, zone, receivedAtMs: Date.now() },
    // A message of theirs brings its own id.
    idempotencyKey: null,
  };
  usage.lastUsedAtMs = arrival.receivedAtMs;
  const translated = route.translate(body.value, arrival);
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
    translated: body.whyUnstorable(sent) ?? said,
  }));
  const said = items.flatMap(({ translated: one }) => ("items" in one ? one.items : []));
  const decided = said.length === 0 ? [] : await intake.sourced(said, arrival);
  noteOutcomes(sender, arrival, outcomesOf(items, decided), intake, watched);
  return route.success(sender);
}
