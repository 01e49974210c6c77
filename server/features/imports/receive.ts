/** Writes an uploaded file to the disk as it comes: no more than a piece of it is in memory. */
import { mkdir, open, rm, statfs } from "node:fs/promises";
import { uploadLimits } from "../../../contract/api/imports.ts";
import { ApiError, Refusal } from "../../../contract/refusal.ts";
import { messageOf } from "../../process/message-of.ts";
import { UploadFolder } from "./folder.ts";

/** What the service itself needs of the disk while a file is here. */
const freeBytesLeft = 256 * 1024 ** 2;
/** Bytes between two looks at the disk. */
const lookEveryBytes = 16 * 1024 ** 2;

/** The free bytes of a disk. */
export type FreeBytes = (path: string) => Promise<number>;

/** The free bytes of the disk on which a folder is. */
export const freeBytesOf: FreeBytes = async (path) => {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
};

/**
 * Writes the file into a new folder, and returns its size.
 * @throws Refusal when the file is empty or too large, ApiError when the disk is full. Then the folder is
 * removed
 */
export async function receive(
  content: AsyncIterable<Uint8Array>,
  folder: string,
  name: string,
  freeBytes: FreeBytes = freeBytesOf,
): Promise<number> {
  const upload = new UploadFolder(folder, name);
  await mkdir(upload.path, { recursive: true });
  try {
    const bytes = await written(content, upload, freeBytes);
    if (bytes === 0) throw new Refusal("The file is empty: choose another one.");
    return bytes;
  } catch (error) {
    await rm(upload.path, { recursive: true, force: true });
    throw isFull(error) ? diskFull() : error;
  }
}

async function written(content: AsyncIterable<Uint8Array>, upload: UploadFolder, freeBytes: FreeBytes) {
  const file = await open(upload.sent, "wx");
  try {
    let bytes = 0;
    let lookAtBytes = 0;
    for await (const chunk of content) {
      if (bytes >= lookAtBytes) {
        if ((await freeBytes(upload.path)) < freeBytesLeft) throw diskFull();
        lookAtBytes = bytes + lookEveryBytes;
      }
      bytes += chunk.byteLength;
      if (bytes > uploadLimits.bytes) {
        throw new Refusal(
          `The file is larger than ${uploadLimits.bytes} bytes: split it, or use rekindle import.`,
        );
      }
      for (let at = 0; at < chunk.byteLength; ) {
        at += (await file.write(chunk, at, chunk.byteLength - at)).bytesWritten;
      }
    }
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Whether an error says that the disk, or the user's share of it, is full. */
function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

/** Why a step failed, for the owner. @returns undefined for an error of the service */
export function whyFailed(error: unknown): string | undefined {
  if (error instanceof Refusal) return inBrowser(messageOf(error));
  return isFull(error) ? diskFull().message : undefined;
}

/** The error of a disk without room for the file. */
export function diskFull(): ApiError {
  return new ApiError(
    "rate_limit_exceeded",
    "The disk has no room for the file: delete other uploaded files, or ask whoever runs Rekindle.",
    60,
  );
}

/** A message of the readers, which names options of the command, in words of the page. */
export function inBrowser(message: string): string {
  return message
    .replace(/: give --timestamp-format utc when .*?, or --timezone .*$/, ": choose their timezone.")
    .replace(/: give --timestamp-format dmy or mdy\.?/, ": choose whether the day or the month is first.")
    .replace(/: give --timestamp-format excel\.?/, ": choose that times are days of Excel.")
    .replace(
      /; give --decimal-comma if it has a decimal comma\./,
      "; map it as a property, which stays text.",
    )
    .replace(/ by --property/, " by columns of their own");
}
