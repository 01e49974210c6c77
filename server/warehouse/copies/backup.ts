/**
 * A backup while the service runs. For the time of a freeze the loader is paused, with no batch in hand: the
 * tables are copied by hard links and the ledger by `VACUUM INTO`. So the two agree: rows that are not in the
 * tables wait in the ledger's inbox and are loaded after a restore. Then the loader goes on, and the copies
 * are written.
 *
 * Invariant: a folder of the wanted name is a complete backup. It is written under another name, synced, and
 * renamed at the very end.
 */
import { mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { Refusal } from "../../../contract/refusal.ts";
import type { LedgerSnapshot, SharedLedger } from "../../ledger/ledger.ts";
import { syncPath, syncTree, unfinishedPath } from "../../process/files.ts";
import { messageOf } from "../../process/message-of.ts";
import type { Time } from "../../process/time.ts";
import { rekindleVersion } from "../../process/version.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import type { Loader } from "../load/loader.ts";
import { warehouseMigrations } from "../schema/migrations.ts";
import {
  type BackupFile,
  backupFormat,
  eventsIn,
  type Manifest,
  type ReportProgress,
  type TableFile,
  writeBackupFile,
  writeManifest,
} from "./backup-files.ts";
import { dropFrozenTables, type FrozenPartition, freezeTables, readFrozen } from "./frozen-tables.ts";

export interface BackupSummary {
  readonly events: number;
  readonly organizations: number;
  readonly files: number;
  readonly bytes: number;
  /** How long no row reached the warehouse. */
  readonly pausedMs: number;
}

export interface BackupRequest {
  /** An absolute path where nothing is yet, or an empty folder. */
  readonly folder: string;
  readonly progress: ReportProgress;
  /** Aborts the backup, which removes its files. */
  readonly signal: AbortSignal;
}

interface Parts {
  readonly warehouse: Warehouse;
  readonly loader: Loader;
  readonly ledger: Pick<SharedLedger, "snapshot">;
  readonly dataDir: string;
  readonly time: Pick<Time, "nowMs">;
}

interface Frozen {
  readonly snapshot: LedgerSnapshot;
  readonly partitions: readonly FrozenPartition[];
  readonly pausedMs: number;
}

/** Makes a backup of the ledger and the warehouse.
 * @throws Refusal; then nothing of it is left */
export async function backUp(parts: Parts, request: BackupRequest): Promise<BackupSummary> {
  const { folder, signal } = request;
  await refuseFolder(folder, parts.dataDir);
  const unfinished = unfinishedPath(folder);
  try {
    await mkdir(unfinished, { mode: 0o700 });
  } catch (error) {
    if (isSystemError(error, "EEXIST")) {
      throw new Refusal(
        `${unfinished} is being written by another backup, or was left by one: remove it first.`,
      );
    }
    throw backupFailure(error);
  }
  try {
    const summary = await writeInto(parts, unfinished, request);
    await rename(unfinished, folder);
    await syncPath(dirname(folder));
    return summary;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw signal.aborted ? signal.reason : backupFailure(error);
  } finally {
    // If the engine fails here, the next start drops the copies.
    await dropFrozenTables(parts.warehouse).catch(() => undefined);
  }
}

async function writeInto(parts: Parts, folder: string, request: BackupRequest): Promise<BackupSummary> {
  const { progress, signal } = request;
  progress({ step: "waiting for the loader", doneBytes: 0, totalBytes: 0 });
  const copies = join(folder, "copies");
  await mkdir(copies);
  const { snapshot, partitions, pausedMs } = await freeze(parts, copies, signal);

  const totalBytes = partitions.reduce((sum, { uncompressedBytes }) => sum + uncompressedBytes, 0);
  let doneBytes = 0;
  const write = (step: string, file: string, source: AsyncIterable<Uint8Array>, counts: boolean) =>
    writeBackupFile(folder, `${file}.zst`, source, {
      signal,
      written: (bytes) => {
        if (counts) doneBytes += bytes;
        progress({ step, doneBytes, totalBytes });
      },
    });

  const ledger: BackupFile[] = [];
  for (const { name, read } of snapshot.files) {
    const source = read();
    if (source !== undefined) ledger.push(await write("the ledger", `ledger/${name}`, source, false));
  }
  await rm(copies, { recursive: true });
  const tables: TableFile[] = [];
  for (const frozen of partitions) {
    const { table, partition, rows } = frozen;
    const file = `warehouse/${table}.${partition}.native`;
    const written = await write(table, file, readFrozen(parts.warehouse, frozen), true);
    tables.push({ ...written, table, partition, rows });
  }
  const manifest = await manifestOf(parts, snapshot, ledger, tables);
  await syncTree(folder);
  await writeManifest(folder, manifest);
  await syncPath(folder);
  signal.throwIfAborted();
  const files = [...ledger, ...tables];
  return {
    events: eventsIn(manifest),
    organizations: manifest.organizations.length,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    pausedMs,
  };
}

async function manifestOf(
  { warehouse, time }: Parts,
  { migration, organizations }: LedgerSnapshot,
  ledger: BackupFile[],
  tables: TableFile[],
): Promise<Manifest> {
  const [engine] = await warehouse.rows<{ version: string }>("SELECT version() AS version");
  return {
    format: backupFormat,
    rekindle: rekindleVersion(),
    engine: engine?.version ?? "",
    createdAt: new Date(time.nowMs()).toISOString(),
    ledgerMigration: migration,
    warehouseMigration: warehouseMigrations,
    organizations: organizations.map(({ name, events }) => ({ name, events })),
    ledger,
    tables,
  };
}

/** Both stores at one instant. */
async function freeze(parts: Parts, copies: string, signal: AbortSignal): Promise<Frozen> {
  const { warehouse, loader, ledger } = parts;
  await pauseLoader(parts, signal);
  const startedMs = performance.now();
  try {
    if (loader.status().state === "stopped") throw new Refusal("the service is stopping");
    const partitions = await freezeTables(warehouse);
    const snapshot = await ledger.snapshot(copies);
    if (snapshot.unfinishedBatches > 0) {
      throw new Error(`${snapshot.unfinishedBatches} batches are unfinished while the loader is paused`);
    }
    return { snapshot, partitions, pausedMs: performance.now() - startedMs };
  } finally {
    loader.resume();
  }
}

/** A loader that fails keeps its batch in hand, and the warehouse may have a part of it: no backup then. */
const failingPatienceMs = 30_000;
const pausePollMs = 250;

/** Pauses the loader, or gives up. A rebuild, which is a pause too, is waited for. */
async function pauseLoader({ loader, time }: Parts, signal: AbortSignal): Promise<void> {
  const pausing = loader.pause();
  try {
    while ((await Promise.race([pausing.then(() => true), Bun.sleep(pausePollMs)])) !== true) {
      signal.throwIfAborted();
      const { failure } = loader.status();
      if (failure === null || time.nowMs() - failure.sinceMs < failingPatienceMs) continue;
      throw new Refusal(`loading fails, and a batch may be half in the warehouse: ${failure.message}`);
    }
  } catch (error) {
    pausing.then(() => loader.resume());
    throw error;
  }
}

/** @throws Refusal when a backup cannot be put there */
async function refuseFolder(folder: string, dataDir: string): Promise<void> {
  const parent = await realpath(dirname(folder)).catch(() => {
    throw new Refusal(`there is no folder ${dirname(folder)}: make it first.`);
  });
  const wanted = join(parent, basename(folder));
  if (`${wanted}${sep}`.startsWith(`${await realpath(dataDir)}${sep}`)) {
    throw new Refusal(`${folder} is in the data folder: a backup belongs on another disk.`);
  }
  const names = await readdir(folder).catch((error: unknown) => {
    if (isSystemError(error, "ENOENT")) return [];
    throw new Refusal(`${folder} is not an empty folder: give the name of one that is not there yet.`);
  });
  if (names.length > 0) {
    throw new Refusal(`${folder} is not empty: give the name of a folder that is not there yet.`);
  }
}

function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function backupFailure(error: unknown): Refusal {
  return new Refusal(`the backup was not made, and nothing of it is left: ${messageOf(error)}`, {
    cause: error,
  });
}
