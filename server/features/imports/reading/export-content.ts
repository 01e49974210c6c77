/**
 * The content of an export: plain, .gz, or a .zip of such files. The first bytes say which it is, because
 * some tools name a .zip like a .gz.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { Refusal } from "../../../../contract/refusal.ts";
import { messageOf } from "../../../process/message-of.ts";
import { type Counter, counted, inflated, withoutMarks } from "./bytes.ts";

/** How a file is packed. */
export type Packing = "plain" | "gzip" | "zip";

/** An hour of Amplitude is one file, or a few. */
const maxEntries = 100_000;

/** How large the content of a packed file may be. */
export interface InflationLimits {
  /** So many times the size of the file, */
  readonly inflation: number;
  /** and so many bytes more. */
  readonly freeBytes: number;
  /** In any case. */
  readonly bytes: number;
}

const most: InflationLimits = {
  /** JSON lines compress to a tenth or less, in extreme cases to a hundredth. A larger share is a bomb. */
  inflation: 200,
  /** Small files may inflate to this many bytes in any case. */
  freeBytes: 64 * 1024 * 1024,
  bytes: Number.POSITIVE_INFINITY,
};

/** How a file is packed, by its first bytes. */
export function packingOf(path: string): Packing {
  const first = Buffer.alloc(4);
  const file = openSync(path, "r");
  try {
    readSync(file, first, 0, first.length, 0);
  } finally {
    closeSync(file);
  }
  return packed(first);
}

function packed(first: Buffer): Packing {
  if (first[0] === 0x50 && first[1] === 0x4b) return "zip";
  return first[0] === 0x1f && first[1] === 0x8b ? "gzip" : "plain";
}

/** The content in chunks. The files of a .zip follow in the order of their names.
 * @throws Refusal when it is damaged, cut off, or inflates to far more than any export */
export function exportContent(
  path: string,
  packing: Packing,
  counter: Counter,
  limits = most,
): AsyncIterable<Buffer> {
  const fileBytes = statSync(path).size;
  if (packing === "zip") return bounded(filesOfZip(path, counter), fileBytes, limits);
  const read = counted(path, counter);
  return withoutMarks(packing === "gzip" ? bounded(inflated(read), fileBytes, limits) : read);
}

/** Reads a packed file to its end before anything is stored, as `refuseDamaged` does. */
export async function refuseDamagedExport(path: string, packing: Packing): Promise<void> {
  if (packing === "plain") return;
  for await (const _chunk of exportContent(path, packing, { bytes: 0 }));
}

/** The names of the files in a .zip, in the order of their content.
 * @throws Refusal when it is damaged or cut off */
export async function namesInZip(path: string): Promise<readonly string[]> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false }).catch(damaged);
  try {
    return (await entriesOf(zip)).map(({ fileName }) => fileName);
  } catch (error) {
    return damaged(error);
  } finally {
    zip.close();
  }
}

async function entriesOf(zip: ZipFile): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    if (isFile(entry)) entries.push(entry);
    if (entries.length > maxEntries) {
      throw new Refusal(`the .zip has more than ${maxEntries} files: import its files in parts.`);
    }
  }
  return entries.sort((a, b) => (a.fileName < b.fileName ? -1 : 1));
}

async function* filesOfZip(path: string, counter: Counter): AsyncIterable<Buffer> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false }).catch(damaged);
  try {
    for (const [index, entry] of (await entriesOf(zip)).entries()) {
      if (index > 0) yield newline;
      if (entry.isEncrypted())
        throw new Refusal(`${entry.fileName} in the .zip is encrypted: unpack it first.`);
      const stream = await zip.openReadStreamPromise(entry);
      yield* withoutMarks(unpacked(stream));
      counter.bytes += entry.compressedSize;
    }
  } catch (error) {
    damaged(error);
  } finally {
    zip.close();
  }
}

/** The last line of a file may have no end. */
const newline = Buffer.from("\n");

/** Without directories, and without the files that macOS adds. */
function isFile({ fileName }: Entry): boolean {
  const name = fileName.split("/").at(-1) ?? "";
  return name !== "" && !name.startsWith(".") && !fileName.startsWith("__MACOSX/");
}

function damaged(error: unknown): never {
  if (error instanceof Refusal) throw error;
  throw new Refusal(`the .zip file is damaged or cut off: ${messageOf(error)}. Get the whole file.`);
}

/** A file of a .zip, inflated when it is a .gz itself. */
async function* unpacked(file: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const chunks = file[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  const all = (async function* () {
    yield first.value;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  })();
  const packing = packed(first.value);
  if (packing === "zip")
    throw new Refusal("a file in the .zip is a .zip itself: unpack the outer one first.");
  yield* packing === "gzip" ? inflated(all) : all;
}

/** @throws Refusal when the content is far larger than the file */
async function* bounded(
  content: AsyncIterable<Buffer>,
  fileBytes: number,
  { inflation, freeBytes, bytes: maxBytes }: InflationLimits,
): AsyncIterable<Buffer> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Refusal(`the file inflates to more than ${maxBytes} bytes: split it.`);
    if (bytes > freeBytes + inflation * fileBytes) {
      throw new Refusal(
        `the file inflates to more than ${inflation} times its size, as no export does: unpack it first if it is right.`,
      );
    }
    yield chunk;
  }
}
