/**
 * The program in a few files and a warehouse with all its tables, made once for all servers of a run. A start
 * of the sources loads 900 files in each of two processes, and 56 statements make the tables: together more
 * than half of its processor time. A file of tests that is run alone does without.
 */
import { cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../server/process/message-of.ts";
import { countingEnvironment, makingTables } from "./runner/counting.ts";

const root = join(import.meta.dir, "..");
const entries = {
  main: "cli/main.ts",
  serve: "test/serve.ts",
  "held-server": "test/durability/held-server.ts",
  "held-work": "test/scoring/held-work.ts",
} as const;
/** Bun does not bundle what `new Worker` starts. They are files of these names beside the bundle, which
 * import the sources. */
const workers = [
  "server/sending/posting-worker.ts",
  "server/ledger/sqlite/snapshot-worker.ts",
  "server/features/imports/upload-worker.ts",
];
/** The process id follows, so that the next run finds the folder of a run that was killed. It lies where the
 * program's own folders do, because the program finds its pages from there. */
export const programPrefix = ".program-";
/** Longer than a whole run. */
const abandonedMs = 3 * 3_600_000;
/** The variable that names the folder, for the processes of test files. */
const variable = "TEST_PROGRAM";
const tablesIn = (folder: string) => join(folder, "tables");

/** Makes both, or says why they cannot be made: then servers start as in a file that is run alone.
 * @returns removes them, and may be called while they are made */
export function prepareProgram(): { readonly remove: () => void; readonly ready: Promise<void> } {
  removeAbandoned();
  const folder = join(root, `${programPrefix}${process.pid}`);
  return { remove: () => rmSync(folder, { recursive: true, force: true }), ready: make(folder) };
}

async function make(folder: string): Promise<void> {
  try {
    await bundle(folder);
    await makeTables(tablesIn(folder));
  } catch (error) {
    console.log(`servers start from the sources: ${messageOf(error)}`);
    return;
  }
  process.env[variable] = folder;
}

async function bundle(folder: string): Promise<void> {
  const { success, logs } = await Bun.build({
    entrypoints: Object.values(entries).map((path) => join(root, path)),
    outdir: folder,
    target: "bun",
    splitting: true,
    naming: { entry: "[name].js", chunk: "chunk-[hash].js" },
    sourcemap: "linked",
    external: ["chdb"],
  });
  if (!success) throw new AggregateError(logs, "the program could not be bundled");
  for (const worker of workers) {
    writeFileSync(join(folder, worker.slice(worker.lastIndexOf("/") + 1)), `import "../${worker}";\n`);
  }
}

/** In a process of its own: the engine can abort its process, and keeps its memory. */
async function makeTables(folder: string): Promise<void> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "make-tables.ts"), folder], {
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    env: { ...process.env, ...countingEnvironment(makingTables) },
  });
  if ((await child.exited) !== 0) throw new Error("the tables of the warehouse could not be made");
}

/** Removes what runs that were killed have left. A run in another container has no process here, so young
 * folders stay. */
function removeAbandoned(): void {
  for (const name of readdirSync(root)) {
    const folder = join(root, name);
    if (!name.startsWith(programPrefix) || existsSync(`/proc/${name.slice(programPrefix.length)}`)) continue;
    if (Date.now() - statSync(folder).mtimeMs > abandonedMs) rmSync(folder, { recursive: true, force: true });
  }
}

/** The file that a process of the program starts with. */
export function programEntry(name: keyof typeof entries): string {
  const folder = process.env[variable];
  return folder === undefined ? join(root, entries[name]) : join(folder, `${name}.js`);
}

/** Fills the folder of a new embedded warehouse with its tables, where a run has made them. */
export function fillWithTables(warehouseFolder: string): void {
  const folder = process.env[variable];
  if (folder === undefined) return;
  cpSync(tablesIn(folder), warehouseFolder, { recursive: true, verbatimSymlinks: true });
}
