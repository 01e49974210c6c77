/**
 * The form of a backup, a folder of its own:
 *
 *   manifest.json                        what is in it, written last
 *   ledger/ledger.sqlite.zst             the ledger's files, by their paths in a data folder
 *   warehouse/events.2026.native.zst     a file for each partition of each table, in ClickHouse's Native format
 *
 * Native is the engine's own exchange format: the types stay, states of aggregates included, and a server of
 * ClickHouse reads it as well.
 */
import { createHash } from "node:crypto";
import { createReadStream, type ReadStream } from "node:fs";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import Type, { type Static } from "typebox";
import Value from "typebox/value";
import { Refusal } from "../../../contract/refusal.ts";
import { messageOf } from "../../process/message-of.ts";

/** Grows when the folder's form changes in a way that older code would misread. */
export const backupFormat = 1;

const plainName = "[\\w-]+(\\.[\\w-]+)*";

const BackupFile = Type.Object({
  /** The path in the backup's folder; names alone, nothing that leads out of it. */
  file: Type.String({ pattern: `^${plainName}(/${plainName})*$` }),
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});

const Manifest = Type.Object({
  format: Type.Integer(),
  rekindle: Type.String(),
  engine: Type.String(),
  createdAt: Type.String(),
  ledgerMigration: Type.Integer({ minimum: 0 }),
  warehouseMigration: Type.Integer({ minimum: 0 }),
  /** Events that were acknowledged, in the ledger's own count. */
  organizations: Type.Array(Type.Object({ name: Type.String(), events: Type.Integer() })),
  ledger: Type.Array(BackupFile),
  tables: Type.Array(
    Type.Intersect([
      BackupFile,
      // The partition is the year for events, and "all" where a table has none.
      Type.Object({ table: Type.String(), partition: Type.String(), rows: Type.Integer() }),
    ]),
  ),
});

export type BackupFile = Static<typeof BackupFile>;
export type Manifest = Static<typeof Manifest>;
export type TableFile = Manifest["tables"][number];

/** How far the work is; bytes are those of one step. */
export interface BackupProgress {
  readonly step: string;
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export type ReportProgress = (progress: BackupProgress) => void;

/** How many events a manifest speaks of. */
export function eventsIn({ organizations }: Manifest): number {
  return organizations.reduce((sum, { events }) => sum + events, 0);
}

/** Level 3 makes a million events 1 % smaller and takes a fifth longer. */
const compressionLevel = 1;
/** Synced as it grows: a sync of hundreds of megabytes at once would make the ledger's wait. */
const bytesPerSync = 8 * 1024 * 1024;

/** Writes a file of the backup, compressed, and resolves when it is on disk.
 * @param written is called with the size of each piece before it is compressed */
export async function writeBackupFile(
  folder: string,
  file: string,
  source: AsyncIterable<Uint8Array>,
  { written, signal }: { readonly written: (bytes: number) => void; readonly signal: AbortSignal },
): Promise<BackupFile> {
  const path = join(folder, file);
  await mkdir(dirname(path), { recursive: true });
  const handle = await open(path, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    let bytes = 0;
    let unsyncedBytes = 0;
    await pipeline(
      async function* () {
        for await (const piece of source) {
          written(piece.length);
          yield piece;
        }
      },
      createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: compressionLevel } }),
      async (pieces: AsyncIterable<Buffer>) => {
        for await (const piece of pieces) {
          hash.update(piece);
          await handle.writeFile(piece);
          bytes += piece.length;
          unsyncedBytes += piece.length;
          if (unsyncedBytes < bytesPerSync) continue;
          await handle.datasync();
          unsyncedBytes = 0;
        }
      },
      { signal },
    );
    await handle.sync();
    return { file, bytes, sha256: hash.digest("hex") };
  } finally {
    await handle.close();
  }
}

/** Writes a file as it was before it was compressed. */
export async function extractBackupFile(folder: string, file: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  const handle = await open(to, "wx", 0o600);
  try {
    await pipeline(
      createReadStream(join(folder, file)),
      createZstdDecompress(),
      async (pieces: AsyncIterable<Buffer>) => {
        for await (const piece of pieces) await handle.writeFile(piece);
      },
    );
  } finally {
    await handle.close();
  }
}

const manifestName = "manifest.json";

/** Writes the manifest. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const handle = await open(join(folder, manifestName), "wx", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads a backup's manifest. @throws Refusal when the folder is no backup, or has a format that this code
 * does not know */
export async function readManifest(folder: string): Promise<Manifest> {
  let manifest: unknown;
  try {
    manifest = JSON.parse(await readFile(join(folder, manifestName), "utf8"));
  } catch (error) {
    throw new Refusal(`${folder} is not a backup: its ${manifestName} cannot be read (${messageOf(error)}).`);
  }
  // The format comes first: nothing else of a newer one is known.
  if (Value.Check(Type.Object({ format: Type.Integer() }), manifest) && manifest.format > backupFormat) {
    throw new Refusal(`${folder} was made by a newer Rekindle: restore it with that one.`);
  }
  if (!Value.Check(Manifest, manifest)) {
    throw new Refusal(`${folder} is not a backup: its ${manifestName} is not a manifest.`);
  }
  return manifest;
}

/** Reads every file and compares it with the manifest. @throws Refusal naming the first file that is missing
 * or damaged */
export async function verifyBackupFiles(
  folder: string,
  { ledger, tables }: Manifest,
  progress: ReportProgress,
): Promise<void> {
  const files: readonly BackupFile[] = [...ledger, ...tables];
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let doneBytes = 0;
  for (const { file, bytes, sha256 } of files) {
    const hash = createHash("sha256");
    const stream = createReadStream(join(folder, file), { highWaterMark: readBytes });
    for await (const piece of readable(stream, file)) {
      hash.update(piece);
      doneBytes += piece.length;
      progress({ step: "verifying", doneBytes, totalBytes });
    }
    if (stream.bytesRead !== bytes || hash.digest("hex") !== sha256) {
      throw new Refusal(
        `${file} of the backup is damaged: it is not what was written. Nothing was restored.`,
      );
    }
  }
}

const readBytes = 1024 * 1024;

async function* readable(stream: ReadStream, file: string): AsyncIterable<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw new Refusal(`${file} of the backup cannot be read (${messageOf(error)}). Nothing was restored.`);
  }
}
