/** Runs `rekindle backtest` on files, with a folder for what is temporary that can be looked into. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInProcess } from "../command-in-process.ts";
import type { CommandResult } from "../printed-by.ts";
import { programEntry } from "../program.ts";
import { environment } from "../server.ts";

export const data = join(import.meta.dir, "..", "..", "..", "shared", "data");

export interface Answer {
  readonly horizonDays: number;
  readonly n: number;
  readonly baseRate: number | null;
  readonly models: readonly ModelFigures[];
  /** Of subscriptions. */
  readonly departures?: number;
  readonly involuntaryDepartures?: number;
  readonly withCanceling?: Pick<Answer, "n" | "baseRate" | "models"> | null;
  readonly shipped: string;
}

interface ModelFigures {
  readonly name: string;
  /** Predictions. */
  readonly n: number;
  readonly auc: number | null;
  readonly logLoss: number;
  readonly brier: number;
  readonly ece: number;
  readonly slope: number | null;
  readonly lift: number | null;
}

export class BacktestBench {
  readonly folder = mkdtempSync(join(tmpdir(), "rekindle-backtest-test-"));
  readonly #temporary = join(this.folder, "tmp");
  /** The answers by their command. */
  readonly #answers = new Map<string, Promise<Answer>>();

  constructor() {
    mkdirSync(this.#temporary);
  }

  end(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Writes a file, of a name that no other has. */
  file(name: string, content: string | Uint8Array): string {
    const path = join(this.folder, name);
    writeFileSync(path, content, { flag: "wx" });
    return path;
  }

  /** The files and folders that a run has left in its temporary folder, or has there now. */
  left(): string[] {
    return readdirSync(this.#temporary, { recursive: true }).map(String);
  }

  /** The command for a process of its own. */
  command(file: string, ...options: string[]) {
    return {
      command: [process.execPath, programEntry("main"), "backtest", file, ...options],
      env: this.#env,
    };
  }

  /** Runs the command in this process: one of its own takes 0.7 s of processor time more, mostly for the
   * engine's start. */
  run(file: string, ...options: string[]): Promise<CommandResult> {
    return runInProcess(this.#env, ["backtest", file, ...options]);
  }

  get #env() {
    return { ...environment(this.folder), TMPDIR: this.#temporary };
  }

  /** The answer of a command, which runs once: tests compare it with answers of other commands. */
  json(file: string, ...options: string[]): Promise<Answer> {
    const command = JSON.stringify([file, ...options]);
    const answer = this.#answers.get(command) ?? this.#asked(file, options);
    this.#answers.set(command, answer);
    return answer;
  }

  async #asked(file: string, options: readonly string[]): Promise<Answer> {
    const { exitCode, stdout, stderr } = await this.run(file, ...options, "--json");
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  }
}
