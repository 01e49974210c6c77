/**
 * Where messages may go. Owners of organizations write the addresses of destinations, so that an address could name a service
 * that only this machine reaches. Names are checked when they are resolved for a connection, not before: a name can
 * resolve to something else at each look-up.
 */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import { RequestFilteringHttpsAgent } from "request-filtering-agent";
import { Refusal } from "../../../contract/refusal.ts";
import { type PrivateDestination, publicMetadataAddress } from "../../config.ts";

/**
 * The agent for requests to an address. It refuses to connect to private, loopback, link-local, reserved and metadata addresses.
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
      denyIPAddressList: [publicMetadataAddress],
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
export function destinationUrl(address: string, exceptions: readonly PrivateDestination[]): URL {
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

function exceptionOf(url: URL, exceptions: readonly PrivateDestination[]): PrivateDestination | undefined {
  return exceptions.find(({ name, port }) => name === url.hostname && port === portOf(url));
}

/** The port of an address, also where it is the usual one. */
function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}
