/** A server that test/run.ts keeps for the files that it runs one after another. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ClickHouse,
  haveEngines,
  makeEngines,
  sharedServerVariable,
  startClickHouse,
} from "./engines.ts";
import { cpuSecondsUntilNow } from "./file-process.ts";
import { rekindle, Server } from "./server.ts";
import { endOf } from "./server-process.ts";

interface Running {
  readonly server: Server;
  /** The address of PostgreSQL. Undefined for a server with embedded engines. */
  readonly postgres: string | undefined;
  readonly clickhouse: ClickHouse | undefined;
  readonly folder: string;
}

/** Whether a file of tests uses a server that files share. */
export function asksForShared(path: string): boolean {
  return readFileSync(path, "utf8").includes("Server.shared(");
}

/** A server that does not end would stop the run of all files. */
const stopTimeoutMs = 2 * 60_000;

/** Started for the first file that asks for `Server.shared()`, and again for the first one on other
 * engines. */
export class SharedServer {
  #running: Running | undefined;
  /** Of servers that have ended. */
  #earlierCpuSeconds = 0;
  /** The names of the organizations on servers that have ended, each with its engines. */
  readonly organizations: string[] = [];
  /** Servers that did not say the names of their organizations. */
  readonly complaints: string[] = [];

  /** The variables with the server's address for a file of tests. None for a file that needs no server.
   * @param postgres the address of PostgreSQL for a file on it */
  async environmentFor(path: string, postgres?: string): Promise<Record<string, string>> {
    // A server without files would take processor time. A file may have killed it: the next one gets another.
    if (this.#running?.postgres !== postgres || this.#hasEnded) await this.stop();
    if (!asksForShared(path)) return {};
    // When none starts, the file starts its own, and fails alone with the reason.
    this.#running ??= await start(postgres).catch(() => undefined);
    return this.#running === undefined ? {} : { [sharedServerVariable]: this.#running.server.address() };
  }

  /** The processor time of all its servers until now. */
  cpuSeconds(): number {
    const { server, clickhouse } = this.#running ?? {};
    return (
      this.#earlierCpuSeconds + (server?.cpuSeconds() ?? 0) + cpuSecondsUntilNow(clickhouse?.process.pid)
    );
  }

  async stop(): Promise<void> {
    if (this.#running === undefined) return;
    const { server, clickhouse, folder } = this.#running;
    const limit = setTimeout(() => {
      this.complaints.push(`a shared server did not end:\n${server.output()}`);
      server.kill("SIGKILL");
    }, stopTimeoutMs);
    if (!this.#hasEnded) await this.#listOrganizations(this.#running);
    await server.stop();
    clearTimeout(limit);
    this.#earlierCpuSeconds = this.cpuSeconds();
    this.#running = undefined;
    clickhouse?.process.kill("SIGKILL");
    if (clickhouse !== undefined) await endOf(clickhouse.process);
    rmSync(folder, { recursive: true, force: true });
  }

  get #hasEnded(): boolean {
    const { server, clickhouse } = this.#running ?? {};
    const { exitCode = null, signalCode = null } = clickhouse?.process ?? {};
    return server?.hasEnded === true || exitCode !== null || signalCode !== null;
  }

  async #listOrganizations({ server, postgres }: Running): Promise<void> {
    // In a process of its own: in this one its environment would be that of a file which begins meanwhile.
    const { exitCode, stdout, stderr } = await rekindle(server.dataDir, "organization", "list");
    if (exitCode !== 0) this.complaints.push(`a shared server does not list its organizations: ${stderr}`);
    const engines = postgres === undefined ? "" : " on PostgreSQL";
    for (const [, id, name] of stdout.matchAll(/^(\d+) +(.+?) {2}/gm)) {
      // The first one is the server's own.
      if (id !== "1") this.organizations.push(`${JSON.stringify(name)}${engines}`);
    }
  }
}

async function start(postgres: string | undefined): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-shared-"));
  const dataDir = join(folder, "data");
  let clickhouse: ClickHouse | undefined;
  if (postgres !== undefined) {
    clickhouse = await startClickHouse(folder);
    haveEngines(dataDir, await makeEngines(postgres, clickhouse.url, dataDir));
  }
  return { server: await Server.startShared(dataDir), postgres, clickhouse, folder };
}
