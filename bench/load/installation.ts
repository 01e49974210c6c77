/** A running Rekindle for benchmarks: one organization without a rate limit, and its resource usage. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { callerHeaders } from "../../server/http/api/caller.ts";
import { readKeyActor } from "../../server/ledger/audit.ts";
import { fetchSocket } from "../../server/process/control.ts";
import { socketPath } from "../../server/process/sockets.ts";
import { counts } from "../../test/analytics/counts.ts";
import { cpuSecondsUntilNow } from "../../test/file-process.ts";
import { Server, type ServerOptions } from "../../test/server.ts";
import { runLoad } from "./load.ts";
import { warehouseSize } from "./warehouse-size.ts";

export interface Memory {
  readonly intakeBytes: number;
  readonly analysisBytes: number;
}

export class Installation {
  readonly server: Server;
  readonly headers: Readonly<Record<string, string>>;

  /** The organization's id. */
  readonly organization: number;

  private constructor(server: Server, organization: number, token: string) {
    this.server = server;
    this.organization = organization;
    this.headers = { Authorization: `Basic ${token}` };
  }

  /** Starts a server in a folder of its own. */
  static async start(options: ServerOptions = {}): Promise<Installation> {
    const server = await Server.start(options);
    const token = await server.organization("bench");
    await server.command("organization", "set", "bench", "--rate-limit", "1000000");
    const list = await server.command("organization", "list");
    const id = Number(/^(\d+) +bench /m.exec(list)?.[1]);
    return new Installation(server, id, token);
  }

  get port(): number {
    return Number(new URL(this.server.url).port);
  }

  /** Identifies `user-0` to `user-(count − 1)`. */
  async identify(count: number): Promise<void> {
    let next = 0;
    while (next < count) {
      const from = next;
      const request = (n: number) => {
        next = Math.max(next, from + n + 1);
        const user = (from + n) % count;
        return `{"userId":"user-${user}","email":"user-${user}@example.com","properties":{"plan":"pro"}}`;
      };
      await runLoad({ port: this.port, path: "/identify", headers: this.headers, request, seconds: 1 });
    }
  }

  /** How many rows the loader has brought to the warehouse since it started. */
  async rowsLoaded(): Promise<number> {
    const response = await fetchSocket(socketPath(this.server.dataDir, "analysis"), "/status");
    const status = (await response.json()) as { loader?: { rowsLoaded: number } };
    return status.loader?.rowsLoaded ?? 0;
  }

  /** How many events the users' figures show. */
  async eventsVisible(): Promise<number> {
    return (await counts(this.server.warehouse(), this.organization)).events;
  }

  /** Bytes of the warehouse's tables when no merge replaces any of them any more. */
  async settledBytes(): Promise<number> {
    let before = -1;
    while (true) {
      const { activeBytes } = await warehouseSize(this.server.warehouse());
      if (activeBytes === before) return activeBytes;
      before = activeBytes;
      await Bun.sleep(5_000);
    }
  }

  /** Sends a request to analysis on its socket. */
  async ask(path: string): Promise<unknown> {
    // In the form in which intake passes on a read key's request.
    const headers = {
      [callerHeaders.organization]: String(this.organization),
      [callerHeaders.rights]: "read",
      [callerHeaders.actor]: encodeURIComponent(JSON.stringify(readKeyActor(1))),
    };
    const response = await fetchSocket(socketPath(this.server.dataDir, "analysis"), path, { headers });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  }

  /** Resolves when everything that was acknowledged is in the warehouse. */
  async drained(): Promise<void> {
    await this.server.exported("accounts", "bench");
  }

  /** Resident memory of both processes. */
  memory(): Memory {
    return { intakeBytes: residentBytes(this.server.pid), analysisBytes: residentBytes(this.#analysisPid()) };
  }

  /** CPU seconds that each process used so far. */
  cpuSeconds(): { readonly intake: number; readonly analysis: number } {
    return {
      intake: cpuSecondsUntilNow(this.server.pid),
      analysis: cpuSecondsUntilNow(this.#analysisPid()),
    };
  }

  #analysisPid(): number {
    const pid = this.server.analysisPid();
    if (pid === undefined) throw new Error("there is no analysis process");
    return pid;
  }

  /** Bytes below a folder of the data folder. */
  diskBytes(folder: string): number {
    const root = join(this.server.dataDir, folder);
    let bytes = 0;
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      // A merge may remove a file right after it was listed.
      const found = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false });
      if (found?.isFile()) bytes += found.size;
    }
    return bytes;
  }
}

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}
