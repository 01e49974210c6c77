/**
 * Runs the tests: `npm test` the checks and the files that prove a change sound, `npm run test:long` all
 * others (test/runs.ts). Arguments choose files by the begin of a word of their path: `npm test -- tidy`. The
 * last line is `N passed, N failed`.
 *
 * - `--reached [--fifth=N] [--until=SECONDS]`: the long files that the change reaches, and a fifth of the
 *   others (test/runner/proved.ts), as CI runs them. No file begins after `--until` (seconds since 1970).
 * - `--record`: brings test/proved.json up to this commit: runs what a change since its commit reaches, and
 *   keeps what passed also when the run is ended.
 * - `--slowest`: the processor time by folder and the slowest files. `--update-timings`: test/timings.json
 *   written anew.
 * - `--at-once=N`: how many files run at once.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { builtPages } from "../cli/pages.ts";
import { messageOf } from "../server/process/message-of.ts";
import { check } from "./check.ts";
import { killRunningFiles } from "./file-process.ts";
import { temporaryFilesInMemory } from "./memory-folder.ts";
import { type Counted, printFailures, printSlowest } from "./printed-results.ts";
import { prepareProgram } from "./program.ts";
import { isCounting, toldIn } from "./runner/counting.ts";
import { countingCopy } from "./runner/counting-copy.ts";
import { watchMachine } from "./runner/machine.ts";
import { chooseReached, cleanCommit, readProofs, runsDue, writeRecord } from "./runner/proved.ts";
import { Runner } from "./runner/runner.ts";
import { unstableFile } from "./runner/unstable.ts";
import { chosenRuns, isOfPages, listTestFiles, type Run, withSharedProcesses } from "./runs.ts";
import { scoredDemonstration } from "./scored-demonstration.ts";
import { root } from "./tidy/source-files.ts";

/** Milliseconds of each file in an earlier run. The slowest files begin first. */
const timingsFile = join(import.meta.dir, "timings.json");

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: "boolean", default: false },
    reached: { type: "boolean", default: false },
    fifth: { type: "string" },
    until: { type: "string" },
    record: { type: "boolean", default: false },
    slowest: { type: "boolean", default: false },
    "update-timings": { type: "boolean", default: false },
    // On two cores nine files took 67 s with two and with three at once, and 94 and 101 s of processor time.
    // A container may see more cores than it has.
    "at-once": { type: "string", default: String(Math.min(4, availableParallelism())) },
  },
});
let removeMemoryFolder = () => {};
let removeProgram = () => {};
let runner: Runner | undefined;

async function main(): Promise<number> {
  if (options.record && !isCounting) return await record();
  removeMemoryFolder = temporaryFilesInMemory();
  // Bun gives memory back within 10 ms, a seventh of the processor time of servers that live for seconds.
  process.env.MIMALLOC_PURGE_DELAY ??= "-1";
  const machine = watchMachine();
  const files = listTestFiles();
  const { runs, others } = choose(files);
  const count = [...runs, ...others].reduce((sum, { beside = [] }) => sum + 1 + beside.length, 0);
  console.log(`${count} ${count === 1 ? "file" : "files"} chosen${otherTier(files)}`);
  const total: Counted = { passed: 0, failed: 0, cpuSeconds: 0 };
  const checked = !options.long && words.length === 0 ? check(files) : undefined;
  // Once and beforehand: many tests start a server, and each of them would wait for the build.
  await builtPages();
  const program = prepareProgram();
  removeProgram = program.remove;
  await program.ready;
  if (!isCounting && [...runs, ...others].some(isOfPages)) await demonstrate();
  const timings = readTimings();
  runner = new Runner({
    isLong: options.long,
    filesAtOnce: Number(options["at-once"]),
    timings,
    unstableFile,
    ...(options.until !== undefined && { untilMs: Number(options.until) * 1_000 }),
  });
  for (const counted of await Promise.all([checked, runner.run(runs, others)])) add(total, counted);
  if (options.slowest) printSlowest(runner.measured);
  if (options["update-timings"]) writeTimings(timings, files);
  if (count === 0 && !options.reached) {
    console.log(`no test file of this tier has a word in its path that begins with ${words.join(" or ")}`);
    total.failed += 1;
  }
  printFailures(runner.failures);
  console.log([`${total.cpuSeconds.toFixed(0)} s of processor time`, machine()].filter(Boolean).join("; "));
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

/** Makes what the files of pages wait for. Beside other files it took 13 minutes, and 1 alone. */
async function demonstrate(): Promise<void> {
  await scoredDemonstration().catch((error: unknown) =>
    console.log(`the demonstration of the pages could not be made: ${messageOf(error)}`),
  );
}

/** The runs, and others that may be left when the time is over. */
function choose(files: readonly string[]): { readonly runs: Run[]; readonly others: Run[] } {
  const chosen = chosenRuns(files, options.long, words);
  if (isCounting && options.record) {
    const due: readonly string[] = JSON.parse(readFileSync(toldIn(root).due, "utf8"));
    return { runs: chosen.filter(({ name }) => due.includes(name)), others: [] };
  }
  if (!options.reached) return { runs: isCounting ? chosen : withSharedProcesses(chosen), others: [] };
  const { reached, others, why } = chooseReached(
    chosen,
    options.fifth === undefined ? undefined : Number(options.fifth),
  );
  console.log(why.join("\n"));
  // Files with very many cases run a sample of them.
  process.env.TEST_SAMPLE = "1";
  return { runs: withSharedProcesses(reached), others: withSharedProcesses(others) };
}

/** Runs in a copy that counts what the record does not prove yet, and adds what passed. */
async function record(): Promise<number> {
  if (!options.long || options.reached || words.length > 0)
    throw new Error("--record chooses its runs itself");
  const commit = cleanCommit();
  const runs = chosenRuns(listTestFiles(), true, []);
  const due = runsDue(runs);
  if (due.length === 0) {
    console.log("the record proves all of this commit");
    return 0;
  }
  const copy = countingCopy();
  try {
    writeFileSync(toldIn(copy.path).due, JSON.stringify(due.map(({ name }) => name)));
    const child = Bun.spawn([process.execPath, "test/run.ts", ...process.argv.slice(2)], {
      cwd: copy.path,
      stdio: ["ignore", "inherit", "inherit"],
    });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(signal, () => child.kill(signal));
    const exitCode = await child.exited;
    const proofs = readProofs(toldIn(copy.path).proofs);
    writeRecord(commit, runs, due, proofs);
    console.log(`${proofs.length} of ${due.length} runs are proved; ${runs.length - due.length} were before`);
    return exitCode;
  } finally {
    copy.remove();
  }
}

/** Names the command for files of the other tier that the words choose, too: the details of a page are long,
 * for example. */
function otherTier(files: readonly string[]): string {
  if (words.length === 0) return "";
  const count = chosenRuns(files, !options.long, words).length;
  const command = options.long ? "npm test" : "npm run test:long";
  return count === 0 ? "" : `; ${count} more: ${command} -- ${words.join(" ")}`;
}

function add(total: Counted, more: Counted | undefined): void {
  if (more === undefined) return;
  total.passed += more.passed;
  total.failed += more.failed;
  total.cpuSeconds += more.cpuSeconds;
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
    if (options.record && !isCounting) return;
    killRunningFiles();
    void (runner?.interrupt() ?? Promise.resolve()).finally(() => {
      removeProgram();
      removeMemoryFolder();
      process.exit(1);
    });
  });
}
try {
  process.exitCode = await main();
} finally {
  removeProgram();
  removeMemoryFolder();
}
