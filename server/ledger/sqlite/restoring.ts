/**
 * A restore puts a ledger into an empty data folder. While its mark is there, no process opens the ledger. So
 * the files of a killed restore are never used as an installation.
 */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { Refusal } from "../../../contract/refusal.ts";
import { syncPath } from "../../process/files.ts";

/** The mark: a folder for the ledger's files during the restore. */
function restoringFolder(dataDir: string): string {
  return join(dataDir, "restoring");
}

/** @throws Refusal when a restore into this folder has not finished. */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (!existsSync(restoringFolder(dataDir))) return;
  throw new Refusal(
    `a restore into ${dataDir} did not come to its end: run rekindle restore again, or empty the folder.`,
  );
}

/** The paths that a restore writes into a data folder beside its mark. @param others paths beside the
 * ledger's files */
function restoredPaths(dataDir: string, file: string, others: readonly string[]): readonly string[] {
  return [file, `${file}-wal`, `${file}-shm`, `${file}-journaled`, join(dataDir, "message-ids"), ...others];
}

/** @throws Refusal when there is an installation in the folder. Files of a killed restore are none. */
export function refuseInstallation(dataDir: string, file: string, others: readonly string[]): void {
  if (existsSync(restoringFolder(dataDir))) return;
  if (!restoredPaths(dataDir, file, others).some((path) => existsSync(path))) return;
  throw new Refusal(`${dataDir} holds an installation already: set DATA_DIR to an empty folder.`);
}

/** Marks the data folder.
 * @returns the folder for the ledger's files */
export async function beginRestore(
  dataDir: string,
  file: string,
  others: readonly string[],
): Promise<string> {
  await undoRestore(dataDir, file, others);
  const folder = restoringFolder(dataDir);
  await mkdir(folder, { mode: 0o700 });
  await syncPath(dataDir);
  return folder;
}

/** Removes the files of a restore that failed or was killed, its mark last. */
export async function undoRestore(dataDir: string, file: string, others: readonly string[]): Promise<void> {
  const folder = restoringFolder(dataDir);
  if (!existsSync(folder)) return;
  for (const path of restoredPaths(dataDir, file, others)) await rm(path, { recursive: true, force: true });
  await rm(folder, { recursive: true });
}

/** Moves the ledger to its path and removes the mark. After it the folder is an installation. */
export async function finishRestore(dataDir: string, file: string): Promise<void> {
  const folder = restoringFolder(dataDir);
  await rename(join(folder, "message-ids"), join(dataDir, "message-ids"));
  await rename(join(folder, basename(file)), file);
  await syncPath(dataDir);
  await rm(folder, { recursive: true });
  await syncPath(dataDir);
}
