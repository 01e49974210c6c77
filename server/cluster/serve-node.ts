/** The port at which other nodes ask this one. */
import { readFileSync } from "node:fs";
import { Refusal } from "../../contract/refusal.ts";
import { type ClusterConfig, type Config, ConfigError } from "../config.ts";
import { serveNodes } from "../process/control.ts";

/** Listens at the address by which others know this node, by https where that address says so.
 * @throws Refusal when its port cannot be opened, ConfigError when a file of its certificate cannot be
 * read */
export function serveNode(
  { nodeUrl, nodeTls }: Pick<ClusterConfig, "nodeTls"> & { readonly nodeUrl: string },
  { host }: Pick<Config, "host">,
  ...[key, answer, failed]: Parameters<typeof serveNodes> extends [unknown, ...infer Rest] ? Rest : never
): Bun.Server<undefined> {
  const { hostname, port } = new URL(nodeUrl);
  const tls = nodeTls && {
    cert: pemOf("NODE_TLS_CERT", nodeTls.certFile),
    key: pemOf("NODE_TLS_KEY", nodeTls.keyFile),
  };
  const address = { hostname: listenedOn(hostname, host), port: Number(port), ...(tls && { tls }) };
  try {
    return serveNodes(address, key, answer, failed);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new Refusal(`the port of NODE_URL cannot be opened (${code}): set it to another one.`);
  }
}

function pemOf(name: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new ConfigError(
      `${name} is ${JSON.stringify(file)}, which cannot be read (${code}): set it to a PEM file.`,
    );
  }
}

/** A name of this machine alone is listened on as it is; otherwise the address that HOST names, or every
 * one. */
function listenedOn(hostname: string, host: string): string {
  const isLoopback = (name: string) => /^(localhost|127\..*|\[?::1\]?)$/.test(name);
  if (isLoopback(hostname)) return hostname.replace(/[[\]]/g, "");
  return isLoopback(host) ? "0.0.0.0" : host;
}
