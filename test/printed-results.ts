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
