/**
 * Checks whether the service of this machine or container is healthy: `cli/with-bun cli/health.ts`, with the
 * service's own environment. Exit code 0 or 1, with a message on stderr. It requests the public port. Where
 * none is open, on a node with the role analysis, it uses the socket in the data folder. It is a program of
 * its own because it runs every few seconds.
 */
import { type Config, readConfig } from "../server/config.ts";
import { fetchSocket } from "../server/process/control.ts";
import { messageOf } from "../server/process/message-of.ts";
import { socketPath } from "../server/process/sockets.ts";

/** Shorter than the usual timeout of a health check. */
const patienceMs = 4_000;

/** Bun's codes for a refused connection, in this version and others. */
const refused = new Set(["ECONNREFUSED", "ConnectionRefused"]);

/** Resolves with the status of the answer. Listening on every address, the service is reached on the loopback
 * one. */
async function ask(config: Config): Promise<number> {
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const limit = { signal: AbortSignal.timeout(patienceMs) };
  try {
    return (await fetch(`http://${host}:${config.port}/healthz`, limit)).status;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && refused.has(String(error.code)))) throw error;
    return (await fetchSocket(socketPath(config.dataDir, "analysis"), "/status", limit)).status;
  }
}

try {
  const status = await ask(readConfig());
  if (status === 200) process.exit(0);
  process.stderr.write(`rekindle: the service answered ${status}.\n`);
} catch (error) {
  process.stderr.write(`rekindle: ${messageOf(error)}\n`);
}
process.exit(1);
