/** A copy of the project in which files are changed and tests run. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { programPrefix } from "../program.ts";
import { root } from "../tidy/source-files.ts";

/** How a command ended: well, badly, or not within its time. */
export type Ending = "passed" | "failed" | "timed out";

const copies = new Set<ProjectCopy>();

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    for (const copy of copies) copy.remove();
    process.exit(1);
  });
}

export class ProjectCopy {
  readonly folder: string;
  readonly #parent: string;
  /** The process that runs in it. */
  #group: number | undefined;

  constructor() {
    this.#parent = mkdtempSync(join(tmpdir(), "rekindle-mutant-"));
    this.folder = join(this.#parent, "project");
    // Data that tests read and that are not part of the project.
    const shared = join(root, "../shared");
    if (existsSync(shared)) symlinkSync(realpathSync(shared), join(this.#parent, "shared"));
    const left = new Set(["node_modules", ".git", "data"]);
    cpSync(root, this.folder, {
      recursive: true,
      filter: (path) => !left.has(basename(path)) && !basename(path).startsWith(programPrefix),
    });
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"));
    copies.add(this);
  }

  /** The path of a file of the project in this copy. */
  path(path: string): string {
    return join(this.folder, path);
  }

  /** Changes a file. */
  write(path: string, text: string): void {
    writeFileSync(this.path(path), text);
  }

  /** Makes a file as it is in the project again. */
  restore(path: string): void {
    this.write(path, readFileSync(join(root, path), "utf8"));
  }

  /** Runs a file of tests until one of them fails. */
  test(file: string, timeoutMs: number): Promise<Ending> {
    return this.#run(["test", `./${file}`, "--bail=1", `--timeout=${timeoutMs}`], timeoutMs);
  }

  /** Runs the compiler. It remembers what it knows of files that did not change. @param more further
   * options */
  async compiles(...more: readonly string[]): Promise<boolean> {
    const remembered = ["--incremental", "--tsBuildInfoFile", this.path(".types")];
    const options = ["--noEmit", "--singleThreaded", ...remembered, ...more, "-p", this.folder];
    return (await this.#run(["node_modules/typescript/bin/tsc", ...options], 5 * 60_000)) === "passed";
  }

  /** Ends what runs in it, too. */
  remove(): void {
    copies.delete(this);
    if (this.#group !== undefined) killGroup(this.#group);
    rmSync(this.#parent, { recursive: true, force: true });
  }

  async #run(words: readonly string[], timeoutMs: number): Promise<Ending> {
    let isLate = false;
    const child = Bun.spawn([process.execPath, ...words], {
      cwd: this.folder,
      // A group of its own: the servers that a test started end with it.
      detached: true,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
    this.#group = child.pid;
    const clock = setTimeout(() => {
      isLate = true;
      killGroup(child.pid);
    }, timeoutMs);
    const exitCode = await child.exited;
    clearTimeout(clock);
    this.#group = undefined;
    killGroup(child.pid);
    if (isLate) return "timed out";
    return exitCode === 0 ? "passed" : "failed";
  }
}

function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // No process is left in it.
  }
}
