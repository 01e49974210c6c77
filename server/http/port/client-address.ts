/** The address of a client, and whether it uses https: by the connection, or by X-Forwarded-For and X-Forwarded-Proto of a
 * trusted proxy. */
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

  /** The address. An IPv6 address counts as its network of 64 bits, because one client usually has all of them. */
  of(request: Request, connection: Connection): string {
    let address = plain(connection.requestIP(request)?.address ?? "");
    // Each proxy appends the address of its caller. Read from the right, up to the first address that is not a trusted proxy.
    const forwarded = request.headers.get("x-forwarded-for")?.split(",") ?? [];
    while (this.#isTrusted(address)) {
      const next = plain(forwarded.pop()?.trim() ?? "");
      if (isIP(next) === 0) break;
      address = next;
    }
    return isIP(address) === 6 ? network(address) : address;
  }

  /** Whether a trusted proxy says that it was called by https. */
  isHttps(request: Request, connection: Connection): boolean {
    if (!this.#isTrusted(plain(connection.requestIP(request)?.address ?? ""))) return false;
    // The last value was set by the proxy that called us.
    const said = request.headers.get("x-forwarded-proto")?.split(",").at(-1);
    return said?.trim().toLowerCase() === "https";
  }

  #isTrusted(address: string): boolean {
    return isIP(address) !== 0 && this.#trusted.check(address, familyOf(address));
  }
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

/** An IPv4 address that came in over IPv6 is itself. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

function network(address: string): string {
  const [before = "", after] = address.split("::");
  const groups = before === "" ? [] : before.split(":");
  const missing = after === undefined ? 0 : 8 - groups.length - (after === "" ? 0 : after.split(":").length);
  const whole = [...groups, ...Array.from({ length: missing }, () => "0"), ...(after ?? "").split(":")];
  return whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
