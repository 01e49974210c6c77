/**
 * Runs the tests: `npm test` everything but test/long, `npm run test:long` what takes minutes. Further
 * arguments choose files by a part of their path: `npm test -- tidy`.
 *
 * Every file runs in a process of its own, because the embedded warehouse allows one data folder per process
 * and because a crash then costs one file. A test that is skipped, a file without a test and a process that
 * dies count as failures, so that nothing is left out in silence. The last line is `N passed, N failed`.
 */
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtPages } from "../cli/pages.ts";
import { told } from "./engines.ts";
import { type Run, runsOnPostgres } from "./on-postgres.ts";
import { PostgresServer } from "./postgres.ts";

const root = join(import.meta.dir, "..");
/** One more than the cores of a small machine: files wait for half of their time, for commits, loaders and pages. Four at once took
 * as long as three, by more processor time. */
const filesAtOnce = 3;
/** Those that take longest begin first, so that none of them is alone at the end; the rest follow by name. In the order of
 * the seconds that a run prints; to be put in order again when one of the others has become as slow. */
const longestFirst = [
  "erasure/erasure",
  "readme",
  "warehouse/rollups",
  "import/formats",
  "dashboard/pages",
  "dashboard/lists",
  "dashboard/entities",
  "dashboard/model",
  "import/mapping",
  "analytics/figures",
  "dashboard/retention-choices",
  "dashboard/events",
  "dashboard/settings",
  "people/live",
  "people/organization",
  "warehouse/crash",
  "dashboard/overview",
  "dashboard/settings-people",
  "analytics/overview",
  "durability/full-disk",
].map((name) => `test/${name}.test.ts`);
const ordinary = { testTimeoutMs: 180_000, fileTimeoutMs: 15 * 60_000 };
const long = { testTimeoutMs: 20 * 60_000, fileTimeoutMs: 60 * 60_000 };

interface FileResult {
  readonly passed: number;
  readonly failed: number;
  /** What was wrong beside failing tests. */
  readonly complaints: readonly string[];
  readonly output: string;
  /** Of the file's process and all that it started and waited for: what is left when the machine has other work. */
  readonly cpuSeconds: number;
}

let postgres: PostgresServer | undefined;
/** Whether a signal told it to end. */
let isTold = false;

async function main(options: readonly string[]): Promise<number> {
  const isLong = options.includes("--long");
  const parts = options.filter((option) => option !== "--long");
  const files = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: root })].sort(byLength);
  const runs = [
    ...files
      .filter((file) => file.startsWith("test/long/") === isLong)
      .map((file): Run => ({ name: file, file, nodes: 0 })),
    ...runsOnPostgres(files, isLong),
  ].filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)));
  const gone = longestFirst.filter((file) => !existsSync(join(root, file)));
  if (gone.length > 0) throw new Error(`test/run.ts orders ${gone.join(", ")}, which is not there`);
  // Once and beforehand: many tests start a server, and none of them should wait for a build.
  await builtPages();
  // One for all: each of their servers has a database of its own.
  if (runs.some(({ nodes }) => nodes > 0)) postgres = await PostgresServer.start();
  const reports = mkdtempSync(join(tmpdir(), "rekindle-test-"));
  let [passed, failed] = [0, 0];
  const waiting = [...runs];
  const work = async () => {
    for (let run = waiting.shift(); run !== undefined && !isTold; run = waiting.shift()) {
      const startedMs = performance.now();
      const folder = join(reports, run.name.replaceAll(/[/ ]/g, "-"));
      mkdirSync(folder);
      const result = await runFile(run, folder, isLong ? long : ordinary);
      rmSync(folder, { recursive: true });
      passed += result.passed;
      failed += result.failed;
      print(run.name, result, performance.now() - startedMs);
    }
  };
  try {
    await Promise.all(Array.from({ length: filesAtOnce }, work));
  } finally {
    rmSync(reports, { recursive: true });
    await postgres?.stop();
  }
  if (runs.length === 0) {
    console.log(`no test file ${parts.length === 0 ? "was found" : `has ${parts.join(" or ")} in its path`}`);
    failed += 1;
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function byLength(a: string, b: string): number {
  const rank = (file: string) => longestFirst.indexOf(file) + 1 || longestFirst.length + 1;
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

/** @param folder an empty one, removed afterwards: for the report, and for what the test's engines keep */
async function runFile({ file, nodes }: Run, folder: string, limits: typeof ordinary): Promise<FileResult> {
  const report = join(folder, "report.xml");
  // A file, not a pipe: a pipe stays open, and the run would wait, while anything that a test left behind lives.
  const outputPath = join(folder, "output.txt");
  const outputFile = openSync(outputPath, "w");
  const child = Bun.spawn(
    [
      process.execPath,
      "--no-env-file",
      "test",
      `--timeout=${limits.testTimeoutMs}`,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      `./${file}`,
    ],
    {
      cwd: root,
      env: { ...process.env, ...enginesFor(nodes, folder) },
      // A process group of its own, so that nothing that a test started outlives its file. Bun's --no-orphans
      // would be inherited by the processes under test and change how they end.
      detached: true,
      stdin: "ignore",
      stdout: outputFile,
      stderr: outputFile,
      timeout: limits.fileTimeoutMs,
      killSignal: "SIGKILL",
    },
  );
  groups.add(child.pid);
  await child.exited;
  killGroup(child.pid);
  closeSync(outputFile);
  const ending = child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`;
  const judged = judge(readReport(report), child.exitCode === 0, ending, readFileSync(outputPath, "utf8"));
  return { ...judged, cpuSeconds: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000_000 };
}

function enginesFor(nodes: number, folder: string): Record<string, string> {
  if (postgres === undefined || nodes === 0) return {};
  return {
    [told.postgres]: postgres.url("postgres"),
    [told.nodes]: String(nodes),
    [told.folder]: folder,
  };
}

const groups = new Set<number>();

function killGroup(group: number): void {
  groups.delete(group);
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nobody is left in it, which is as it should be.
  }
}

interface Counts {
  readonly tests: number;
  readonly failures: number;
  readonly skipped: number;
}

/** The totals of a JUnit report; `undefined` when the process wrote none, as when it died or had no test. */
function readReport(path: string): Counts | undefined {
  let head: string;
  try {
    head = /<testsuites [^>]*>/.exec(readFileSync(path, "utf8"))?.[0] ?? "";
  } catch {
    return undefined;
  }
  const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? Number.NaN);
  return { tests: count("tests"), failures: count("failures"), skipped: count("skipped") };
}

function judge(
  counts: Counts | undefined,
  isExitGood: boolean,
  ending: string,
  output: string,
): Omit<FileResult, "cpuSeconds"> {
  if (counts === undefined) {
    const why = isExitGood ? "it has no test" : `it ended with ${ending} before its tests were counted`;
    return { passed: 0, failed: 1, complaints: [why], output };
  }
  const complaints: string[] = [];
  if (counts.skipped > 0) complaints.push(`${counts.skipped} tests were skipped or left to do`);
  const passed = counts.tests - counts.failures - counts.skipped;
  let failed = counts.failures + counts.skipped;
  if (passed === 0 && failed === 0) complaints.push("it has no test");
  if (!isExitGood && failed === 0) complaints.push(`it ended with ${ending} although no test failed`);
  if (complaints.length > 0 && failed === 0) failed = 1;
  return { passed, failed, complaints, output };
}

function print(file: string, result: FileResult, milliseconds: number): void {
  const seconds = `${(milliseconds / 1000).toFixed(1)} s, ${result.cpuSeconds.toFixed(1)} s of processor time`;
  const line = `${result.failed === 0 ? "ok  " : "FAIL"} ${file}  ${result.passed} passed, ${result.failed} failed, ${seconds}`;
  if (result.failed === 0) {
    const notRun = result.output.split("\n").filter((text) => text.startsWith("not run: "));
    console.log([...notRun, line].join("\n"));
  } else
    console.log(
      [result.output.trimEnd(), ...result.complaints.map((why) => `${file}: ${why}`), line].join("\n"),
    );
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    isTold = true;
    for (const group of groups) killGroup(group);
    void Promise.resolve(postgres?.stop()).finally(() => process.exit(1));
  });
}
process.exitCode = await main(process.argv.slice(2));
