/** Carries out what deploy/Dockerfile says in folders instead of containers, and starts what comes out as a
 * container would. */
import { chownSync, cpSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Subprocess } from "bun";
import { run } from "../server.ts";
import { root } from "../tidy/source-files.ts";
import { commandOf, copyOf, deployFile, type Instruction, type Stage, stagesOf } from "./files.ts";

/** Where the image has the program. */
const workdir = "/rekindle";
/** A user id without any right to write, as in the container. */
const nobody = 65_534;

interface Stages {
  readonly build: Stage;
  readonly final: Stage;
}

/** The two stages of deploy/Dockerfile. */
export function stages(): Stages {
  const [build, final, ...more] = stagesOf(deployFile("Dockerfile"));
  if (build === undefined || final === undefined || more.length > 0)
    throw new Error("Two stages were expected.");
  return { build, final };
}

/** Makes what the build stage has before its first ARG in a folder: copies files and runs npm and the other
 * commands. Images with other arguments have these layers in common. */
export async function buildUntilArguments(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const { instructions } = stages().build;
  await carryOut(instructions.slice(0, firstArgument(instructions)), folder, {});
}

/** Makes the rest of the build stage in its folder. @param args as of --build-arg */
export async function buildWithArguments(
  folder: string,
  args: Readonly<Record<string, string>>,
): Promise<void> {
  const { instructions } = stages().build;
  await carryOut(instructions.slice(firstArgument(instructions)), folder, args);
}

const firstArgument = (instructions: readonly Instruction[]) =>
  instructions.findIndex(({ word }) => word === "ARG");

async function carryOut(
  instructions: readonly Instruction[],
  folder: string,
  args: Readonly<Record<string, string>>,
): Promise<void> {
  const env: Record<string, string> = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };
  for (const instruction of instructions) {
    if (instruction.word === "COPY") copy(instruction, root, folder);
    if (instruction.word === "ARG") {
      const [name = "", value = ""] = instruction.rest.split("=");
      env[name] = args[name] ?? value;
    }
    if (instruction.word !== "RUN") continue;
    const { exitCode, stdout, stderr } = await run(["sh", "-e", "-c", instruction.rest], {
      cwd: folder,
      env,
    });
    if (exitCode !== 0) throw new Error(`${instruction.rest} failed:\n${stdout}${stderr}`);
  }
}

/** Makes the final stage in a folder, without its users. @param build the build stage's folder */
export function finishIn(folder: string, build: string): void {
  mkdirSync(folder, { recursive: true });
  for (const instruction of stages().final.instructions)
    if (instruction.word === "COPY") copy(instruction, build, folder);
}

function copy(instruction: Instruction, from: string, folder: string): void {
  const { sources, target } = copyOf(instruction);
  for (const source of sources) {
    const path = join(from, source.replace(`${workdir}/`, ""));
    const to = target.endsWith("/") ? join(folder, target, basename(source)) : join(folder, target);
    mkdirSync(dirname(to), { recursive: true });
    // Half a gigabyte that no test changes.
    if (source.endsWith("node_modules")) symlinkSync(path, to);
    else cpSync(path, to, { recursive: true });
  }
}

/** The file names that .dockerignore lets through. */
export function letThrough(): readonly string[] {
  const lines = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
  return lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
}

/** The process that the final stage describes: its environment, its command, and its health check. */
export function processOf({ final }: Stages) {
  const said = (word: string) => final.instructions.filter((instruction) => instruction.word === word);
  const one = (word: string) => {
    const [instruction, ...more] = said(word);
    if (instruction === undefined || more.length > 0) throw new Error(`One ${word} was expected.`);
    return instruction;
  };
  const environment = said("ENV").flatMap(({ rest }) => rest.split(/\s+/).map((pair) => pair.split("=")));
  return {
    environment: Object.fromEntries(environment) as Record<string, string>,
    command: [...commandOf(one("ENTRYPOINT")), ...commandOf(one("CMD"))],
    health: commandOf(one("HEALTHCHECK")),
    user: one("USER").rest,
    stopSignal: one("STOPSIGNAL").rest,
    volume: one("VOLUME").rest,
  };
}

/** A container as far as a process is one: its program in a folder that it may not write to. */
export class Container {
  readonly #folder: string;
  readonly #environment: Record<string, string>;
  readonly #command: readonly string[];
  readonly #health: readonly string[];

  /** @param dataDir in place of the volume, made and given to the container's user */
  constructor(folder: string, dataDir: string, extra: Record<string, string>) {
    const { environment, command, health } = processOf(stages());
    mkdirSync(dataDir, { mode: 0o700, recursive: true });
    if (process.getuid?.() === 0) chownSync(dataDir, nobody, nobody);
    this.#folder = folder;
    this.#environment = { PATH: process.env.PATH ?? "", ...environment, ...extra, DATA_DIR: dataDir };
    this.#command = command;
    this.#health = health;
  }

  /** Starts ENTRYPOINT with CMD, or with other arguments of the program. */
  start(...parameters: readonly string[]): Subprocess<"ignore", "pipe", "pipe"> {
    const [program = "", ...usual] = this.#command;
    return this.#spawn([program, ...(parameters.length > 0 ? parameters : usual)]);
  }

  /** Who may read the program and the folders that it lies in, for a container that does not start. */
  permissions(): string {
    const paths = [join(this.#folder, "cli/rekindle")];
    while (paths[0] !== undefined && dirname(paths[0]) !== paths[0]) paths.unshift(dirname(paths[0]));
    const lines = paths.map((path) => {
      const { mode, uid, gid } = lstatSync(path);
      return `${mode.toString(8)} ${uid}:${gid} ${path}`;
    });
    return [`as ${process.getuid?.()} on`, readFileSync("/proc/mounts", "utf8"), ...lines].join("\n");
  }

  /** Runs the HEALTHCHECK. @returns its exit code */
  async health(): Promise<number> {
    return this.#spawn(this.#health).exited;
  }

  #spawn(command: readonly string[]) {
    const here = command.map((word) => word.replace(/^\/rekindle/, this.#folder));
    const who =
      process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
    return Bun.spawn([...who, ...here], {
      cwd: this.#folder,
      env: this.#environment,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  }
}
