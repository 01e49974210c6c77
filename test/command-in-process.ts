/**
 * Runs commands of `rekindle` in the process of the tests. A process of its own costs 0.2 s of processor time
 * for each command. A file of tests runs up to fifty of them. Tests of the command line itself start
 * processes: `rekindle()` in test/server.ts.
 */
import { type Command, CommanderError } from "commander";
import { escapeOutput } from "../cli/output.ts";
import { isForPeople, rekindleProgram } from "../cli/program.ts";
import { systemTime, type Time } from "../server/process/time.ts";

interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Of the standard output. */
  readonly bytes: Uint8Array;
}

/** Commands that open an engine or wait for a signal. */
const opening: ReadonlySet<string> = new Set([
  "serve",
  "backtest",
  "rebuild",
  "backup",
  "restore",
  "migrate-to",
]);

/** Commands that need no analysis. Others open the warehouse themselves when no analysis runs. */
const ofIntake: ReadonlySet<string> = new Set([
  "organization",
  "member",
  "token",
  "key",
  "import",
  "destination",
  "delivery",
  "alert-rule",
  "note",
  "audit-log",
  "outage",
  "erasure",
]);

/** Whether a command can run here, beside a server that runs. A Parquet file that is imported is read by the
 * embedded engine. */
export function canRunInProcess(
  [name = "", ...parameters]: readonly string[],
  hasAnalysis: boolean,
): boolean {
  if (parameters.includes("--help")) return true;
  if (opening.has(name) || (!ofIntake.has(name) && !hasAnalysis)) return false;
  return name !== "import" || !parameters.some((parameter) => /parquet/i.test(parameter));
}

let previous: Promise<unknown> = Promise.resolve();

/** Runs a command with this environment and this time, after those that were asked for before: they share the
 * process's output. */
export function runInProcess(
  env: Readonly<Record<string, string>>,
  parameters: readonly string[],
  time: Time = systemTime,
): Promise<CommandResult> {
  const result = previous.then(() => run(env, parameters, time));
  previous = result.catch(() => undefined);
  return result;
}

async function run(
  env: Readonly<Record<string, string>>,
  parameters: readonly string[],
  time: Time,
): Promise<CommandResult> {
  const before = { ...process.env };
  const exitCodeBefore = process.exitCode;
  process.exitCode = undefined;
  const captured = captureOutput();
  setEnvironment(env);
  try {
    const { program, words } = await rekindleProgram(parameters, time);
    await throwing(program).parseAsync([...words], { from: "user" });
    return { exitCode: Number(process.exitCode ?? 0), ...captured.end() };
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode, ...captured.end() };
    if (!isForPeople(error)) throw error;
    const { stderr, ...rest } = captured.end();
    return { exitCode: 1, ...rest, stderr: `${stderr}rekindle: ${error.message}\n` };
  } finally {
    captured.end();
    // A failed command is no failure of the tests.
    process.exitCode = exitCodeBefore ?? 0;
    setEnvironment(before);
  }
}

/** Runs what opens the installation as a command does, with this environment. Commands may run in it. */
export async function withEnvironment<Result>(
  env: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = { ...process.env };
  setEnvironment(env);
  try {
    return await work();
  } finally {
    setEnvironment(before);
  }
}

/** Commander ends the process after help and after a wrong option: here it throws. */
function throwing(command: Command): Command {
  command.exitOverride();
  for (const one of command.commands) throwing(one);
  return command;
}

function setEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) {
    if (env[name] === undefined) delete process.env[name];
  }
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && process.env[name] !== value) process.env[name] = value;
  }
}

/** Takes what is written to both outputs, as the command escapes it, until `end`. */
function captureOutput() {
  const { stdout, stderr } = process;
  const [writeOut, writeError, { writer }] = [stdout.write, stderr.write, Bun.stdout];
  const chunks: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  const take = (name: keyof typeof chunks) => (chunk: string | Uint8Array) => {
    chunks[name].push(Buffer.from(chunk));
    return true;
  };
  stdout.write = take("stdout");
  stderr.write = take("stderr");
  escapeOutput();
  // An export writes bytes, and waits for a slow reader.
  const sink = { write: take("stdout"), flush: () => 0, end: () => 0 };
  Object.assign(Bun.stdout, { writer: () => sink });
  return {
    end() {
      stdout.write = writeOut;
      stderr.write = writeError;
      Object.assign(Bun.stdout, { writer });
      const bytes = Buffer.concat(chunks.stdout);
      return { stdout: bytes.toString(), stderr: Buffer.concat(chunks.stderr).toString(), bytes };
    },
  };
}
