/**
 * Starts the product as its users do, as processes of their own, and stops it. Everything here uses HTTP or
 * runs the `rekindle` command.
 */
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Subprocess } from "bun";
import { remote } from "../server/process/call.ts";
import { socketPeer } from "../server/process/control.ts";
import { warehouseFolder } from "../server/process/data-folder.ts";
import { socketPath } from "../server/process/sockets.ts";
import { systemTime, type Time } from "../server/process/time.ts";
import type { Warehouse } from "../server/warehouse/engine/warehouse.ts";
import { canRunInProcess, runInProcess } from "./command-in-process.ts";
import { freePort } from "./deploy/running.ts";
import {
  type Engines,
  enginesOf,
  haveEngines,
  knownEnginesOf,
  nodesOfServers,
  sharedServerVariable,
} from "./engines.ts";
import { cpuSecondsOf, cpuSecondsUntilNow } from "./file-process.ts";
import { type CommandResult, printedBy } from "./printed-by.ts";
import { fillWithTables, programEntry } from "./program.ts";
import { putClockAhead, type ServedAs, servedAsVariable, timeOf } from "./served-as.ts";
import { endOf, foreign, isAlive, type ServerProcess } from "./server-process.ts";
import { until } from "./until.ts";

/** The environment of a started process: ours, without what would configure Rekindle. On PostgreSQL,
 * something must have run on the data folder before. */
export function environment(dataDir: string, extra: Record<string, string> = {}): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (pair): pair is [string, string] =>
      pair[1] !== undefined &&
      !/^(PORT|HOST|PUBLIC_URL|LOG_LEVEL|TZ|(DATABASE|CLICKHOUSE|NODE)_[A-Z]+)$/.test(pair[0]),
  );
  return {
    ...Object.fromEntries(inherited),
    UV_THREADPOOL_SIZE: "16",
    PORT: "0",
    DATA_DIR: dataDir,
    LOG_LEVEL: "warn",
    ...(extra.DATABASE_URL === undefined && knownEnginesOf(dataDir)),
    ...extra,
  };
}

/** Runs `rekindle …` on a data folder. */
export function rekindle(dataDir: string, ...parameters: string[]): Promise<CommandResult> {
  return rekindleWith(dataDir, {}, ...parameters);
}

/** Runs `rekindle …` with more in its environment. */
export async function rekindleWith(
  dataDir: string,
  env: Record<string, string>,
  ...parameters: string[]
): Promise<CommandResult> {
  await enginesOf(dataDir);
  return run([process.execPath, programEntry("main"), ...parameters], { env: environment(dataDir, env) });
}

/** Runs `rekindle …` on a data folder in this process, for tests that are not about the process. */
export async function rekindleHere(dataDir: string, ...parameters: string[]): Promise<CommandResult> {
  if (!canRunInProcess(parameters, true)) return rekindle(dataDir, ...parameters);
  await enginesOf(dataDir);
  return runInProcess(environment(dataDir), parameters);
}

/** Begins `rekindle …` on a data folder, to be killed while it runs. */
export function startRekindle(dataDir: string, ...parameters: string[]): StartedCommand {
  return startRekindleWith(dataDir, {}, ...parameters);
}

/** The same with more in its environment. */
function startRekindleWith(
  dataDir: string,
  env: Record<string, string>,
  ...parameters: string[]
): StartedCommand {
  return start([process.execPath, programEntry("main"), ...parameters], { env: environment(dataDir, env) });
}

/** Begins test/serve.ts on a data folder. @param env has a `ServedAs` */
export function startServeWith(
  dataDir: string,
  env: Record<string, string>,
  ...parameters: string[]
): StartedCommand {
  const command = [process.execPath, programEntry("serve"), "serve", ...parameters];
  return start(command, { env: environment(dataDir, env) });
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

/** `rows, 92 %, 1 s left`: the progress of a command that has worked for five seconds. Whether it appears
 * depends on the machine. The line about waiting does not, and stays. */
const progress = /^(?:.*, )?\d+ %(?!.*waiting: ).*\n/gm;

/** Runs a process to its end and returns what it printed, but for how far it was. */
export function run(command: string[], options: RunOptions = {}): Promise<CommandResult> {
  return start(command, options).result;
}

function start(command: string[], options: RunOptions): StartedCommand {
  const child = Bun.spawn(command, { ...options, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const result = Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    endOf(child),
  ]).then(([stdout, stderr, exitCode]) => ({
    exitCode: exitCode ?? Number.NaN,
    stdout,
    stderr: stderr.replaceAll(progress, ""),
  }));
  return { process: child, result };
}

export interface ServerOptions extends ServedAs {
  /** A folder that is kept. Without one the server gets a new folder, which is removed when it is stopped. */
  readonly dataDir?: string;
  readonly env?: Record<string, string>;
  readonly role?: "all" | "intake" | "analysis";
  /** Another program, which takes the arguments of the command. Default: the command, or test/serve.ts for
   * what only tests choose. */
  readonly entry?: string;
  /** The command of another version, which runs in processes of its own: one version does not command
   * another's server. */
  readonly command?: string;
}

interface Started {
  readonly url: string;
  readonly output: () => string;
  readonly process: ServerProcess;
  /** The file that it prints to, as long as the process that started it lives. */
  readonly outputPath: string;
  /** Whether other files use it, too. */
  readonly isShared?: boolean;
}

/** Where the process of another test file finds a running server. */
interface ServerAddress {
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  readonly outputPath: string;
  /** On PostgreSQL. */
  readonly engines?: Engines | undefined;
}

/** A running Rekindle. */
export class Server {
  readonly dataDir: string;
  /** The output so far. */
  readonly output: () => string;
  readonly #process: ServerProcess;
  readonly #outputPath: string;
  readonly #urls: readonly string[];
  /** Further nodes, which take requests only. */
  readonly #others: readonly Server[];
  readonly #env: Record<string, string>;
  readonly #options: ServerOptions;
  readonly #isShared: boolean;
  readonly #hasAnalysis: boolean;

  private constructor(dataDir: string, started: Started, others: readonly Server[], options: ServerOptions) {
    this.dataDir = dataDir;
    this.output = started.output;
    this.#process = started.process;
    this.#outputPath = started.outputPath;
    this.#urls = [started.url, ...others.map(({ url }) => url)];
    this.#others = others;
    this.#env = options.env ?? {};
    this.#options = options;
    this.#isShared = started.isShared === true;
    this.#hasAnalysis = options.role === undefined || options.role === "all";
  }

  /** Starts a server and waits until it takes requests (not until its analysis is ready). */
  static async start(options: ServerOptions = {}): Promise<Server> {
    const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "rekindle-test-"));
    const engines = await enginesOf(dataDir);
    if (options.dataDir === undefined && engines === undefined) fillWithTables(warehouseFolder(dataDir));
    const { time, http } = options;
    if (time?.aheadMs !== undefined) putClockAhead(dataDir, time.aheadMs);
    if (nodesOfServers === 1)
      return new Server(dataDir, await startServing(dataDir, options, dataDir), [], options);
    const NODE_URL = `http://127.0.0.1:${await freePort()}`;
    const first = await startServing(dataDir, { ...options, env: { NODE_URL, ...options.env } }, dataDir);
    const others: Server[] = [];
    for (let number = 1; number < nodesOfServers; number += 1) {
      const folder = mkdtempSync(join(tmpdir(), "rekindle-test-"));
      const own: ServerOptions = {
        role: "intake",
        ...(time !== undefined && { time }),
        ...(http !== undefined && { http }),
        env: { ...options.env, ...knownEnginesOf(dataDir), PORT: "0" },
      };
      others.push(new Server(folder, await startServing(folder, own, dataDir), [], own));
    }
    return new Server(dataDir, first, others, options);
  }

  /**
   * A server for tests that need only organizations of their own, with names that no other file uses.
   * test/run.ts gives one server to all files that it runs one after another. A file that is run alone starts
   * one. It scores by `rekindle score` alone, never by itself.
   */
  static async shared(): Promise<Server> {
    const given = process.env[sharedServerVariable];
    if (given === undefined) return Server.startShared();
    const address: ServerAddress = JSON.parse(given);
    if (address.engines !== undefined) haveEngines(address.dataDir, address.engines);
    const printed = () => readFileSync(address.outputPath, "utf8");
    const printedBefore = printed().length;
    const started = {
      ...address,
      output: () => printed().slice(printedBefore),
      process: foreign(address.pid),
      isShared: true,
    };
    return new Server(address.dataDir, started, [], { dataDir: address.dataDir });
  }

  /** Starts the server that files share. @param dataDir as in `ServerOptions` */
  static startShared(dataDir?: string): Promise<Server> {
    return Server.start({
      time: { scheduleMs: null },
      ...(dataDir !== undefined && { dataDir }),
    });
  }

  /** The address of the server, for the process of a test file. */
  address(): string {
    const { url, pid, dataDir } = this;
    const engines = knownEnginesOf(dataDir);
    const address: ServerAddress = { url, pid, dataDir, outputPath: this.#outputPath, engines };
    return JSON.stringify(address);
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** The processor time of both processes until now. */
  cpuSeconds(): number {
    if (this.hasEnded) return cpuSecondsOf(this.#process);
    return [this.pid, this.analysisPid()].reduce<number>((sum, pid) => sum + cpuSecondsUntilNow(pid), 0);
  }

  /** Its address, or that of any of its nodes where it has several. */
  get url(): string {
    return this.#urls[Math.floor(Math.random() * this.#urls.length)] ?? "";
  }

  /** The Host that a proxy in front passes on. Undefined without one. */
  get publicHost(): string | undefined {
    return this.#env.PUBLIC_URL === undefined ? undefined : new URL(this.#env.PUBLIC_URL).host;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** The token that the first start printed. */
  get firstToken(): string {
    const printed = readFileSync(this.#outputPath, "utf8");
    const token = /rk-[A-Za-z0-9]{32}/.exec(printed)?.[0];
    if (token === undefined) throw new Error(`no token in:\n${printed}`);
    return token;
  }

  /** Runs `rekindle …` beside the running server. */
  command(...parameters: string[]): Promise<string> {
    return printedBy(parameters, () => this.run(this.#env, ...parameters));
  }

  /** Runs `rekindle …` beside the running server, with more in its environment. It may fail. */
  run(env: Record<string, string>, ...parameters: string[]): Promise<CommandResult> {
    const { command } = this.#options;
    if (command)
      return run([process.execPath, command, ...parameters], { env: environment(this.dataDir, env) });
    if (!canRunInProcess(parameters, this.#hasAnalysis))
      return rekindleWith(this.dataDir, env, ...parameters);
    return runInProcess(environment(this.dataDir, env), parameters, this.#time);
  }

  /** Puts its wall clock ahead of the machine's. It was started with a `time`. @param ms negative: behind */
  putClockAhead(ms: number): void {
    if (this.#options.time === undefined)
      throw new Error("a server without a `time` has the machine's clock");
    putClockAhead(this.dataDir, ms);
  }

  /** Its wall clock. */
  nowMs(): number {
    return this.#time.nowMs();
  }

  get #time(): Time {
    const { time } = this.#options;
    return time === undefined ? systemTime : timeOf(time, this.dataDir);
  }

  /** Creates an organization of its own for a test, and a token that writes to it. */
  async organization(name: string, ...options: string[]): Promise<string> {
    await this.command("organization", "create", name, ...options);
    return (await this.command("token", "create", "--organization", name)).trim();
  }

  /** Sends a request. A body that is no string is sent as JSON. */
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
    const isReady = async (url: string) => {
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(startTimeoutMs) });
      return answer.ok;
    };
    const areReady = async () => (await Promise.all(this.#urls.map(isReady))).every((ready) => ready);
    await until(
      "analysis is ready",
      async () => (await areReady()) || this.output(),
      (seen) => seen === true,
    );
  }

  /** The rows that `rekindle export` gives. */
  async exported(
    what: "events" | "users" | "accounts" | "subscriptions",
    organization: string,
  ): Promise<Record<string, unknown>[]> {
    const text = await this.command("export", what, "--organization", organization, "--format", "jsonl");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }

  /** Makes the demonstration of `rekindle demo`, without what its team did. All of it is loaded then: figures
   * can be compared with later answers. Users at vendor.example are excluded from them. */
  async demo(...options: string[]): Promise<void> {
    await this.command("demo", "--no-team", ...options);
    await this.exported("events", "Demo");
  }

  /** The tables of the running analysis. */
  warehouse(): Warehouse {
    const peer = socketPeer(socketPath(this.dataDir, "analysis"));
    return remote<{ readonly analysis: { readonly warehouse: Warehouse } }>(peer).analysis.warehouse;
  }

  /** The process id of the analysis process. Undefined while it is not running. */
  analysisPid(): number | undefined {
    const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "utf8");
    const pid = Number(children.trim().split(" ")[0]);
    return pid > 0 ? pid : undefined;
  }

  /** Kills both processes without warning, as a power failure would. */
  async crash(): Promise<void> {
    const analysis = this.analysisPid();
    for (const other of this.#others) await other.crash();
    this.#process.kill("SIGKILL");
    if (analysis !== undefined) process.kill(analysis, "SIGKILL");
    await endOf(this.#process);
    await until("the analysis process is gone", () => analysis === undefined || !isAlive(analysis));
  }

  /** Ends the server with a signal and waits for its end. Returns the exit code. */
  async kill(signal: "SIGKILL" | "SIGTERM"): Promise<number> {
    const ended = this.#others.map((other) => (signal === "SIGTERM" ? other.stop() : other.kill(signal)));
    this.#process.kill(signal);
    await Promise.all(ended);
    return (await endOf(this.#process)) ?? Number.NaN;
  }

  /** Stops the server in order and removes a folder that was made for it. A shared one runs on. */
  async stop(): Promise<number> {
    if (this.#isShared) return 0;
    const exitCode = await this.kill("SIGTERM");
    if (this.#options.dataDir === undefined) rmSync(this.dataDir, { recursive: true, force: true });
    return exitCode;
  }
}

/** A server that neither takes requests nor ends would stop the run of all files. */
const startTimeoutMs = 5 * 60_000;

/** @param clockOf the data folder whose clock it has */
async function startServing(dataDir: string, options: ServerOptions, clockOf: string): Promise<Started> {
  const { time, http, ledger, waitsForNotice } = options;
  const isOfTests = [time, http, ledger, waitsForNotice].some((one) => one !== undefined);
  const servedAs = JSON.stringify({ time, http, ledger, waitsForNotice, clockOf });
  // One file for both streams, so that the lines stay in order. The file is complete when the process has
  // ended.
  const printed = join(mkdtempSync(join(tmpdir(), "rekindle-output-")), "output");
  const file = openSync(printed, "a+");
  rmSync(dirname(printed), { recursive: true });
  const child = Bun.spawn(
    [
      process.execPath,
      options.entry ?? programEntry(isOfTests ? "serve" : "main"),
      "serve",
      "--role",
      options.role ?? "all",
    ],
    {
      env: environment(dataDir, {
        LOG_LEVEL: "info",
        ...(isOfTests && { [servedAsVariable]: servedAs }),
        ...options.env,
      }),
      stdin: "ignore",
      stdout: file,
      stderr: file,
    },
  );
  const output = () => readFileSync(`/proc/self/fd/${file}`, "utf8");
  const address = /"address":"([^"]+)"/;
  const isStarted = () => {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    const isListening = address.test(output());
    if (hasEnded && !isListening) throw new Error(`the server did not start:\n${output()}`);
    return isListening || output();
  };
  await until("the server listens", isStarted, (seen) => seen === true).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  const [, url = ""] = address.exec(output()) ?? [];
  return { url, output, process: child, outputPath: `/proc/${process.pid}/fd/${file}` };
}
