/**
 * The folder for temporary files of tests, in memory. On ext4 a new file searches the inodes that were
 * deleted within the last seconds, and tests delete thousands: this was a sixth of the processor time of
 * test/warehouse/rollups.long.test.ts. Commits wait for no disk. A killed process loses nothing of it, as on
 * a disk. Files that use the disk say so at their head.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** Linux has it in memory. Containers often have 64 MB there, which is too little. */
const parent = "/dev/shm";
const minFreeBytes = 3 * 1024 ** 3;
/** The process id follows, so that the next run finds the folder of a run that was killed. */
const prefix = "rekindle-tests-";

/** Makes the folder the one for temporary files of this process and of all that it starts. Nothing happens
 * where there is too little memory, and when TMPDIR is set. @returns removes the folder */
export function temporaryFilesInMemory(): () => void {
  if (process.env.TMPDIR !== undefined || !existsSync(parent)) return () => undefined;
  removeAbandonedFolders();
  const { bavail, bsize } = statfsSync(parent);
  if (bavail * bsize < minFreeBytes) return () => undefined;
  const folder = join(parent, `${prefix}${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  // PostgreSQL runs as another user, in a folder within.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Removes folders of processes that have ended. The id of an ended process may belong to another one: then
 * its folder stays. */
function removeAbandonedFolders(): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix) || existsSync(`/proc/${name.slice(prefix.length)}`)) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}
