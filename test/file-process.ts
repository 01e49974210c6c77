/** Runs files of tests in a process of their own and judges what it reports. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endOf } from "./server-process.ts";

const root = join(import.meta.dir, "..");

export interface FileResult {
  readonly passed: number;
  readonly failed: number;
  /** Faults besides failing tests. */
  readonly complaints: readonly string[];
  readonly output: string;
  /** The files with a failing test. All of them when the process died. */
  readonly failedFiles: readonly string[];
  /** The process group in which all of its processes ran. */
  readonly group: number;
  /** Of the file's process and of all processes that it started and waited for. Other work of the machine
   * does not count. */
  readonly cpuSeconds: number;
}

export interface Limits {
  readonly testTimeoutMs: number;
  readonly fileTimeoutMs: number;
}

/** The processes of files that run, each with the group of all that it started. */
const groups = new Set<number>();

/**
 * Runs files of tests, one after another in one process.
 * @param files their paths from the project's root
 * @param folder an empty one for the report, removed by the caller
 * @param env more for the environment of the tests
 */
export async function runFile(
  files: readonly string[],
  folder: string,
  limits: Limits,
  env: Record<string, string>,
): Promise<FileResult> {
  const report = join(folder, "report.xml");
  // A pipe would stay open, and the run would wait, while a process that a test left behind lives.
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
      ...files.map((file) => `./${file}`),
    ],
    {
      cwd: root,
      env: { ...process.env, ...env },
      // A process group of its own: no process that a test started outlives its file. Processes under test
      // would inherit Bun's --no-orphans, which changes how they end.
      detached: true,
      stdin: "ignore",
      stdout: outputFile,
      stderr: outputFile,
    },
  );
  groups.add(child.pid);
  let atLimit: string | undefined;
  const limit = setTimeout(() => {
    atLimit = `SIGKILL after ${limits.fileTimeoutMs / 60_000} minutes, while these ran:\n${processesOf(child.pid)}\n`;
    killGroup(child.pid);
  }, limits.fileTimeoutMs);
  const exitCode = await endOf(child);
  clearTimeout(limit);
  killGroup(child.pid);
  closeSync(outputFile);
  const ended = child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`;
  const ending = atLimit ?? ended;
  const isGood = exitCode === 0 || (exitCode === null && atLimit === undefined);
  const judged = judge(readReport(report), isGood, ending, readFileSync(outputPath, "utf8"));
  const inReport = failedFilesIn(report);
  const failedFiles = judged.failed > 0 && inReport.length === 0 ? files : inReport;
  return { ...judged, failedFiles, group: child.pid, cpuSeconds: cpuSecondsOf(child) };
}

/** The processor time of a process that has ended. */
export function cpuSecondsOf(child: Pick<Bun.Subprocess, "resourceUsage">): number {
  return Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000_000;
}

const clockTicksASecond = 100;

/** The processor time of a process that runs, and of those that it waited for. 0 when it has ended. */
export function cpuSecondsUntilNow(pid: number | undefined): number {
  try {
    const ticks = statOf(pid).slice(11, 15);
    return ticks.reduce((sum, each) => sum + Number(each), 0) / clockTicksASecond;
  } catch {
    return 0;
  }
}

/** The processes of a group, a line each: state, processor time and command. They say what a file that hangs
 * waits for. */
function processesOf(group: number): string {
  return processIds()
    .flatMap((pid) => {
      try {
        const [state, , processGroup] = statOf(pid);
        if (Number(processGroup) !== group) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 200);
        return [`${state} ${cpuSecondsUntilNow(Number(pid)).toFixed(1)} s ${command}`];
      } catch {
        return [];
      }
    })
    .join("\n");
}

/** None on a system without `/proc`. */
function processIds(): string[] {
  return existsSync("/proc") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
}

/** The fields of `/proc/PID/stat` behind the command's name: state, parent, group. */
function statOf(pid: number | string | undefined): string[] {
  return readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
}

/** Kills all files that run. */
export function killRunningFiles(): void {
  for (const group of groups) killGroup(group);
}

function killGroup(group: number): void {
  groups.delete(group);
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // All processes of the group have ended.
  }
}

interface Counts {
  readonly tests: number;
  readonly failures: number;
  readonly skipped: number;
}

/** The totals of a JUnit report. `undefined` when the process wrote none: it died or had no test. */
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

/** The files with a failing test in a JUnit report. */
function failedFilesIn(path: string): string[] {
  if (!existsSync(path)) return [];
  const suites = readFileSync(path, "utf8").matchAll(
    /<testsuite [^>]*?file="([^"]+)"[^>]*? failures="[1-9]/g,
  );
  return [...new Set([...suites].flatMap(([, file = ""]) => file.replace(/^\.\//, "")))];
}

type Judged = Pick<FileResult, "passed" | "failed" | "complaints" | "output">;

function judge(counts: Counts | undefined, isExitGood: boolean, ending: string, output: string): Judged {
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
