/**
 * Runs the tests: `npm test` the checks and the files that prove a change sound, `npm run test:long` all others (test/runs.ts).
 * Arguments choose files by the begin of a word of their path: `npm test -- tidy`.
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
import { killRunningFiles, type Limits, runFile } from "./file-process.ts";
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
import { prepareProgram } from "./program.ts";
import { chosenRuns, isOnDisk, listTestFiles, type Run, withSharedProcesses } from "./runs.ts";
import { SharedServer } from "./shared-server.ts";

const root = join(import.meta.dir, "..");
/** Milliseconds of each file in an earlier run, as Bun's own `--timings` writes them. The slowest files begin first. */
const timingsFile = join(import.meta.dir, "timings.json");
/** More files run at once than a small machine has cores, because they wait for commits, loaders and pages. Long files wait more. */
const ordinary = { filesAtOnce: 3, testTimeoutMs: 180_000, fileTimeoutMs: 15 * 60_000 };
const long = { filesAtOnce: 4, testTimeoutMs: 15 * 60_000, fileTimeoutMs: 30 * 60_000 };
/** For several files in one process, which are quick. */
const several = { testTimeoutMs: 5 * 60_000, fileTimeoutMs: 60 * 60_000 };
/** How often a run names the files that take long: a run that is stopped from outside has then said where it was. */
const namingMs = 5 * 60_000;

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

/** Where temporary files lie without the folder in memory. */
const diskFolder = tmpdir();
let postgres: PostgresServer | undefined;
const sharedServers = new Set<SharedServer>();
let removeMemoryFolder = () => {};
let removeProgram = () => {};
const failures: string[] = [];
/** Whether a signal has ended the run. */
let isInterrupted = false;

async function main(options: Options): Promise<number> {
  removeMemoryFolder = temporaryFilesInMemory();
  const files = listTestFiles();
  const timings = readTimings();
  const runs = withSharedProcesses(slowestFirst(chosenRuns(files, options.isLong, options.words), timings));
  const count = runs.reduce((sum, { beside = [] }) => sum + 1 + beside.length, 0);
  console.log(`${count} ${count === 1 ? "file" : "files"} chosen${otherTier(files, options)}`);
  const total: Counted = { passed: 0, failed: 0, cpuSeconds: 0 };
  if (!options.isLong && options.words.length === 0) add(total, await check(files));
  // Once and beforehand: many tests start a server, and each of them would wait for the build.
  await builtPages();
  const program = prepareProgram();
  removeProgram = program.remove;
  await program.ready;
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
  const running = new Map<string, number>();
  const naming = setInterval(() => printRunning(running), namingMs);
  const work = async (shared: SharedServer) => {
    for (let run = waiting.shift(); run !== undefined && !isInterrupted; run = waiting.shift()) {
      const startedMs = performance.now();
      running.set(run.name, startedMs);
      const serverBefore = shared.cpuSeconds();
      const folder = join(reports, `${run.file} ${run.nodes}`.replaceAll(/[/ ]/g, "-"));
      mkdirSync(folder);
      const env = await environmentFor(run, folder, shared);
      const own = await runFile(
        [run.file, ...(run.beside ?? [])],
        folder,
        limitsOf(run, options, timings),
        env,
      );
      const result = { ...own, cpuSeconds: own.cpuSeconds + shared.cpuSeconds() - serverBefore };
      rmSync(folder, { recursive: true });
      running.delete(run.name);
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
    await Promise.all(servers.map((shared) => shared.stop()));
    total.failed += complainOfSharedNames(servers);
  } finally {
    clearInterval(naming);
    rmSync(reports, { recursive: true });
    await Promise.all([...servers.map((shared) => shared.stop()), postgres?.stop()]);
  }
  return measured;
}

/** A file that hangs must not hold up the run: it gets ten minutes and four times what it took in an earlier run. */
function limitsOf({ file, beside }: Run, { isLong }: Options, timings: ReadonlyMap<string, number>): Limits {
  if (!isLong) return ordinary;
  if (beside !== undefined) return several;
  const earlierMs = timings.get(file) ?? long.fileTimeoutMs;
  const fileTimeoutMs = Math.min(long.fileTimeoutMs, 10 * 60_000 + 4 * earlierMs);
  return { fileTimeoutMs, testTimeoutMs: Math.min(long.testTimeoutMs, fileTimeoutMs / 2) };
}

/** Prints the runs that have taken long, each with its minutes. @param running when each began */
function printRunning(running: ReadonlyMap<string, number>): void {
  const nowMs = performance.now();
  const lines = [...running]
    .filter(([, startedMs]) => nowMs - startedMs > namingMs)
    .map(([name, startedMs]) => `runs for ${Math.floor((nowMs - startedMs) / 60_000)} minutes: ${name}`);
  if (lines.length > 0) console.log(lines.join("\n"));
}

/** Two files whose organizations have one name fail only when they get the same server by chance. This check
 * makes them fail always. @returns the number of such names */
function complainOfSharedNames(servers: readonly SharedServer[]): number {
  const names = servers.flatMap((shared) => shared.organizations);
  const complaints = [
    ...servers.flatMap((shared) => shared.complaints),
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => `two files name an organization of a shared server ${name}`),
  ];
  for (const complaint of complaints) console.log(complaint);
  return complaints.length;
}

function add(total: Counted, more: Counted): void {
  total.passed += more.passed;
  total.failed += more.failed;
  total.cpuSeconds += more.cpuSeconds;
}

/** The variables of a file: where its temporary files lie, and its engines. */
async function environmentFor(
  run: Run,
  folder: string,
  shared: SharedServer,
): Promise<Record<string, string>> {
  const engines = await enginesFor(run, folder, shared);
  return isOnDisk(run.file) ? { ...engines, TMPDIR: diskFolder } : engines;
}

/** The engines of a file, and a server that it may share. A file on several nodes starts its own. */
async function enginesFor(
  { file, nodes }: Run,
  folder: string,
  shared: SharedServer,
): Promise<Record<string, string>> {
  const path = join(root, file);
  if (nodes === 0 || postgres === undefined) return shared.environmentFor(path);
  const url = postgres.url("postgres");
  const engines = {
    [testVariables.postgres]: url,
    [testVariables.nodes]: String(nodes),
    [testVariables.folder]: folder,
  };
  if (nodes === 1) return { ...engines, ...(await shared.environmentFor(path, url)) };
  await shared.stop();
  return engines;
}

/** A file that was never measured comes first: it may be slow. Files on PostgreSQL follow on the others, and those on several
 * nodes come last. So a shared server can end when a file on other engines begins. */
function slowestFirst(runs: readonly Run[], timings: ReadonlyMap<string, number>): Run[] {
  const ms = ({ file }: Run) => timings.get(file) ?? Number.MAX_SAFE_INTEGER;
  return runs.toSorted((a, b) => a.nodes - b.nodes || ms(b) - ms(a) || (a.name < b.name ? -1 : 1));
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
      removeProgram();
      removeMemoryFolder();
      process.exit(1);
    });
  });
}
const given = process.argv.slice(2);
const atOnce = given
  .map((option) => /^--at-once=(\d+)$/.exec(option)?.[1])
  .find((count) => count !== undefined);
const isLong = given.includes("--long");
const options: Options = {
  isLong,
  isSlowestAsked: given.includes("--slowest"),
  isUpdatingTimings: given.includes("--update-timings"),
  filesAtOnce: Number(atOnce ?? (isLong ? long : ordinary).filesAtOnce),
  words: given.filter((option) => !option.startsWith("--")),
};
try {
  process.exitCode = await main(options);
} finally {
  removeProgram();
  removeMemoryFolder();
}
