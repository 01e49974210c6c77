/** Prints the results of test/run.ts and test/check.ts. */
import type { FileResult } from "./file-process.ts";

/** The sum of some results. */
export interface Counted {
  passed: number;
  failed: number;
  cpuSeconds: number;
}

/** Prints one line for a result, and before it the output of a failure. */
export function print(name: string, result: FileResult, milliseconds: number): void {
  const seconds = `${(milliseconds / 1000).toFixed(1)} s, ${result.cpuSeconds.toFixed(1)} s of processor time`;
  const line = `${result.failed === 0 ? "ok  " : "FAIL"} ${name}  ${result.passed} passed, ${result.failed} failed, ${seconds}`;
  if (result.failed === 0) {
    const notRun = result.output.split("\n").filter((text) => text.startsWith("not run: "));
    console.log([...notRun, line].join("\n"));
  } else {
    const complaints = result.complaints.map((why) => `${name}: ${why}`);
    console.log([result.output.trimEnd(), ...complaints, line].join("\n"));
  }
}

/** Lines of a failing test's own output that are worth reading again. */
const linesOfFailure = 40;
/** Failing tests that are printed again. The output of each file has them all. */
const maxFailures = 20;

/** The failing tests in an output of `bun test`: the last lines that each printed, its name behind them. */
export function failuresIn(output: string): string[] {
  const failures: string[] = [];
  let lines: string[] = [];
  for (const line of output.split("\n")) {
    // Bun repeats the names of all failing tests at the end.
    if (/^\d+ tests failed:$/.test(line)) break;
    lines.push(line);
    if (line.startsWith("(fail) ")) failures.push(lines.slice(-linesOfFailure).join("\n"));
    if (/^\((pass|fail)\) /.test(line)) lines = [];
  }
  return failures;
}

/** Prints failing tests again, so that they are among the last lines of a long run. */
export function printFailures(failures: readonly string[]): void {
  if (failures.length === 0) return;
  const more = failures.length - maxFailures;
  const shown = failures.slice(0, maxFailures).join("\n");
  console.log(`what failed:\n${shown}${more > 0 ? `\n… and ${more} more tests` : ""}`);
}

/** A figure that was measured for a file, or the sum of a folder's. */
export interface Measured {
  readonly name: string;
  readonly cpuSeconds: number;
}

/** Prints the processor time of each folder and the slowest files. */
export function printSlowest(measured: readonly Measured[]): void {
  const folders = new Map<string, number>();
  for (const { name, cpuSeconds } of measured) {
    const [, folder = "", file] = /^test\/(?:([^/]+)\/)?([^ ]+)/.exec(name) ?? [];
    const where = file === undefined || folder === "" ? "test/" : `test/${folder}/`;
    const engines = / on .*$/.exec(name)?.[0] ?? "";
    folders.set(where + engines, (folders.get(where + engines) ?? 0) + cpuSeconds);
  }
  const lines = (rows: readonly (readonly [string, number])[]) =>
    rows.toSorted(([, a], [, b]) => b - a).map(([name, cpu]) => `${cpu.toFixed(1).padStart(7)} s  ${name}`);
  const files = lines(measured.map(({ name, cpuSeconds }) => [name, cpuSeconds] as const)).slice(0, 30);
  console.log(["processor time by folder:", ...lines([...folders])].join("\n"));
  console.log(["the slowest files:", ...files].join("\n"));
}
