/**
 * By which names pages and sessions are reached. A page of another site can have its own name lead to this
 * address (DNS rebinding) and would then count as our own page. PUBLIC_URL says the name; without it a
 * service that listens on the loopback address has loopback names. Ports are not compared: proxies leave them
 * out or add their own.
 */
import { errorMessages } from "../../../contract/errors.ts";
import type { Config } from "../../config.ts";
import { failure } from "./answers.ts";

/** A year: browsers keep to https for so long after a page. */
const strictTransport = "max-age=31536000";

/** A Host header: a name or an address, and perhaps a port. */
const hostForm = /^[^\s/\\?#@,]+$/;

export class PageHost {
  readonly #isHttps: boolean;
  /** Undefined: any name. */
  readonly #isOurs: ((name: string) => boolean) | undefined;
  readonly #message: string;

  constructor({ publicUrl, isPublicUrlSet }: Pick<Config, "publicUrl" | "isPublicUrlSet">) {
    // Without PUBLIC_URL it is made of HOST.
    const own = new URL(publicUrl).hostname;
    this.#isHttps = publicUrl.startsWith("https:");
    this.#message = errorMessages.wrongHost.replace("PUBLIC_ADDRESS", publicUrl);
    if (isLoopback(own)) this.#isOurs = isLoopback;
    else if (isPublicUrlSet) this.#isOurs = (name) => name === own;
  }

  /** The answer to a request by another name; undefined for one that may pass. */
  refuse(request: Request): Response | undefined {
    if (this.#isOurs === undefined) return undefined;
    const name = nameOf(request.headers.get("host") ?? "");
    if (name !== undefined && this.#isOurs(name)) return undefined;
    return failure("forbidden", this.#message);
  }

  /** The handler of a page: by our names only, and by https for good where that is how the service is
   * reached. */
  page<Result extends Response>(handler: (request: Request) => Result): (request: Request) => Response {
    return (request) => {
      const refused = this.refuse(request);
      if (refused !== undefined) return refused;
      const response = handler(request);
      if (this.#isHttps) response.headers.set("Strict-Transport-Security", strictTransport);
      return response;
    };
  }
}

/** Whether a request has two Host headers, which Bun joins by a comma: a proxy may have looked at the other
 * one. */
export function hasTwoHosts(request: Request): boolean {
  return request.headers.get("host")?.includes(",") ?? false;
}

/** The name in a Host header, in small letters; undefined when it is none. */
function nameOf(host: string): string | undefined {
  if (!hostForm.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  return new URL(`http://${host}`).hostname.replace(/\.$/, "");
}

function isLoopback(name: string): boolean {
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "[::1]" ||
    /^127(\.\d{1,3}){3}$/.test(name)
  );
}
