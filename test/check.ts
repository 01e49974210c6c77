/**
 * `npm run check`: everything that reads the code and runs none of it. Types of both projects, Biome, Knip,
 * and the rules of the files in the check tier. `npm test` begins with it. The last line is `N passed, N
 * failed`.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuSecondsOf, runFile } from "./file-process.ts";
import { type Counted, print } from "./printed-results.ts";
import { listTestFiles, runsOf } from "./runs.ts";

const root = join(import.meta.dir, "..");

/** One thread: TypeScript's own choice took twice the processor time, 12.3 s instead of 5.7 s. */
const types = ["typescript/bin/tsc", "--noEmit", "--singleThreaded"];
const tools: readonly (readonly [name: string, command: readonly string[]])[] = [
  ["types", [...types, "-p", "."]],
  ["types of the dashboard", [...types, "-p", "dashboard"]],
  ["Biome", ["@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."]],
  ["Knip", ["knip/bin/knip-bun.js", "--no-progress"]],
];
/** They take seconds, and minutes when others work on the same cores. */
const limits = { testTimeoutMs: 180_000, fileTimeoutMs: 10 * 60_000 };

/** Runs all checks, two at a time, and prints each result. */
export async function check(files: readonly string[]): Promise<Counted> {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-check-"));
  const total: Counted = { passed: 0, failed: 0, cpuSeconds: 0 };
  const jobs = [
    ...tools.map(([name, command]) => ({ name, work: () => runTool(command) })),
    ...runsOf(files, "check").map(({ file }, index) => ({
      name: file,
      work: () => {
        const own = join(folder, String(index));
        mkdirSync(own);
        return runFile([file], own, limits, {});
      },
    })),
  ];
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const startedMs = performance.now();
      const result = await job.work();
      print(job.name, result, performance.now() - startedMs);
      total.passed += result.passed;
      total.failed += result.failed;
      total.cpuSeconds += result.cpuSeconds;
    }
  };
  try {
    await Promise.all([work(), work()]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return total;
}

/** Runs a tool under Bun, so that no Node has to be on the path. */
async function runTool([program, ...options]: readonly string[]) {
  const child = Bun.spawn([process.execPath, `${root}/node_modules/${program}`, ...options], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: limits.fileTimeoutMs,
    killSignal: "SIGKILL",
  });
  const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const isGood = (await child.exited) === 0;
  return {
    passed: isGood ? 1 : 0,
    failed: isGood ? 0 : 1,
    failedFiles: [],
    group: child.pid,
    complaints: isGood ? [] : [`${program} ended with ${child.signalCode ?? child.exitCode}`],
    output: texts.join(""),
    cpuSeconds: cpuSecondsOf(child),
  };
}

if (import.meta.main) {
  const { passed, failed } = await check(listTestFiles());
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
