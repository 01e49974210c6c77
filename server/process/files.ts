/** Files that are complete and on disk, or absent. Contents are on disk only after a sync of the file, names
 * only after a sync of the folder. */
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Where something is written until it is whole and gets its own name. */
export function unfinishedPath(path: string): string {
  return `${path}.unfinished`;
}

/** Resolves when a file's contents, or the names in a folder, are on disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Resolves when everything below a folder is on disk, contents and names. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) await syncPath(path);
  }
  await syncPath(folder);
}
