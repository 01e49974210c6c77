/** A server of a test file's own. */
import { afterAll } from "bun:test";
import { rmSync } from "node:fs";
import { Server, type ServerOptions } from "./server.ts";

/** Starts a server for the tests of a file. After them the last server on its folder is stopped, and the
 * folder removed.
 * @param last the server in use: a test may start another one on the same folder */
export async function ownServer(last: () => Server, options: ServerOptions = {}): Promise<Server> {
  const server = await Server.start(options);
  afterAll(async () => {
    await last().stop();
    rmSync(server.dataDir, { recursive: true, force: true });
  });
  await server.ready();
  return server;
}
