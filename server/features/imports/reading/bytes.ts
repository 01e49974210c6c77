/** A file's bytes as a stream: inflated, without a byte order mark, and counted. */
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Refusal } from "../../../../contract/refusal.ts";
import { messageOf } from "../../../process/message-of.ts";

const readBytes = 256 * 1024;

/** The bytes read so far, before inflating. */
export interface Counter {
  bytes: number;
}

/** The content in chunks.
 * @throws Refusal for UTF-16, and for a damaged .gz when the damage is reached */
export async function* contentOf(path: string, gzip: boolean, counter: Counter): AsyncIterable<Buffer> {
  const read = counted(path, counter);
  yield* withoutMarks(gzip ? inflated(read) : read);
}

/** The chunks without a byte order mark. @throws Refusal for UTF-16 */
export async function* withoutMarks(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let first: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (first === undefined) {
      yield chunk;
      continue;
    }
    first = Buffer.concat([first, chunk]);
    if (first.length < 3) continue;
    yield withoutMark(first);
    first = undefined;
  }
  if (first !== undefined && first.length > 0) yield withoutMark(first);
}

/** Reads a .gz to its end before anything is stored. Otherwise the first rows of a truncated file would be
 * imported twice: a repaired file is another file. 200 to 400 MB of content a second.
 * @throws Refusal when it is damaged or cut off */
export async function refuseDamaged(path: string): Promise<void> {
  for await (const _chunk of inflated(counted(path, { bytes: 0 })));
}

/** The bytes of a file, counted. */
export async function* counted(path: string, counter: Counter): AsyncIterable<Buffer> {
  for await (const chunk of createReadStream(path, { highWaterMark: readBytes })) {
    counter.bytes += chunk.length;
    yield chunk;
  }
}

/** The content of a .gz. @throws Refusal when it is damaged or cut off */
export async function* inflated(read: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const source = Readable.from(read);
  const gunzip = createGunzip();
  source.on("error", (error) => gunzip.destroy(error));
  try {
    for await (const chunk of source.pipe(gunzip)) yield chunk;
  } catch (error) {
    throw new Refusal(
      `the .gz file is damaged or cut off: ${messageOf(error)}. Get the whole file, or inflate what there is and import that.`,
    );
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

function withoutMark(first: Buffer): Buffer {
  if (first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf) return first.subarray(3);
  if ((first[0] === 0xff && first[1] === 0xfe) || (first[0] === 0xfe && first[1] === 0xff)) {
    throw new Refusal("the file is UTF-16: save it as UTF-8.");
  }
  return first;
}
