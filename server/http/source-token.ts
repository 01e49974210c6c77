/**
 * Where a connected source's client has the project token: it can only send it as it sends its own tool's key. Headers and
 * the address are looked at first, because they can be read before the body is.
 */
import { isJsonObject } from "../ledger/ledger.ts";
import type { Authorizer } from "./authorize.ts";

/** The token of a request's head: Authorization (Basic rk-…, Basic base64("rk-…:"), Bearer rk-…), X-Write-Key, or
 * `writeKey` in the address, which is all that a beacon can carry. Undefined when there is none. */
export function tokenInHead({ headers, url }: Request, authorizer: Authorizer): string | undefined {
  const authorization = headers.get("authorization");
  const inHeader = authorization === null ? undefined : authorizer.secretIn(authorization);
  if (inHeader !== undefined) return inHeader;
  const question = url.indexOf("?");
  const inAddress = question < 0 ? null : new URLSearchParams(url.slice(question)).get("writeKey");
  const found = [headers.get("x-write-key"), inAddress];
  return found.find((text): text is string => text !== null && authorizer.canBeSecret(text));
}

/** The token in a body: `writeKey` beside the messages, or in one of them. */
export function tokenInBody(body: unknown, authorizer: Authorizer): string | undefined {
  if (!isJsonObject(body)) return undefined;
  const messages: readonly unknown[] = Array.isArray(body.batch) ? body.batch : [];
  for (const holder of [body, ...messages]) {
    const text = isJsonObject(holder) ? holder.writeKey : undefined;
    if (typeof text === "string" && authorizer.canBeSecret(text)) return text;
  }
  return undefined;
}
