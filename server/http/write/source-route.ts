/** A path of a connected source: how its requests are read, translated and answered. */

import type { SourceName } from "../../../contract/sources.ts";
import { type Invalid, isInvalid } from "../../intake/admission/json.ts";
import type { Delivery, TranslatedItem } from "../../sources/source.ts";
import { failure } from "../port/answers.ts";
import type { Authorizer } from "../port/authorize.ts";
import type { BodyBudget } from "../port/body-budget.ts";
import { mostInflated } from "../port/inflate.ts";

/** A path of a connected source. */
export interface SourceRoute {
  /** The owner of the path. `senderOf` tells which of several clients sent. */
  readonly source: SourceName;
  readonly path: string;
  /** The sender, by the body and the User-Agent header. */
  readonly senderOf: (body: unknown, userAgent: string | null) => SourceName;
  /** The bytes of its JSON in those that came, as they were before its client wrapped them. */
  readonly unwrap: (request: Request, bytes: Uint8Array, maxBytes: number) => Uint8Array | Invalid;
  /** The token, where clients put it into the body. Without it the path is a webhook's: sent by a tool's
   * server to an address that was given to it, the token is in the address or in a header, the body may be an
   * array, and only parts of it are kept. */
  readonly tokenIn?: (body: unknown, authorizer: Authorizer) => string | undefined;
  /** The write API has this path too. Its order of checks applies: without a token the answer is 401. */
  readonly isShared?: boolean;
  readonly translate: (
    body: unknown,
    delivery: Delivery,
    sent: SentBody,
  ) => Translation | Promise<Translation>;
  /** Adds the browsers that sent the items of a page, where the tool does not send them as visitors' ids. */
  readonly withVisitors?: (translated: readonly TranslatedItem[]) => readonly TranslatedItem[];
  /** The 200 that the client knows. */
  readonly success: (sender: SourceName, request: Request) => Response;
  /** The answer that the client expects for a body that is too large, if not 400. */
  readonly tooLarge?: (message: string) => Response;
}

type Translation = readonly TranslatedItem[] | Invalid;

/** Input of a translation beside the body. */
export interface SentBody {
  readonly organization: number;
  readonly headers: Headers;
  readonly url: string;
  readonly bytes: Uint8Array;
}

/** Whether a tool's server sends to the path; the token is in the address or in a header then. */
export function isWebhook({ tokenIn }: SourceRoute): boolean {
  return tokenIn === undefined;
}

/** The answer to a body that is not taken. */
export function refusal({ tooLarge }: SourceRoute, { isTooLarge }: Invalid, message: string): Response {
  return isTooLarge && tooLarge !== undefined ? tooLarge(message) : failure("validation_error", message);
}

/** A body without what its client wrapped it in. The budget counts it when it is another one. */
export function unwrapped(
  route: SourceRoute,
  bodies: BodyBudget,
  request: Request,
  bytes: Uint8Array,
  maxBytes: number,
): Uint8Array | Invalid {
  const inflatedBytes = request.headers.has("content-encoding") ? bytes.byteLength : 0;
  const sentBytes = bodies.heldBy(request) - inflatedBytes;
  const inner = route.unwrap(request, bytes, Math.max(inflatedBytes, mostInflated(sentBytes, maxBytes)));
  if (inner !== bytes && !isInvalid(inner)) bodies.reserve(request, inner.byteLength);
  return inner;
}
