/** The port at which other nodes ask this one. */
import type { Config } from "./config.ts";
import { Refusal } from "./ledger/ledger.ts";
import { serveNodes } from "./process/control.ts";

/** Listens at the address by which others know this node. @throws Refusal when its port cannot be opened */
export function serveNode(
  nodeUrl: string,
  { host }: Pick<Config, "host">,
  ...[key, answer, failed]: Parameters<typeof serveNodes> extends [unknown, ...infer Rest] ? Rest : never
): Bun.Server<undefined> {
  const { hostname, port } = new URL(nodeUrl);
  try {
    return serveNodes({ hostname: listenedOn(hostname, host), port: Number(port) }, key, answer, failed);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new Refusal(`the port of NODE_URL cannot be opened (${code}): set it to another one.`);
  }
}

/** A name of this machine alone is listened on as it is; otherwise the address that HOST names, or every one. */
function listenedOn(hostname: string, host: string): string {
  const isLoopback = (name: string) => /^(localhost|127\..*|\[?::1\]?)$/.test(name);
  if (isLoopback(hostname)) return hostname.replace(/[[\]]/g, "");
  return isLoopback(host) ? "0.0.0.0" : host;
}
