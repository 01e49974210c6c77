/**
 * The lock on a data folder: one service at a time. It is an operating system's lock, held through an open
 * SQLite transaction, so it goes when its process goes, however that dies. A file with a process id would
 * stay behind after a kill.
 */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../config.ts";
import { keepFilesPrivate, makePrivate, openFilesWarning } from "./private-files.ts";

export interface Lock {
  /** Why other users can still read files of the folder, because another user owns them; undefined when they
   * cannot. */
  readonly openFilesWarning: string | undefined;
  release(): void;
}

/** Takes the lock, or returns undefined when another process holds it. Creates the folder when needed.
 * Afterwards only this user can read the folder and the files that this process creates.
 * @throws ConfigError when the folder cannot be created or written to */
export function takeLock(folder: string, name: string): Lock | undefined {
  keepFilesPrivate();
  let database: Database | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    database = new Database(lockFile(folder, name));
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database?.close();
    if (!(error instanceof Error && "code" in error)) throw error;
    if (error.code === "SQLITE_BUSY") return undefined;
    throw new ConfigError(
      `DATA_DIR is ${JSON.stringify(folder)}, where nothing can be written (${error.code}): set it to a folder where it can.`,
    );
  }
  const held = database;
  const open = makePrivate(folder);
  return {
    openFilesWarning: open.length === 0 ? undefined : openFilesWarning(folder, open),
    release: () => held.close(),
  };
}

/** Whether the lock was ever taken: it is the first file of a new data folder. */
export function wasTaken(folder: string, name: string): boolean {
  return existsSync(lockFile(folder, name));
}

function lockFile(folder: string, name: string): string {
  return join(folder, `${name}.lock`);
}
