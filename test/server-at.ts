/** A server without a schedule, at a time of the test's choice. A demonstration depends on its day. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "./server.ts";

interface ServerAt {
  readonly server: Server;
  /** Stops the server, sets this process's clock right and removes the data folder. */
  end(): Promise<void>;
}

/** Starts the server, and sets the clock of this process, in which its commands run. Figures can be asked for once the server
 * is ready. @param atMs milliseconds since 1970-01-01 */
export async function serverAt(atMs: number): Promise<ServerAt> {
  const trueNow = Date.now;
  const skewMs = atMs - trueNow();
  const dataDir = mkdtempSync(join(tmpdir(), "rekindle-test-"));
  writeFileSync(join(dataDir, "clock-skew-ms"), String(skewMs));
  const server = await Server.start({
    dataDir,
    entry: join(import.meta.dir, "unscheduled-skewed-server.ts"),
  });
  Date.now = () => trueNow() + skewMs;
  return {
    server,
    async end() {
      Date.now = trueNow;
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
