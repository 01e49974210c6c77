/** Finds the caller of a connected source's request: the token is in the head, or the body has to be read for it. */
import { limits } from "../../../contract/limits.ts";
import { type Invalid, isInvalid } from "../../intake/intake.ts";
import type { Authorizer, Caller } from "../port/authorize.ts";
import { inflateBody, readSentBody } from "../port/body.ts";
import { SourceBody } from "./source-body.ts";
import { isWebhook, refusal, type SourceRoute, unwrapped } from "./source-route.ts";
import { tokenInHead } from "./source-token.ts";
import type { Received, WriteParts } from "./write-steps.ts";

interface Opened {
  readonly secret: string;
  readonly caller: Caller;
  /** The body, where it had to be read to find the token. */
  readonly bytes?: Uint8Array;
  readonly isOpenedByBody?: true;
}

/** The caller of a request, or its refusal. A body is read only when the token is nowhere else, and up to a lower limit. */
export async function openToken(
  route: SourceRoute,
  parts: WriteParts,
  received: Received,
): Promise<Opened | Response> {
  const { authorizer, unknownTokens } = parts;
  const { request, connection } = received;
  const shown = tokenInHead(request, authorizer);
  if (shown !== undefined) {
    const caller = await authorizer.authorizeSecret(shown);
    // A webhook says what a company's own tools know: a token that everybody can read is none there.
    const isLetIn = caller !== undefined && !(caller.isBrowser && isWebhook(route));
    return isLetIn ? { secret: shown, caller } : unknownTokens.answer(request, connection);
  }
  if (route.tokenIn === undefined) return unknownTokens.answer(request, connection);
  const bytes = await readOpenBody(route, parts, received);
  if (bytes instanceof Response) return bytes;
  const opened = await openBody(route, authorizer, bytes);
  if (opened !== undefined) {
    parts.bodies.known(request);
    return { ...opened, bytes, isOpenedByBody: true };
  }
  return unknownTokens.answer(request, connection, { bodyBytes: parts.bodies.heldBy(request) });
}

/** The body of a request whose token can only be in it. An address is charged for a body that it does not send to its end,
 * too, or that finds no room. */
async function readOpenBody(
  route: SourceRoute,
  parts: WriteParts,
  received: Received,
): Promise<Uint8Array | Response> {
  const { bodies, unknownTokens } = parts;
  const { request, connection } = received;
  const before = unknownTokens.refusal(request, connection);
  if (before !== undefined) return before;
  // A connection that has ended has no address any more.
  const address = unknownTokens.addressOf(request, connection);
  bodies.open(request);
  try {
    return await openBytes(route, parts, received);
  } catch (error) {
    unknownTokens.charge(address, bodies.heldBy(request));
    throw error;
  }
}

/** Reads and inflates an open body. The address's bucket is asked again between the two: many may have been read at once. */
async function openBytes(
  route: SourceRoute,
  { bodies, unknownTokens }: WriteParts,
  { request, connection }: Received,
): Promise<Uint8Array | Response> {
  const maxBytes = limits.openBodyBytes;
  const sent = await readSentBody(request, maxBytes, bodies);
  const after = unknownTokens.refusal(request, connection);
  if (after !== undefined) return after;
  const inflated = isInvalid(sent) ? sent : inflateBody(request, sent, maxBytes, bodies);
  const bytes = isInvalid(inflated) ? inflated : unwrapped(route, bodies, request, inflated, maxBytes);
  if (!isInvalid(bytes)) return bytes;
  return unknownTokens.answer(request, connection, {
    // A small body may have been inflated up to the limit.
    bodyBytes: bodies.heldBy(request) === 0 ? 0 : maxBytes,
    otherwise: openRefusal(route, request, bytes),
  });
}

/** The secret in a body, and its caller; undefined when it has none, or several and none where it belongs. */
async function openBody(
  { tokenIn }: SourceRoute,
  authorizer: Authorizer,
  bytes: Uint8Array,
): Promise<Pick<Opened, "secret" | "caller"> | undefined> {
  // A body without any token is not worth being parsed.
  const callers = await authorizer.callersIn(bytes);
  const [[secret, caller] = []] = callers;
  if (secret === undefined || caller === undefined) return undefined;
  if (callers.size === 1) return { secret, caller };
  const body = SourceBody.parse(bytes);
  const said = isInvalid(body) ? undefined : tokenIn?.(body.value, authorizer);
  const sayer = said === undefined ? undefined : callers.get(said);
  return said === undefined || sayer === undefined ? undefined : { secret: said, caller: sayer };
}

/** The answer to an unreadable body without a token in its head; undefined: the 401 of the write API, which has the path too. */
function openRefusal(route: SourceRoute, { headers }: Request, why: Invalid): Response | undefined {
  // PostHog's clients send the same in halves when they are told that it is too large.
  if (route.isShared && !(why.isTooLarge && isOfPosthog(headers))) return undefined;
  return refusal(route, why, `${why.invalid} With the token in a header it may be larger.`);
}

function isOfPosthog(headers: Headers): boolean {
  return headers.get("user-agent")?.startsWith("posthog-") ?? false;
}
