/**
 * The lock on a data folder: one service at a time. It is an operating system's lock, held through an open
 * SQLite transaction, so it goes when its process goes, however that dies. A file with a process id would
 * stay behind after a kill.
 */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

export interface Lock {
  release(): void;
}

/** Takes the lock, or returns undefined when another process holds it. Creates the folder when needed. */
export function takeLock(folder: string, name: string): Lock | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = new Database(join(folder, `${name}.lock`));
  try {
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return undefined;
    throw error;
  }
  return { release: () => database.close() };
}
