/** The parts that tests of imports share: files that they write, `rekindle import`, and the progress of an
 * import. */
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandResult } from "../printed-by.ts";
import { rekindleWith, Server } from "../server.ts";
import { until } from "../until.ts";

export interface Counts {
  readonly rows: number;
  readonly new: number;
  readonly duplicate: number;
  readonly rejected: number;
}

/** The counts that a run printed. */
export function countsOf({ stdout, stderr }: CommandResult): Counts {
  const count = (name: string) => {
    const found = new RegExp(`^${name} +(\\d+)`, "m").exec(stdout)?.[1];
    if (found === undefined) throw new Error(`no count of ${name} in:\n${stdout}\n${stderr}`);
    return Number(found);
  };
  return {
    rows: count("rows"),
    new: count("new"),
    duplicate: count("duplicate"),
    rejected: count("rejected"),
  };
}

/** One data folder with files beside it, and a server on it. */
export class ImportBench {
  readonly folder: string;
  readonly dataDir: string;
  #server: Server | undefined;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "rekindle-import-"));
    this.dataDir = join(this.folder, "data");
    mkdirSync(this.dataDir);
  }

  get server(): Server {
    if (this.#server === undefined) throw new Error("the server is not running");
    return this.#server;
  }

  async startServer(): Promise<void> {
    this.#server = await Server.start({ dataDir: this.dataDir });
  }

  async crashServer(): Promise<void> {
    await this.server.crash();
    this.#server = undefined;
  }

  async end(): Promise<void> {
    await this.#server?.kill("SIGTERM");
    rmSync(this.folder, { recursive: true, force: true });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  file(name: string, content: string | Uint8Array): string {
    writeFileSync(this.path(name), content);
    return this.path(name);
  }

  /** Creates an organization with the users u1, u2 and so on. */
  async organization(name: string, users = 2): Promise<void> {
    await this.server.command("organization", "create", name, "--timezone", "Europe/Paris");
    const rows = Array.from({ length: users }, (_, index) => `u${index + 1},u${index + 1}@example.com\n`);
    const file = this.file(`${name}-people.csv`, `userId,email\n${rows.join("")}`);
    const { exitCode, stderr } = await this.import(file, name);
    if (exitCode !== 0) throw new Error(stderr);
  }

  import(file: string, organization: string, ...options: string[]): Promise<CommandResult> {
    // Files that an import leaves there, also a killed one, are removed with the bench.
    const env = { TMPDIR: this.folder };
    const parameters = ["import", file, "--organization", organization, ...options];
    return this.#server === undefined
      ? rekindleWith(this.dataDir, env, ...parameters)
      : this.#server.run(env, ...parameters);
  }

  /** Starts an import and kills it when that many rows of the file are done, or a chunk more. Returns the
   * number of rows that were done then. */
  async importKilledAt(
    rows: number,
    file: string,
    organization: string,
    ...options: string[]
  ): Promise<number> {
    const child = await this.importStoppedAt(rows, file, organization, ...options);
    child.kill("SIGKILL");
    await child.exited;
    return this.rowsDone(file);
  }

  /** Starts an import that stops when that many rows of the file are done, or a chunk more. No request is
   * open then. SIGCONT lets it go on to its end. */
  async importStoppedAt(rows: number, file: string, organization: string, ...options: string[]) {
    const entry = join(import.meta.dir, "stopping-import.ts");
    const command = [process.execPath, entry, "import", file, "--organization", organization, ...options];
    const env = {
      ...process.env,
      DATA_DIR: this.dataDir,
      TMPDIR: this.folder,
      TEST_STOP_AT_ROWS: String(rows),
    };
    const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    await until("the import has stopped itself", async () => {
      if (child.exitCode !== null) throw new Error(await new Response(child.stderr).text());
      return isStopped(child.pid);
    });
    return child;
  }

  /** How many rows the unfinished import of this file has done: one file may be imported as users and as
   * events. */
  rowsDone(file: string): number {
    const ledger = new Database(join(this.dataDir, "ledger.sqlite"), { readonly: true });
    try {
      const name = file.split("/").at(-1) ?? "";
      return (
        ledger
          .query<{ rows_done: number }, [string]>(
            "SELECT rows_done FROM imports WHERE file_name = ? AND finished_at_ms IS NULL",
          )
          .get(name)?.rows_done ?? 0
      );
    } finally {
      ledger.close();
    }
  }
}

/** Whether a process of ours stands still by a signal. */
function isStopped(pid: number): boolean {
  return /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

/** Purchases of the users u1 to u10, every one on 2026-05-17. */
export function purchases(rows: number): string {
  const lines = Array.from(
    { length: rows },
    (_, index) => `u${(index % 10) + 1},purchase,2026-05-17T09:30:00Z,${index}\n`,
  );
  return `userId,event,timestamp,n\n${lines.join("")}`;
}
