/**
 * The dashboard's pages, built when needed: `dashboard/dist/` has a folder named after the hash of the
 * sources. A build is made beside it and renamed, so that simultaneous starts do not disturb each other, and
 * a named folder is complete.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../server/process/message-of.ts";

const root = join(import.meta.dir, "..");
const dist = join(root, "dashboard", "dist");
/** On the slowest machine that we know a build took 4 seconds. */
const maxBuildMs = 10 * 60_000;
const hashCharacters = 16;

/** The folder with the pages to serve; they are built first when their sources have changed. Undefined when
 * the build fails: the reason is on stderr, and the service still takes writes. */
export async function builtPages(): Promise<string | undefined> {
  // A published package has the pages and not their sources.
  if (!existsSync(join(root, "dashboard", "build.ts"))) return publishedPages();
  const hash = hashOfSources();
  const folder = join(dist, hash);
  if (existsSync(folder)) return folder;
  process.stderr.write("rekindle: building the dashboard's pages, once …\n");
  const failure = await build(folder);
  if (failure === undefined) return folder;
  process.stderr.write(`rekindle: the pages could not be built, so there is no dashboard:\n${failure}\n`);
  return undefined;
}

function publishedPages(): string | undefined {
  const found = existsSync(dist) ? readdirSync(dist).find((name) => !name.startsWith(".")) : undefined;
  return found === undefined ? undefined : join(dist, found);
}

/** The error message; undefined when the folder is there. */
async function build(folder: string): Promise<string | undefined> {
  const unfinished = join(dist, `.unfinished-${process.pid}`);
  try {
    mkdirSync(dist, { recursive: true });
    const child = Bun.spawn([process.execPath, join(root, "dashboard", "build.ts"), unfinished], {
      cwd: root,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: maxBuildMs,
    });
    const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if ((await child.exited) !== 0) return said.join("").trim() || "the build ended without a word";
    publish(unfinished, folder);
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function publish(unfinished: string, folder: string): void {
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another start was quicker, with the same sources.
    if (!existsSync(folder)) throw error;
  }
  // Servers have their pages in memory, so older folders and those of killed builds can be removed.
  for (const name of readdirSync(dist)) {
    const other = join(dist, name);
    if (other !== folder && !(name.startsWith(".") && mayBeInWork(other))) {
      rmSync(other, { recursive: true, force: true });
    }
  }
}

function mayBeInWork(unfinished: string): boolean {
  const madeMs = statSync(unfinished, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Math.abs(Date.now() - madeMs) < maxBuildMs;
}

/** Of everything that the pages are made of: their own files, the contract, and the versions of the
 * libraries. */
function hashOfSources(): string {
  const hash = createHash("sha256");
  const own = ["dashboard", "contract"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(dist))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const lock = join(root, "package-lock.json");
  for (const path of [...own, ...(existsSync(lock) ? [lock] : [])].sort()) {
    const bytes = readFileSync(path);
    hash.update(`${path.slice(root.length)} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex").slice(0, hashCharacters);
}
