/** Builds a warehouse from the files of a backup. The folder must not be used until this has resolved. */
import { join } from "node:path";
import { Refusal } from "../../../contract/refusal.ts";
import { openChdbWarehouse } from "../engine/chdb.ts";
import { migrate, migratedTables, warehouseMigrations } from "../schema/migrations.ts";
import type { Manifest, ReportProgress } from "./backup-files.ts";
import { attachFile, dropFrozenTables } from "./frozen-tables.ts";

/** @throws Refusal when the backup's tables are not known to this code */
export function refuseUnknownTables({ warehouseMigration, tables }: Manifest): void {
  const known = new Set(migratedTables());
  const unknown = tables.find(({ table }) => !known.has(table));
  if (warehouseMigration <= warehouseMigrations && unknown === undefined) return;
  throw new Refusal("the backup was made by a newer Rekindle: restore it with that one.");
}

/**
 * Creates the tables as they were at the time of the backup, fills them, and migrates them.
 * @param folder of the warehouse, empty or absent
 * @param backup the folder of a backup whose files were verified
 */
export async function restoreWarehouse(
  folder: string,
  backup: string,
  manifest: Manifest,
  progress: ReportProgress,
): Promise<void> {
  const totalBytes = manifest.tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let doneBytes = 0;
  const warehouse = await openChdbWarehouse({ folder, migrations: manifest.warehouseMigration });
  try {
    // Backups of 0.1.0 may have files without rows, which the engine cannot read.
    for (const { file, table, rows, bytes } of manifest.tables.filter((each) => each.rows > 0)) {
      progress({ step: table, doneBytes, totalBytes });
      await attachFile(warehouse, table, { path: join(backup, file), rows });
      doneBytes += bytes;
    }
    await dropFrozenTables(warehouse);
    await migrate(warehouse);
    progress({ step: "the warehouse", doneBytes, totalBytes });
  } finally {
    await warehouse.close();
  }
}
