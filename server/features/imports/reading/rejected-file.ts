/**
 * The file with every rejected row of an import, its line and the reason. A resumed run continues the file of
 * the killed run. That file is recognized by its number of rows: the import's count, less at most the last
 * chunk's, which a killed run may not have written.
 */
import { closeSync, lstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refusal } from "../../../../contract/refusal.ts";
import type { ImportRecord, RejectedRow } from "../../../ledger/stores/imports.ts";

export interface RejectedLine {
  readonly line: number;
  readonly reason: string;
}

const csvHeader = "line,reason\r\n";

export class RejectedFile {
  readonly path: string;
  /** By the last chunk of earlier runs, and not in the file yet. */
  readonly unwritten: readonly RejectedRow[];
  /** The file was not requested, so it may fail, and may be removed. */
  readonly #isOwn: boolean;
  readonly #goesOn: boolean;
  #rows: number;
  #file: number | undefined;
  #failed = false;

  /** At `path` the file is made at once; without one at the first row, in the system's temporary folder.
   * @throws Refusal when the file at `path` cannot be made */
  constructor(path: string | undefined, record: ImportRecord) {
    this.path = path ?? ownPath(record);
    this.#isOwn = path === undefined;
    const unwritten = record.rejected - (rowsIn(this.path, this.#isOwn) ?? Number.NaN);
    this.#goesOn = record.rowsDone > 0 && unwritten >= 0 && unwritten <= record.lastRejected.length;
    this.#rows = this.#goesOn ? record.rejected - unwritten : 0;
    this.unwritten = this.#goesOn
      ? record.lastRejected.slice(record.lastRejected.length - unwritten)
      : record.lastRejected;
    if (!this.#isOwn) this.#file = this.#open();
  }

  /** How many rows are in the file. */
  get rows(): number {
    return this.#rows;
  }

  add({ line, reason }: RejectedLine): void {
    if (this.#failed) return;
    try {
      this.#file ??= this.#open();
      writeSync(
        this.#file,
        isCsv(this.path)
          ? `${line},"${reason.replaceAll('"', '""')}"\r\n`
          : `${JSON.stringify({ line, reason })}\n`,
      );
      this.#rows += 1;
    } catch (error) {
      if (!this.#isOwn) throw error;
      this.#failed = true;
    }
  }

  /** @param allShown every row was printed as well, so an unrequested file is not needed */
  close(allShown: boolean): void {
    if (this.#file !== undefined) closeSync(this.#file);
    if (this.#isOwn && allShown && this.#rows > 0) rmSync(this.path, { force: true });
  }

  #open(): number {
    if (this.#goesOn) return opened(this.path, "a");
    // In a folder that is open to other users: neither their file nor the target of their link.
    if (this.#isOwn) rmSync(this.path, { force: true });
    const file = opened(this.path, this.#isOwn ? "wx" : "w");
    if (isCsv(this.path)) writeSync(file, csvHeader);
    return file;
  }
}

/** Where all rows are that a finished import rejected; undefined when no file has them. */
export function rejectedFileOf(path: string | undefined, record: ImportRecord): string | undefined {
  if (path !== undefined && rowsIn(path, false) === record.rejected) return path;
  return rowsIn(ownPath(record), true) === record.rejected ? ownPath(record) : undefined;
}

function ownPath({ id, sha256 }: ImportRecord): string {
  return join(tmpdir(), `rekindle-rejected-${id}-${sha256.slice(0, 16)}.jsonl`);
}

function isCsv(path: string): boolean {
  return path.toLowerCase().endsWith(".csv");
}

function opened(path: string, flags: "a" | "w" | "wx"): number {
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new Refusal(`the report ${path} cannot be written (${error.code}): give --report another path.`);
  }
}

/** The rows of a file that was written here; undefined when it was not, or when there is none. */
function rowsIn(path: string, isOwn: boolean): number | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (isOwn && !(found.isFile() && found.uid === process.getuid?.())))
    return undefined;
  const header = isCsv(path) ? csvHeader : "";
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const { lines, first, last } = linesOf(file);
    const begin = first.subarray(0, header === "" ? 8 : header.length).toString();
    if (lines === 0 || last !== newline || begin !== (header || '{"line":')) return undefined;
    return lines - (header === "" ? 0 : 1);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const newline = 10;

function linesOf(file: number) {
  const buffer = Buffer.alloc(256 * 1024);
  let first = Buffer.alloc(0);
  let [lines, last] = [0, newline];
  for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
    const bytes = buffer.subarray(0, read);
    if (lines === 0) first = Buffer.from(bytes.subarray(0, 64));
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) lines += 1;
    last = bytes.at(-1) ?? last;
  }
  return { lines, first, last };
}
