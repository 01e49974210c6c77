/**
 * Where messages may go. Owners of organizations write the addresses of destinations, so that an address
 * could name a service that only this machine reaches. Names are checked when they are resolved for a
 * connection, not before: a name can resolve to something else at each look-up.
 */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { RequestFilteringHttpsAgent } from "request-filtering-agent";
import { Refusal } from "../../contract/refusal.ts";
import { type PrivateDestination, publicMetadataAddress } from "../config.ts";

/** Addresses of IPv4 in a form that IPv6 has given up: ::127.0.0.1. */
const embeddedIpv4 = "::/96";

/**
 * The agent for requests to an address. It refuses to connect to private, loopback, link-local, reserved and
 * metadata addresses.
 * @param about `exceptions`: private services that the installation allows, by name and port
 * @throws Refusal when the address is not https, has a user or a password, or is no address
 */
export function agentFor(
  address: string,
  about: { readonly exceptions: readonly PrivateDestination[]; readonly lookup: LookupFunction },
): HttpAgent | HttpsAgent {
  const { exceptions } = about;
  const url = destinationUrl(address, exceptions);
  const exception = exceptionOf(url, exceptions);
  if (exception === undefined) {
    return new RequestFilteringHttpsAgent({
      denyIPAddressList: [publicMetadataAddress, embeddedIpv4],
      lookup: about.lookup,
    });
  }
  const lookup: LookupFunction = (_, { all }, done) => {
    const family = exception.address.includes(":") ? 6 : 4;
    if (all === true) done(null, [{ address: exception.address, family }]);
    else done(null, exception.address, family);
  };
  return url.protocol === "https:" ? new HttpsAgent({ lookup }) : new HttpAgent({ lookup });
}

/** A destination's address. @throws Refusal that names the field `address` */
function destinationUrl(address: string, exceptions: readonly PrivateDestination[]): URL {
  if (!URL.canParse(address)) throw new Refusal("address is not valid: send an https:// address.");
  const url = new URL(address);
  if (url.username !== "" || url.password !== "") {
    throw new Refusal("address is not valid: leave out the user and the password.");
  }
  const isAllowed = url.protocol === "http:" && exceptionOf(url, exceptions) !== undefined;
  if (url.protocol !== "https:" && !isAllowed) {
    throw new Refusal("address is not valid: send an https:// address.");
  }
  return url;
}

/** Networks of literal addresses that the agent refuses: special-purpose addresses of IANA's registries, and
 * the address of metadata. */
const refused = {
  ipv4: blockListOf("ipv4", [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    `${publicMetadataAddress}/32`,
  ]),
  ipv6: blockListOf("ipv6", [
    embeddedIpv4,
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
  ]),
};

function blockListOf(family: "ipv4" | "ipv6", networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

function isRefused(host: string): boolean {
  if (/^(?:.+\.)?localhost\.?$/.test(host)) return true;
  if (isIP(host) === 0) return false;
  return isIP(host) === 6 ? refused.ipv6.check(host, "ipv6") : refused.ipv4.check(host, "ipv4");
}

/**
 * The address of a destination that is saved. A literal address to which no message would go is refused at
 * once. Names are judged at each connection alone.
 * @throws Refusal that names the field `address`
 */
export function savedAddress(address: string, exceptions: readonly PrivateDestination[]): string {
  const url = destinationUrl(address, exceptions);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isRefused(host) && exceptionOf(url, exceptions) === undefined) {
    throw new Refusal(
      `address is not valid: ${host} is no public address. ALLOW_PRIVATE_DESTINATIONS does not allow it at port ${portOf(url)}.`,
    );
  }
  return url.href;
}

function exceptionOf(url: URL, exceptions: readonly PrivateDestination[]): PrivateDestination | undefined {
  return exceptions.find(({ name, port }) => name === url.hostname && port === portOf(url));
}

/** The port of an address, also where it is the usual one. */
function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}
