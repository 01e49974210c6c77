/**
 * Runs files of tests side by side. Every file runs in a process of its own, because the embedded engine can
 * abort its process, and then only one file fails. Files that ask for `Server.shared()` get a server that
 * runs beside them and serves one file after another. A test that is skipped, a file without a test and a
 * process that dies count as failures.
 *
 * A file that fails runs once more, alone and with the same seed (test/runner/unstable.ts).
 */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testVariables } from "../engines.ts";
import { type FileResult, type Limits, runFile } from "../file-process.ts";
import { PostgresServer } from "../postgres.ts";
import { type Counted, failuresIn, type Measured, print } from "../printed-results.ts";
import { isOnDisk, type Run } from "../runs.ts";
import { asksForShared, SharedServer } from "../shared-server.ts";
import { root } from "../tidy/source-files.ts";
import { countingEnvironment, isCounting, ranFiles, toldIn } from "./counting.ts";
import type { Proof } from "./proved.ts";
import { keepUnstable, maxUnstable, whyRed } from "./unstable.ts";

const ordinary: Limits = { testTimeoutMs: 10 * 60_000, fileTimeoutMs: 15 * 60_000 };
const long: Limits = { testTimeoutMs: 15 * 60_000, fileTimeoutMs: 30 * 60_000 };
/** For several files in one process, which are quick. */
const several: Limits = { testTimeoutMs: 15 * 60_000, fileTimeoutMs: 75 * 60_000 };
/** How often a run names the files that take long: a run that is stopped from outside has then said where it
 * was. */
const namingMs = 5 * 60_000;
/** For files that run when no more may begin. */
const endingMs = 8 * 60_000;

interface RunnerOptions {
  readonly isLong: boolean;
  readonly filesAtOnce: number;
  /** Milliseconds of each file in an earlier run. Those of this run are added. */
  readonly timings: Map<string, number>;
  /** No file begins later, in milliseconds since 1970. */
  readonly untilMs?: number;
  /** Where unstable files are kept. */
  readonly unstableFile: string;
}

/** A run that failed, and may be run again. */
interface Failed {
  readonly run: Run;
  readonly result: FileResult;
  readonly failures: readonly string[];
}

/** Where temporary files lie without the folder in memory. */
const diskFolder = tmpdir();

export class Runner {
  /** The failing tests, with the last lines that each printed. */
  readonly failures: string[] = [];
  readonly measured: Measured[] = [];
  readonly #options: RunnerOptions;
  /** One for each file that runs at once. */
  readonly #servers: SharedServer[];
  readonly #failed: Failed[] = [];
  readonly #running = new Map<string, number>();
  readonly #reports = mkdtempSync(join(tmpdir(), "rekindle-test-"));
  /** The seed of all random input. */
  readonly #seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  #postgres: PostgresServer | undefined;
  #isInterrupted = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#servers = Array.from({ length: options.filesAtOnce }, () => new SharedServer());
  }

  /** Runs files. @param others begin after the first ones, and are left when the time is over */
  async run(runs: readonly Run[], others: readonly Run[]): Promise<Counted> {
    const total: Counted = { passed: 0, failed: 0, cpuSeconds: 0 };
    // One for all: each of their servers has a database of its own.
    if ([...runs, ...others].some(({ nodes }) => nodes > 0)) this.#postgres = await PostgresServer.start();
    const waiting = [this.#slowestFirst(runs), this.#slowestFirst(others)];
    const naming = setInterval(() => this.#printRunning(), namingMs);
    const work = async (shared: SharedServer, lane: number) => {
      while (!this.#isInterrupted && !this.#isOver()) {
        const run = nextRun(waiting, lane > 0 && lane === this.#options.filesAtOnce - 1);
        if (run === undefined) return;
        await this.#runOne(run, shared, total);
      }
    };
    try {
      await Promise.all(this.#servers.map(work));
      await Promise.all(this.#servers.map((shared) => shared.stop()));
      total.failed += complainOfSharedNames(this.#servers);
      if (!this.#isInterrupted) total.failed += complainOfTime(waiting.flat(), new Set(others));
      await this.#runAgain(total);
    } finally {
      clearInterval(naming);
      rmSync(this.#reports, { recursive: true });
      await Promise.all([...this.#servers.map((shared) => shared.stop()), this.#postgres?.stop()]);
    }
    return total;
  }

  /** Begins no more files, and ends the servers. The caller kills the files that run. */
  async interrupt(): Promise<void> {
    this.#isInterrupted = true;
    await Promise.allSettled([...this.#servers.map((shared) => shared.stop()), this.#postgres?.stop()]);
  }

  async #runOne(run: Run, shared: SharedServer, total: Counted): Promise<void> {
    const startedMs = performance.now();
    this.#running.set(run.name, startedMs);
    const result = await this.#runFile(run, shared);
    this.#running.delete(run.name);
    const milliseconds = performance.now() - startedMs;
    const { timings } = this.#options;
    if (run.nodes === 0 && run.beside === undefined) timings.set(run.file, Math.round(milliseconds));
    this.measured.push({ name: run.name, cpuSeconds: result.cpuSeconds });
    print(run.name, result, milliseconds);
    total.cpuSeconds += result.cpuSeconds;
    total.passed += result.passed;
    total.failed += result.failed;
    if (result.failed === 0) this.#prove(run, result);
    else this.#failed.push({ run, result, failures: failuresIn(result.output) });
  }

  async #runFile(run: Run, shared: SharedServer): Promise<FileResult> {
    const serverBefore = shared.cpuSeconds();
    // One for each time: a database is named after the folder of its test.
    const folder = mkdtempSync(join(this.#reports, `${run.file} ${run.nodes} `.replaceAll(/[/ ]/g, "-")));
    try {
      const env = await this.#environmentFor(run, folder, shared);
      const own = await runFile([run.file, ...(run.beside ?? [])], folder, this.#limitsOf(run), env);
      return { ...own, cpuSeconds: own.cpuSeconds + shared.cpuSeconds() - serverBefore };
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /** Runs files that failed once more, one at a time. Where too many passed then, all of them count as
   * failures. */
  async #runAgain(total: Counted): Promise<void> {
    const unstable: {
      readonly failed: Failed;
      readonly files: readonly string[];
      readonly again: FileResult;
    }[] = [];
    for (const failed of this.#failed) {
      const again = this.#isInterrupted || this.#isOver() ? undefined : await this.#secondRun(failed);
      if (again === undefined) this.failures.push(...failed.failures);
      else unstable.push(again);
    }
    const files = unstable.flatMap((one) => one.files);
    if (files.length === 0) return;
    const areForgiven = files.length <= maxUnstable;
    console.log(
      `unstable: ${files.join(", ")}${areForgiven ? "; mend them next" : `: more than ${maxUnstable} are a failure`}`,
    );
    for (const { failed, again } of unstable) {
      const { run, result, failures } = failed;
      if (!areForgiven) {
        this.failures.push(...failures);
        continue;
      }
      total.failed -= result.failed;
      total.passed += result.failed;
      this.#prove(run, { ...result, passed: result.passed + result.failed });
      for (const file of failed.result.failedFiles)
        keepUnstable(this.#options.unstableFile, file, { seed: this.#seed, output: failures.join("\n") });
      console.log(
        `${run.name} failed:\n${failures.join("\n")}\nand passed alone:\n${again.output.trimEnd()}`,
      );
    }
  }

  /** @returns undefined when it failed again, or may not run again */
  async #secondRun(failed: Failed) {
    const { run, result, failures } = failed;
    const [file, ...beside] = result.failedFiles;
    if (file === undefined) return undefined;
    const why = result.failedFiles
      .map((one) => whyRed(one, { output: result.output, failures, kept: this.#options.unstableFile }))
      .find((reason) => reason !== undefined);
    if (why !== undefined) {
      console.log(`${file} does not run again: ${why}`);
      return undefined;
    }
    const shared = new SharedServer();
    const again = await this.#runFile({ name: run.name, file, beside, nodes: run.nodes }, shared);
    await shared.stop();
    print(`${file} again, alone`, again, 0);
    return again.failed === 0 ? { failed, files: result.failedFiles, again } : undefined;
  }

  #prove({ name }: Run, { passed, group }: Pick<FileResult, "passed" | "group">): void {
    if (!isCounting) return;
    const proof: Proof = { name, passed, ran: ranFiles(name, group) };
    appendFileSync(toldIn(root).proofs, `${JSON.stringify(proof)}\n`);
  }

  #isOver(): boolean {
    const { untilMs } = this.#options;
    return untilMs !== undefined && Date.now() > untilMs;
  }

  /** A file that hangs must not hold up the run: it gets ten minutes and four times what it took in an
   * earlier run. */
  #limitsOf({ file, beside = [] }: Run): Limits {
    const { isLong, timings, untilMs } = this.#options;
    if (!isLong) return ordinary;
    const leftMs = untilMs === undefined ? Number.MAX_SAFE_INTEGER : untilMs - Date.now() + endingMs;
    if (beside.length > 0) return { ...several, fileTimeoutMs: Math.min(several.fileTimeoutMs, leftMs) };
    const earlierMs = timings.get(file) ?? long.fileTimeoutMs;
    const fileTimeoutMs = Math.min(long.fileTimeoutMs, 10 * 60_000 + 4 * earlierMs, leftMs);
    return { fileTimeoutMs, testTimeoutMs: Math.min(long.testTimeoutMs, Math.floor(fileTimeoutMs / 2)) };
  }

  /** The variables of a file: its seed, where its temporary files lie, and its engines. */
  async #environmentFor(run: Run, folder: string, shared: SharedServer): Promise<Record<string, string>> {
    return {
      SEED: String(this.#seed),
      ...(await this.#enginesFor(run, folder, shared)),
      ...(isOnDisk(run.file) && { TMPDIR: diskFolder }),
      ...countingEnvironment(run.name),
    };
  }

  /** The engines of a file, and a server that it may share. A file on several nodes starts its own, and so
   * does every file in the copy that counts. */
  async #enginesFor(
    { file, nodes }: Run,
    folder: string,
    shared: SharedServer,
  ): Promise<Record<string, string>> {
    const path = join(root, file);
    if (nodes === 0 || this.#postgres === undefined) return isCounting ? {} : shared.environmentFor(path);
    const url = this.#postgres.url("postgres");
    const engines = {
      [testVariables.postgres]: url,
      [testVariables.nodes]: String(nodes),
      [testVariables.folder]: folder,
    };
    if (nodes === 1 && !isCounting) return { ...engines, ...(await shared.environmentFor(path, url)) };
    await shared.stop();
    return engines;
  }

  /** A file that was never measured comes first: it may be slow. Files on PostgreSQL follow on the others,
   * and those on several nodes come last. So a shared server can end when a file on other engines begins.
   * `nextRun` takes those on PostgreSQL earlier. Files that share a server come last of their engine: it
   * takes 3.5 % of a core while no file uses it. */
  #slowestFirst(runs: readonly Run[]): Run[] {
    const msOf = (file: string) => this.#options.timings.get(file) ?? 60 * 60_000;
    const ms = ({ file, beside = [] }: Run) => [file, ...beside].reduce((sum, one) => sum + msOf(one), 0);
    const sharing = new Set(runs.filter(({ file }) => asksForShared(join(root, file))));
    const last = (run: Run) => Number(sharing.has(run));
    return runs.toSorted(
      (a, b) => a.nodes - b.nodes || last(a) - last(b) || ms(b) - ms(a) || (a.name < b.name ? -1 : 1),
    );
  }

  /** Prints the runs that have taken long, each with its minutes. */
  #printRunning(): void {
    const nowMs = performance.now();
    const lines = [...this.#running]
      .filter(([, startedMs]) => nowMs - startedMs > namingMs)
      .map(([name, startedMs]) => `runs for ${Math.floor((nowMs - startedMs) / 60_000)} minutes: ${name}`);
    if (lines.length > 0) console.log(lines.join("\n"));
  }
}

/**
 * Takes the next run out of what waits. Runs on PostgreSQL wait four fifths of their time, so one of them
 * runs beside others from the beginning: when they ran together at the end, the last five minutes used a
 * third of the processor.
 * @param waiting lists, of which a later one begins when the earlier ones are empty
 * @param prefersPostgres whether runs on PostgreSQL come first
 */
export function nextRun(waiting: readonly Run[][], prefersPostgres: boolean): Run | undefined {
  const runs = waiting.find(({ length }) => length > 0) ?? [];
  const preferred = prefersPostgres ? runs.findIndex(({ nodes }) => nodes > 0) : 0;
  return runs.splice(Math.max(0, preferred), 1)[0];
}

/** Names the runs that the time did not suffice for. @returns how many of them count as failures */
function complainOfTime(waiting: readonly Run[], mayBeLeft: ReadonlySet<Run>): number {
  const missing = waiting.filter((run) => !mayBeLeft.has(run));
  for (const { name } of missing)
    console.log(`FAIL ${name}: the change reaches it, and there was no time to run it`);
  const left = waiting.length - missing.length;
  if (left > 0) console.log(`${left} of the other files did not run: there was no time`);
  return missing.length;
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
