/**
 * Restores a backup into an empty data folder, in order: whatever can be wrong is found before anything is
 * written; the mark of an unfinished restore lies in the folder until both stores are whole and on disk.
 */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Refusal } from "../../contract/refusal.ts";
import { features } from "../features/features.ts";
import { ledgerFile } from "../ledger/sqlite/ledger-file.ts";
import { ledgerMigrations } from "../ledger/sqlite/migrations/migrations.ts";
import { openSqliteLedger } from "../ledger/sqlite/open.ts";
import { beginRestore, finishRestore, refuseInstallation, undoRestore } from "../ledger/sqlite/restoring.ts";
import { warehouseFolder } from "../process/data-folder.ts";
import { syncTree } from "../process/files.ts";
import { takeLock } from "../process/lock.ts";
import { messageOf } from "../process/message-of.ts";
import { takeAnalysisLock } from "../warehouse/analysis.ts";
import {
  eventsIn,
  extractBackupFile,
  type Manifest,
  type ReportProgress,
  readManifest,
  verifyBackupFiles,
} from "../warehouse/copies/backup-files.ts";
import { refuseUnknownTables, restoreWarehouse } from "../warehouse/copies/restore.ts";

export interface RestoreSummary {
  readonly events: number;
  readonly organizations: number;
  readonly createdAt: string;
  readonly rekindle: string;
}

/** Restores the backup in `folder`. @throws Refusal when it cannot be, or the data folder is not empty */
export async function restore(
  dataDir: string,
  folder: string,
  nowMs: () => number,
  progress: ReportProgress,
): Promise<RestoreSummary> {
  const manifest = await readManifest(folder);
  if (manifest.ledgerMigration > ledgerMigrations) {
    throw new Refusal(
      `the backup was made by a newer Rekindle, ${manifest.rekindle}: restore it with that one.`,
    );
  }
  refuseUnknownTables(manifest);
  const lock = takeLock(dataDir, "ledger");
  if (lock === undefined) {
    throw new Refusal(`${dataDir} is in use by a running rekindle: set DATA_DIR to an empty folder.`);
  }
  try {
    const analysisLock = await takeAnalysisLock(dataDir);
    try {
      await restoreLocked(dataDir, { folder, manifest, nowMs }, progress);
    } finally {
      analysisLock.release();
    }
  } finally {
    lock.release();
  }
  const { createdAt, rekindle, organizations } = manifest;
  return { events: eventsIn(manifest), organizations: organizations.length, createdAt, rekindle };
}

interface Restoring {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly nowMs: () => number;
}

async function restoreLocked(dataDir: string, backup: Restoring, progress: ReportProgress): Promise<void> {
  const { folder, manifest } = backup;
  const file = ledgerFile(dataDir);
  const others = [warehouseFolder(dataDir), join(dataDir, "tmp")];
  refuseInstallation(dataDir, file, others);
  await verifyBackupFiles(folder, manifest, progress);
  const restoring = await beginRestore(dataDir, file, others);
  try {
    await restoreStores(dataDir, restoring, backup, progress);
  } catch (error) {
    await undoRestore(dataDir, file, others);
    if (error instanceof Refusal) throw error;
    throw new Refusal(`nothing was restored: ${messageOf(error)}`, { cause: error });
  }
  await finishRestore(dataDir, file);
}

/** Both stores, the ledger in the folder that is the mark. */
async function restoreStores(
  dataDir: string,
  restoring: string,
  { folder, manifest, nowMs }: Restoring,
  progress: ReportProgress,
): Promise<void> {
  const warehouse = warehouseFolder(dataDir);
  await restoreWarehouse(warehouse, folder, manifest, progress);
  await mkdir(join(restoring, "message-ids"));
  for (const { file: name } of manifest.ledger) {
    const path = name.replace(/^ledger\//, "").replace(/\.zst$/, "");
    await extractBackupFile(folder, name, join(restoring, path));
  }
  // Opened once: it is brought to today's form, and would refuse now what it would refuse at the first start.
  const ledger = await openSqliteLedger({ file: ledgerFile(restoring), features });
  try {
    // A restore ends all sessions and links, so that none works again that ended after the backup.
    await ledger.logins.endEverything();
    // The installation that was backed up may still send.
    await ledger.copies.pauseElsewhere("restored", nowMs());
  } finally {
    await ledger.close();
  }
  await syncTree(warehouse);
  await syncTree(restoring);
}
