/**
 * Starts the product as its users do, as processes of their own, and takes it down again. Tests come in by
 * the front door: everything here speaks HTTP or runs the `rekindle` command.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";

const entry = join(import.meta.dir, "..", "cli", "main.ts");

/** The environment of a started process: ours, without what would configure Rekindle. */
function environment(dataDir: string, extra: Record<string, string>): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (pair): pair is [string, string] =>
      pair[1] !== undefined && !/^(PORT|HOST|PUBLIC_URL|LOG_LEVEL|TZ)$/.test(pair[0]),
  );
  return {
    ...Object.fromEntries(inherited),
    UV_THREADPOOL_SIZE: "16",
    PORT: "0",
    DATA_DIR: dataDir,
    LOG_LEVEL: "warn",
    ...extra,
  };
}

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `rekindle …` on a data folder. */
export function rekindle(dataDir: string, ...parameters: string[]): Promise<CommandResult> {
  return run([process.execPath, entry, ...parameters], { env: environment(dataDir, {}) });
}

/** Begins `rekindle …` on a data folder, to be killed while it runs. */
export function startRekindle(dataDir: string, ...parameters: string[]): StartedCommand {
  return start([process.execPath, entry, ...parameters], { env: environment(dataDir, {}) });
}

/** A process that runs, and what it will have printed. */
export interface StartedCommand {
  readonly process: Subprocess;
  readonly result: Promise<CommandResult>;
}

interface RunOptions {
  readonly env?: Record<string, string | undefined>;
  readonly cwd?: string;
}

/** Runs a process to its end and returns what it printed. */
export function run(command: string[], options: RunOptions = {}): Promise<CommandResult> {
  return start(command, options).result;
}

function start(command: string[], options: RunOptions): StartedCommand {
  const child = Bun.spawn(command, { ...options, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const result = Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]).then(([stdout, stderr, exitCode]) => ({ exitCode, stdout, stderr }));
  return { process: child, result };
}

export interface ServerOptions {
  /** A folder that is kept; without one the server gets a new folder, removed when it is stopped. */
  readonly dataDir?: string;
  readonly env?: Record<string, string>;
  readonly role?: "all" | "intake" | "analysis";
  /** Another program than the command, which takes the same arguments. */
  readonly entry?: string;
}

/** A running Rekindle. */
export class Server {
  readonly dataDir: string;
  readonly url: string;
  /** What it printed so far. */
  readonly output: () => string;
  readonly #process: Subprocess;
  readonly #removeFolder: boolean;

  private constructor(parts: {
    dataDir: string;
    url: string;
    output: () => string;
    process: Subprocess;
    removeFolder: boolean;
  }) {
    this.dataDir = parts.dataDir;
    this.url = parts.url;
    this.output = parts.output;
    this.#process = parts.process;
    this.#removeFolder = parts.removeFolder;
  }

  /** Starts a server and waits until it takes requests (not until its analysis is ready). */
  static async start(options: ServerOptions = {}): Promise<Server> {
    const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "rekindle-test-"));
    const child = Bun.spawn(
      [process.execPath, options.entry ?? entry, "serve", "--role", options.role ?? "all"],
      {
        env: environment(dataDir, { LOG_LEVEL: "info", ...options.env }),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    let output = "";
    const collect = async (stream: ReadableStream<Uint8Array>) => {
      const decoder = new TextDecoder();
      for await (const chunk of stream) output += decoder.decode(chunk, { stream: true });
    };
    const collecting = Promise.all([collect(child.stdout), collect(child.stderr)]);
    const deadlineMs = performance.now() + 30_000;
    while (true) {
      const url = /"address":"([^"]+)"/.exec(output)?.[1];
      if (url !== undefined) {
        const removeFolder = options.dataDir === undefined;
        return new Server({ dataDir, url, output: () => output, process: child, removeFolder });
      }
      if (child.exitCode !== null || performance.now() > deadlineMs) {
        child.kill("SIGKILL");
        await collecting;
        throw new Error(`the server did not start:\n${output}`);
      }
      await Bun.sleep(20);
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** The token that the first start printed. */
  get firstToken(): string {
    const token = /rk-[A-Za-z0-9]{32}/.exec(this.output())?.[0];
    if (token === undefined) throw new Error(`no token in:\n${this.output()}`);
    return token;
  }

  /** Runs `rekindle …` beside the running server. */
  async command(...parameters: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await rekindle(this.dataDir, ...parameters);
    if (exitCode !== 0) throw new Error(`rekindle ${parameters.join(" ")} failed:\n${stderr}`);
    return stdout;
  }

  /** Creates an organization of its own for a test, and a token that writes to it. */
  async organization(name: string, ...options: string[]): Promise<string> {
    await this.command("organization", "create", name, ...options);
    return (await this.command("token", "create", "--organization", name)).trim();
  }

  /** Sends a request; a body that is no string is sent as JSON. */
  post(
    path: string,
    token: string | undefined,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(this.url + path, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(token !== undefined && { Authorization: `Basic ${token}` }),
        ...headers,
      },
      body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
    });
  }

  /** Waits until figures can be asked for. */
  async ready(): Promise<void> {
    const deadlineMs = performance.now() + 30_000;
    while (performance.now() < deadlineMs) {
      if ((await fetch(`${this.url}/readyz`)).ok) return;
      await Bun.sleep(50);
    }
    throw new Error(`analysis did not become ready:\n${this.output()}`);
  }

  /** The rows that `rekindle export` gives. */
  async exported(
    what: "events" | "users" | "accounts",
    organization: string,
  ): Promise<Record<string, unknown>[]> {
    const text = await this.command("export", what, "--organization", organization, "--format", "jsonl");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }

  /** The process id of the analysis process; undefined while it is not running. */
  analysisPid(): number | undefined {
    const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "utf8");
    const pid = Number(children.trim().split(" ")[0]);
    return pid > 0 ? pid : undefined;
  }

  /** Kills both processes without warning, as a power failure would. */
  async crash(): Promise<void> {
    const analysis = this.analysisPid();
    this.#process.kill("SIGKILL");
    if (analysis !== undefined) process.kill(analysis, "SIGKILL");
    await this.#process.exited;
    while (analysis !== undefined && existsSync(`/proc/${analysis}/exe`)) await Bun.sleep(5);
  }

  /** Ends the server with a signal and waits for its end; returns the exit code. */
  async kill(signal: "SIGKILL" | "SIGTERM"): Promise<number> {
    this.#process.kill(signal);
    return this.#process.exited;
  }

  /** Stops the server in order and removes a folder that was made for it. */
  async stop(): Promise<number> {
    const exitCode = await this.kill("SIGTERM");
    if (this.#removeFolder) rmSync(this.dataDir, { recursive: true, force: true });
    return exitCode;
  }
}
