/**
 * A file of fixed size that is overwritten again and again, so that a sync writes neither a length nor new
 * blocks. It has two halves. While one is written, the records of the other are made durable elsewhere.
 *
 * A record is its length, its checksum and its bytes. After the last record there may be records of an
 * earlier round. The content of the records distinguishes them. A synced record is whole, and so is every
 * earlier one.
 */
import fs from "node:fs";
import { dirname } from "node:path";
import { syncPath } from "../../process/files.ts";
import { SyncedFile } from "./synced-file.ts";

/** Free bytes at the beginning of a record, for its length and its checksum. */
export const recordHeadBytes = 8;

interface Half {
  readonly start: number;
  usedBytes: number;
  /** The last inbox id in the half. */
  upto: number;
}

export class JournalFile {
  readonly #path: string;
  readonly #file: SyncedFile;
  readonly #halfBytes: number;
  #filling: Half;
  #full: Half;

  private constructor(path: string, file: SyncedFile, halfBytes: number) {
    this.#path = path;
    this.#file = file;
    this.#halfBytes = halfBytes;
    this.#filling = { start: 0, usedBytes: 0, upto: 0 };
    this.#full = { start: halfBytes, usedBytes: 0, upto: 0 };
  }

  /** Opens the file and fills it with zeros. The caller reads its records first. */
  static async open(path: string, halfBytes: number): Promise<JournalFile> {
    const isNew = !fs.existsSync(path);
    fillWithZeros(path, 2 * halfBytes);
    if (isNew) await syncPath(dirname(path));
    return new JournalFile(path, new SyncedFile(path), halfBytes);
  }

  /**
   * Writes a record, without waiting for the disk.
   * @param record with a free head
   * @param upto the last inbox id in it
   * @param restingUpto records up to this inbox id are durable elsewhere, and may be overwritten
   * @returns false when there is no room for it. Then nothing is written.
   * @throws the error of an earlier sync.
   */
  append(record: Buffer, upto: number, restingUpto: number): boolean {
    this.#file.refuseFailed();
    if (this.#filling.usedBytes + record.length > this.#halfBytes) {
      if (record.length > this.#halfBytes || this.#full.upto > restingUpto) return false;
      [this.#filling, this.#full] = [this.#full, this.#filling];
      this.#filling.usedBytes = 0;
    }
    record.writeUInt32LE(record.length - recordHeadBytes, 0);
    record.writeUInt32LE(checksumOf(record.subarray(recordHeadBytes)), 4);
    writeAll(this.#file.descriptor, record, this.#filling.start + this.#filling.usedBytes);
    this.#filling.usedBytes += record.length;
    this.#filling.upto = upto;
    return true;
  }

  /** @throws the error of an earlier sync. */
  refuseFailed(): void {
    this.#file.refuseFailed();
  }

  /** Resolves when every record that was written before the call is on disk. */
  synced(): Promise<void> {
    return this.#file.synced();
  }

  /** The last inbox id in the half that is written next. 0 if the half is empty. */
  get fullUpto(): number {
    return this.#full.upto;
  }

  /** Deletes all records, and overwrites their bytes. */
  erase(): void {
    // It is set first: a record after zeros would not be found.
    this.#filling = { start: 0, usedBytes: 0, upto: 0 };
    this.#full = { start: this.#halfBytes, usedBytes: 0, upto: 0 };
    fillWithZeros(this.#path, 2 * this.#halfBytes);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** Closes the file and deletes it. */
  async remove(): Promise<void> {
    await this.close();
    fs.rmSync(this.#path, { force: true });
  }
}

/** The whole records of both halves of a file, without their heads. None if there is no file. */
export function readRecords(path: string): Buffer[] {
  if (!fs.existsSync(path)) return [];
  const bytes = fs.readFileSync(path);
  return [...recordsIn(bytes.subarray(0, bytes.length / 2)), ...recordsIn(bytes.subarray(bytes.length / 2))];
}

function* recordsIn(half: Buffer): Generator<Buffer> {
  let at = 0;
  while (at + recordHeadBytes <= half.length) {
    const end = at + recordHeadBytes + half.readUInt32LE(at);
    const record = half.subarray(at + recordHeadBytes, end);
    if (record.length === 0 || end > half.length || checksumOf(record) !== half.readUInt32LE(at + 4)) return;
    yield record;
    at = end;
  }
}

function checksumOf(bytes: Uint8Array): number {
  return Bun.hash.crc32(bytes);
}

/** On a file system that writes in place, the earlier content cannot be read any more. */
function fillWithZeros(path: string, bytes: number): void {
  const descriptor = fs.openSync(path, fs.existsSync(path) ? "r+" : "w");
  try {
    writeAll(descriptor, Buffer.alloc(bytes), 0);
    fs.ftruncateSync(descriptor, bytes);
    fs.fdatasyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

function writeAll(descriptor: number, bytes: Uint8Array, position: number): void {
  let written = 0;
  while (written < bytes.length) {
    written += fs.writeSync(descriptor, bytes, written, bytes.length - written, position + written);
  }
}
