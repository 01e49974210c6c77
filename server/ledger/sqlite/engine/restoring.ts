/**
 * A restore puts a ledger into an empty data folder. As long as its mark lies there nobody opens the ledger, so
 * that what a killed restore left is never taken for an installation.
 */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { Refusal } from "../../../../contract/refusal.ts";
import { syncPath } from "../../../process/process.ts";

/** The mark: a folder in which the ledger is put together. */
function restoringFolder(dataDir: string): string {
  return join(dataDir, "restoring");
}

/** @throws Refusal when a restore into this folder has begun and not ended. */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (!existsSync(restoringFolder(dataDir))) return;
  throw new Refusal(
    `a restore into ${dataDir} did not come to its end: run rekindle restore again, or empty the folder.`,
  );
}

/** What a restore puts into a data folder beside its mark. @param others than the ledger's files */
function restoredPaths(dataDir: string, file: string, others: readonly string[]): readonly string[] {
  return [file, `${file}-wal`, `${file}-shm`, `${file}-journaled`, join(dataDir, "message-ids"), ...others];
}

/** @throws Refusal when there is an installation in the folder; what a killed restore left is none. */
export function refuseInstallation(dataDir: string, file: string, others: readonly string[]): void {
  if (existsSync(restoringFolder(dataDir))) return;
  if (!restoredPaths(dataDir, file, others).some((path) => existsSync(path))) return;
  throw new Refusal(`${dataDir} holds an installation already: set DATA_DIR to an empty folder.`);
}

/** Marks the data folder.
 * @returns the folder in which the ledger's files are to be written */
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

/** Removes what a restore wrote that failed or was killed, its mark last. */
export async function undoRestore(dataDir: string, file: string, others: readonly string[]): Promise<void> {
  const folder = restoringFolder(dataDir);
  if (!existsSync(folder)) return;
  for (const path of restoredPaths(dataDir, file, others)) await rm(path, { recursive: true, force: true });
  await rm(folder, { recursive: true });
}

/** Puts the ledger in its place and takes the mark away: from then on it is an installation. */
export async function finishRestore(dataDir: string, file: string): Promise<void> {
  const folder = restoringFolder(dataDir);
  await rename(join(folder, "message-ids"), join(dataDir, "message-ids"));
  await rename(join(folder, basename(file)), file);
  await syncPath(dataDir);
  await rm(folder, { recursive: true });
  await syncPath(dataDir);
}
