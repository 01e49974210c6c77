/**
 * Runs the tests: `npm test` the checks and the files that prove a change sound, `npm run test:long` all others. test/tiers.ts
 * says which files those are. Arguments choose files by the begin of a word of their path: `npm test -- tidy`.
 *
 * Every file runs in a process of its own. The embedded engine can abort its process, and then only one file fails. Files that
 * ask for `Server.shared()` get a server that runs beside them and serves one file after another. A test that is skipped, a file
 * without a test and a process that dies count as failures. The last line is `N passed, N failed`.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtPages } from "../cli/pages.ts";
import { check } from "./check.ts";
import { testVariables } from "./engines.ts";
import { killRunningFiles, runFile } from "./file-process.ts";
import { temporaryFilesInMemory } from "./memory-folder.ts";
import { PostgresServer } from "./postgres.ts";
import {
  type Counted,
  failuresIn,
  type Measured,
  print,
  printFailures,
  printSlowest,
} from "./printed-results.ts";
import { SharedServer } from "./shared-server.ts";
import { chosenRuns, type Run, withSharedProcesses } from "./tiers.ts";

const root = join(import.meta.dir, "..");
/** One more than the cores of a small machine: files wait for half of their time, for commits, loaders and pages. Four at once took
 * as long as three, by more processor time. */
const usualFilesAtOnce = 3;
/** Milliseconds of each file in an earlier run, as Bun's own `--timings` writes them. The slowest files begin first. */
const timingsFile = join(import.meta.dir, "timings.json");
const ordinary = { testTimeoutMs: 180_000, fileTimeoutMs: 15 * 60_000 };
const long = { testTimeoutMs: 20 * 60_000, fileTimeoutMs: 60 * 60_000 };

interface Options {
  readonly isLong: boolean;
  /** `--slowest`: prints the processor time by folder and the slowest files. */
  readonly isSlowestAsked: boolean;
  /** `--update-timings`: writes test/timings.json. */
  readonly isUpdatingTimings: boolean;
  /** `--at-once=2` */
  readonly filesAtOnce: number;
  /** The chosen files. Empty for all. */
  readonly words: readonly string[];
}

let postgres: PostgresServer | undefined;
const sharedServers = new Set<SharedServer>();
let removeMemoryFolder = () => {};
const failures: string[] = [];
/** Whether a signal has ended the run. */
let isInterrupted = false;

async function main(options: Options): Promise<number> {
  if (!options.isLong) removeMemoryFolder = temporaryFilesInMemory();
  const files = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: root })];
  const timings = readTimings();
  const runs = withSharedProcesses(
    slowestFirst(chosenRuns(files, options.isLong, options.words), timings),
    options.filesAtOnce,
  );
  const count = runs.reduce((sum, { beside = [] }) => sum + 1 + beside.length, 0);
  console.log(`${count} ${count === 1 ? "file" : "files"} chosen${otherTier(files, options)}`);
  const total: Counted = { passed: 0, failed: 0, cpuSeconds: 0 };
  if (!options.isLong && options.words.length === 0) add(total, await check(files));
  // Once and beforehand: many tests start a server, and each of them would wait for the build.
  await builtPages();
  // One for all: each of their servers has a database of its own.
  if (runs.some(({ nodes }) => nodes > 0)) postgres = await PostgresServer.start();
  const measured = await runAll(runs, options, total, timings);
  if (options.isSlowestAsked) printSlowest(measured);
  if (options.isUpdatingTimings) writeTimings(timings, files);
  if (runs.length === 0) {
    const words = options.words.join(" or ");
    console.log(
      `no test file ${words === "" ? "was found" : `of this tier has a word in its path that begins with ${words}`}`,
    );
    total.failed += 1;
  }
  printFailures(failures);
  console.log(`${total.cpuSeconds.toFixed(0)} s of processor time`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

/** Names the command for files of the other tier that the words choose, too: the details of a page are long, for example. */
function otherTier(files: readonly string[], { isLong, words }: Options): string {
  if (words.length === 0) return "";
  const count = chosenRuns(files, !isLong, words).length;
  const command = isLong ? "npm test" : "npm run test:long";
  return count === 0 ? "" : `; ${count} more: ${command} -- ${words.join(" ")}`;
}

async function runAll(
  runs: readonly Run[],
  options: Options,
  total: Counted,
  timings: Map<string, number>,
): Promise<Measured[]> {
  const measured: Measured[] = [];
  const reports = mkdtempSync(join(tmpdir(), "rekindle-test-"));
  const waiting = [...runs];
  const servers = Array.from({ length: options.filesAtOnce }, () => new SharedServer());
  for (const shared of servers) sharedServers.add(shared);
  const work = async (shared: SharedServer) => {
    for (let run = waiting.shift(); run !== undefined && !isInterrupted; run = waiting.shift()) {
      const startedMs = performance.now();
      const serverBefore = shared.cpuSeconds();
      const folder = join(reports, `${run.file} ${run.nodes}`.replaceAll(/[/ ]/g, "-"));
      mkdirSync(folder);
      const env =
        run.nodes > 0 ? enginesFor(run.nodes, folder) : await shared.environmentFor(join(root, run.file));
      const own = await runFile(
        [run.file, ...(run.beside ?? [])],
        folder,
        options.isLong ? long : ordinary,
        env,
      );
      const result = { ...own, cpuSeconds: own.cpuSeconds + shared.cpuSeconds() - serverBefore };
      rmSync(folder, { recursive: true });
      add(total, result);
      const milliseconds = performance.now() - startedMs;
      if (run.nodes === 0 && run.beside === undefined) timings.set(run.file, Math.round(milliseconds));
      measured.push({ name: run.name, cpuSeconds: result.cpuSeconds });
      print(run.name, result, milliseconds);
      if (result.failed > 0) failures.push(...failuresIn(result.output));
    }
  };
  try {
    await Promise.all(servers.map(work));
    total.failed += await complainOfSharedNames(servers);
  } finally {
    rmSync(reports, { recursive: true });
    await Promise.all([...servers.map((shared) => shared.stop()), postgres?.stop()]);
  }
  return measured;
}

/** Two files whose organizations have one name fail only when they get the same server by chance. This check
 * makes them fail always. @returns the number of such names */
async function complainOfSharedNames(servers: readonly SharedServer[]): Promise<number> {
  const names = (await Promise.all(servers.map((shared) => shared.organizations()))).flat();
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  for (const name of twice)
    console.log(`two files name an organization of a shared server ${JSON.stringify(name)}`);
  return twice.length;
}

function add(total: Counted, more: Counted): void {
  total.passed += more.passed;
  total.failed += more.failed;
  total.cpuSeconds += more.cpuSeconds;
}

function enginesFor(nodes: number, folder: string): Record<string, string> {
  if (postgres === undefined) return {};
  return {
    [testVariables.postgres]: postgres.url("postgres"),
    [testVariables.nodes]: String(nodes),
    [testVariables.folder]: folder,
  };
}

/** A file that was never measured comes first: it may be slow. */
function slowestFirst(runs: readonly Run[], timings: ReadonlyMap<string, number>): Run[] {
  const ms = ({ file }: Run) => timings.get(file) ?? Number.MAX_SAFE_INTEGER;
  return runs.toSorted((a, b) => ms(b) - ms(a) || (a.name < b.name ? -1 : 1));
}

function readTimings(): Map<string, number> {
  if (!existsSync(timingsFile)) return new Map();
  const { files } = JSON.parse(readFileSync(timingsFile, "utf8"));
  return new Map(Object.entries<number>(files));
}

function writeTimings(timings: ReadonlyMap<string, number>, files: readonly string[]): void {
  const present = [...timings].filter(([file]) => files.includes(file)).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(
    timingsFile,
    `${JSON.stringify({ version: 1, files: Object.fromEntries(present) }, null, 2)}\n`,
  );
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    isInterrupted = true;
    killRunningFiles();
    const ending = [...sharedServers].map((shared) => shared.stop());
    void Promise.allSettled([...ending, postgres?.stop()]).finally(() => {
      removeMemoryFolder();
      process.exit(1);
    });
  });
}
const given = process.argv.slice(2);
const atOnce = given
  .map((option) => /^--at-once=(\d+)$/.exec(option)?.[1])
  .find((count) => count !== undefined);
const options: Options = {
  isLong: given.includes("--long"),
  isSlowestAsked: given.includes("--slowest"),
  isUpdatingTimings: given.includes("--update-timings"),
  filesAtOnce: Number(atOnce ?? usualFilesAtOnce),
  words: given.filter((option) => !option.startsWith("--")),
};
try {
  process.exitCode = await main(options);
} finally {
  removeMemoryFolder();
}
