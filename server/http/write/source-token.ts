/**
 * Where a connected source's client has the project token: it can only send it as it sends its own tool's
 * key. Headers and the address are looked at first, because they can be read before the body is.
 */
import { isJsonObject } from "../../../contract/json.ts";
import type { Authorizer } from "../port/authorize.ts";

/** The token of a request's head: Authorization (Basic rk-…, Basic base64("rk-…:"), Bearer rk-…),
 * X-Write-Key, OpenPanel's client id, or `writeKey` or `token` in the address, which is all that a beacon
 * can carry; of a webhook the end of the address. Undefined when there is none. */
export function tokenInHead({ headers, url }: Request, authorizer: Authorizer): string | undefined {
  const authorization = headers.get("authorization");
  const inHeader = authorization === null ? undefined : authorizer.secretIn(authorization);
  if (inHeader !== undefined) return inHeader;
  const question = url.indexOf("?");
  const parameters = question < 0 ? undefined : new URLSearchParams(url.slice(question));
  const inAddress = [parameters?.get("writeKey"), parameters?.get("token"), webhookAddress(url)?.token];
  // Jitsu's client refuses a key without a colon. A token has none.
  const inOwnHeaders = ["x-write-key", "openpanel-client-id"].flatMap((name) =>
    headers.get(name)?.split(":"),
  );
  const found = [...inOwnHeaders, ...inAddress];
  return found.find((text): text is string => typeof text === "string" && authorizer.canBeSecret(text));
}

/** Where webhooks are sent: this, the webhook's name, and its token. */
export const webhookPrefix = "/v1/webhooks/";

const webhookName = /^[a-z0-9][a-z0-9_-]{0,39}$/;

/** The name of a webhook in a request's address, and the token, which is the end of the address where no
 * header can be set; undefined when it is not a webhook's. */
export function webhookAddress(
  url: string,
): { readonly name: string; readonly token: string | undefined } | undefined {
  const start = url.indexOf(webhookPrefix);
  const end = url.search(/[?#]/);
  if (start < 0 || (end >= 0 && start > end)) return undefined;
  const path = url.slice(start + webhookPrefix.length, end < 0 ? undefined : end);
  const nameEnd = path.indexOf("/");
  const name = nameEnd < 0 ? path : path.slice(0, nameEnd);
  if (!webhookName.test(name)) return undefined;
  const token = nameEnd < 0 ? undefined : path.slice(nameEnd).replace(/^\/+|(?<!\/)\/+$/g, "");
  return token?.includes("/") ? undefined : { name, token };
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
