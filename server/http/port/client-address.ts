/** The address of a client, and whether it uses https: by the connection, or by what a trusted proxy says in
 * X-Forwarded-For and X-Forwarded-Proto, or in Forwarded (RFC 7239) where it sends none of them. */
import { BlockList, isIP } from "node:net";
import type { Connection } from "./handler.ts";

export class ClientAddresses {
  readonly #trusted = new BlockList();

  /** @param trustedProxies addresses and networks, 10.0.0.0/8 say */
  constructor(trustedProxies: readonly string[]) {
    for (const text of trustedProxies) {
      const [address = "", prefix] = text.split("/");
      const family = familyOf(address);
      if (prefix === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(prefix), family);
    }
  }

  /** The address. An IPv6 address counts as its network of 64 bits, because one client usually has all of
   * them. */
  of(request: Request, connection: Connection): string {
    let address = canonical(connection.requestIP(request)?.address ?? "");
    // Each proxy appends the address of its caller. Read from the right, up to the first address that is not
    // a trusted proxy.
    const hops = this.#isTrusted(address) ? hopsOf(request.headers) : [];
    while (this.#isTrusted(address)) {
      const next = addressIn(hops.pop() ?? "");
      if (next === undefined) break;
      address = next;
    }
    return isIP(address) === 6 ? network(address) : address;
  }

  /** Whether a trusted proxy says that it was called by https. */
  isHttps(request: Request, connection: Connection): boolean {
    const { headers } = request;
    if (!this.#isTrusted(canonical(connection.requestIP(request)?.address ?? ""))) return false;
    // The last value was set by the proxy that called us.
    const said = headers.get("x-forwarded-proto")?.split(",").at(-1) ?? forwarded(headers, "proto").at(-1);
    return said?.trim().toLowerCase() === "https";
  }

  #isTrusted(address: string): boolean {
    return isIP(address) !== 0 && this.#trusted.check(address, familyOf(address));
  }
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

/** What the proxies say of their callers, the nearest last. A proxy that sends X-Forwarded-For usually passes
 * a client's own Forwarded on, so that counts only without the former. */
function hopsOf(headers: Headers): string[] {
  const list = headers.get("x-forwarded-for");
  if (list === null) return forwarded(headers, "for");
  return list
    .split(",")
    .map((hop) => hop.trim())
    .filter((hop) => hop !== "");
}

/** The values of a parameter in each element of the header Forwarded; empty where an element has none. */
function forwarded(headers: Headers, parameter: "for" | "proto"): string[] {
  return outsideQuotes(headers.get("forwarded") ?? "", ",")
    .filter((element) => element.trim() !== "")
    .map((element) => {
      const pairs = outsideQuotes(element, ";").map((pair) => pair.split("="));
      const [, ...value] = pairs.find(([name = ""]) => name.trim().toLowerCase() === parameter) ?? [];
      return value.join("=").trim().replaceAll('"', "");
    });
}

/** The parts of a text between separators that stand in no quoted text. */
function outsideQuotes(text: string, separator: "," | ";"): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (isQuoted && text[at] === "\\") at++;
    else if (!isQuoted && text[at] === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** The address in what a proxy says of its caller; undefined for `unknown`, names and anything else. Some
 * proxies add the caller's port (Azure's gateways, HAProxy by option), and brackets around IPv6: with a port
 * every connection would be another client, or, where it is no address at all, all people would be one. */
function addressIn(hop: string): string | undefined {
  const bare = hop.replace(/^\[([^\]]+)\](?::[\w.-]+)?$/, "$1");
  const address = [bare, bare.replace(/:[\w.-]+$/, "")].find((text) => isIP(text) !== 0);
  return address === undefined ? undefined : canonical(address);
}

/** One spelling of an address: IPv6 without a zone, in small letters and shortened, and an IPv4 address that
 * came in over IPv6 as itself. */
function canonical(address: string): string {
  if (isIP(address) !== 6) return address;
  const short = new URL(`http://[${address.split("%", 1)[0]}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join(".");
}

/** The first 64 bits of an address in its one spelling. */
function network(address: string): string {
  const [before = "", after = ""] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const missing = 8 - groups(before).length - groups(after).length;
  const whole = [...groups(before), ...Array.from({ length: missing }, () => "0"), ...groups(after)];
  return whole.slice(0, 4).join(":");
}
