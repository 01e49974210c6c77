/** Private services that an installation allows as destinations: ALLOW_PRIVATE_DESTINATIONS. */
import { BlockList, isIP, isIPv6 } from "node:net";

/** Exactly this name and port, at this address. */
export interface PrivateDestination {
  readonly name: string;
  readonly port: number;
  readonly address: string;
}

/** Where clouds answer with a machine's credentials: never allowed, whatever the installation says. */
const metadata = new BlockList();
metadata.addSubnet("169.254.0.0", 16, "ipv4");
for (const address of ["100.100.100.200", "168.63.129.16", "192.0.0.192"])
  metadata.addAddress(address, "ipv4");
metadata.addSubnet("fe80::", 10, "ipv6");
metadata.addSubnet("fd00:ec2::", 32, "ipv6");

/** Whether clouds answer with credentials at an address, which may be written as IPv4 within IPv6. */
export function isMetadataAddress(address: string): boolean {
  return metadata.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/**
 * Reads `name:port=address` with commas between.
 * @throws Error with a message for the person who set it
 */
export function readPrivateDestinations(text: string): readonly PrivateDestination[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "").map(readOne);
}

function readOne(part: string): PrivateDestination {
  const [, name = "", port = "", address = ""] =
    /^([a-z0-9.-]{1,253}):(\d{1,5})=([0-9a-f.:]{2,45})$/i.exec(part) ?? [];
  if (name === "" || isIP(address) === 0 || Number(port) < 1 || Number(port) > 65_535) {
    throw new Error(`${JSON.stringify(part)} is not name:port=address, hooks.internal:8080=10.0.0.7 say.`);
  }
  if (isMetadataAddress(address)) {
    throw new Error(`${address} gives away a machine's credentials: it is never a destination.`);
  }
  return { name: name.toLowerCase(), port: Number(port), address };
}

/** The port of an address, also where it is the usual one. */
export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}
