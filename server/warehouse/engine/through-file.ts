/** Streams output that the embedded engine can only write to files. The file is removed when it was read. */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

const chunkBytes = 256 * 1024;

/** The bytes that `write` has written to the path it is given, in a folder that is made when it is not there. */
export async function* throughFile(
  folder: string,
  write: (path: string) => Promise<void>,
): AsyncIterable<Uint8Array> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${randomUUID()}.parquet`);
  try {
    await write(path);
    for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) yield chunk;
  } finally {
    await rm(path, { force: true });
  }
}
