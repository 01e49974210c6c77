/**
 * Parts that the embedded engine lost in a kill. An insert first records its token in the table's
 * deduplication log and then gives its part the final name. After a kill in between, the log claims the rows
 * are stored, and the same insert is skipped as a repetition. So the last record of a log is removed when its
 * part is missing.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";

/** The end of a deduplication log that names a part which is not there. */
export interface LostPart {
  readonly log: string;
  readonly part: string;
  /** The length of the log without the record. */
  readonly bytes: number;
}

/** Blocks of one partition, from the first to the last: the beginning of a part's name. */
interface Blocks {
  readonly partition: string;
  readonly first: number;
  readonly last: number;
}

/** Finds the parts that are missing. The engine has to have the folder open, and must not insert
 * meanwhile. */
export function lostParts(folder: string): LostPart[] {
  return foldersIn(join(folder, "store")).flatMap(foldersIn).flatMap(lostPartOf);
}

/** Makes the engine forget lost parts, so that their rows can be inserted again. The engine has to be
 * closed. */
export function forgetLostParts(lost: readonly LostPart[]): void {
  for (const { log, bytes } of lost) {
    const file = openSync(log, "r+");
    try {
      ftruncateSync(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

function lostPartOf(table: string): LostPart[] {
  const logs = join(table, "deduplication_logs");
  if (!existsSync(logs)) return [];
  const newestFirst = readdirSync(logs).sort((one, other) => numberOf(other) - numberOf(one));
  for (const name of newestFirst) {
    const log = join(logs, name);
    const text = readFileSync(log, "latin1");
    if (text === "") continue;
    const bytes = text.lastIndexOf("\n", text.length - 2) + 1;
    const [operation, part = ""] = text.slice(bytes).split("\t");
    const blocks = blocksOf(part);
    const isAdded = operation === "1";
    if (!isAdded || blocks === undefined || readdirSync(table).some((other) => covers(other, blocks)))
      return [];
    return [{ log, part, bytes }];
  }
  return [];
}

/** The number of `deduplication_log_12.txt`. */
function numberOf(log: string): number {
  return Number.parseInt(log.split("_")[2] ?? "", 10);
}

function blocksOf(part: string): Blocks | undefined {
  const [partition = "", first, last] = part.split("_");
  const blocks = { partition, first: Number(first), last: Number(last) };
  return Number.isInteger(blocks.first) && Number.isInteger(blocks.last) ? blocks : undefined;
}

/** Whether a part contains the blocks of another one: itself, or a part that it was merged into. */
function covers(part: string, { partition, first, last }: Blocks): boolean {
  const own = blocksOf(part);
  return own !== undefined && own.partition === partition && own.first <= first && own.last >= last;
}
