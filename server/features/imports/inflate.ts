/** Inflates an uploaded file once, to one file of rows. What follows reads that, so a file is one import
 * however it was packed. */
import { closeSync, openSync, writeSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { uploadLimits } from "../../../contract/api/imports.ts";
import { Refusal } from "../../../contract/refusal.ts";
import { unfinishedPath } from "../../process/files.ts";
import type { ContentForm, UploadFolder } from "./folder.ts";
import { delimiterOf } from "./reading/delimiter.ts";
import { exportContent, namesInZip, type Packing, packingOf } from "./reading/export-content.ts";
import { diskFull, type FreeBytes } from "./receive.ts";

const limits = {
  bytes: uploadLimits.bytes,
  inflation: uploadLimits.inflation,
  freeBytes: uploadLimits.freeInflatedBytes,
};

/** What the service itself needs of the disk while a file is inflated. */
const freeBytesLeft = 256 * 1024 ** 2;
const lookEveryBytes = 64 * 1024 ** 2;

/** Inflates the file, and says how it is written.
 * @throws Refusal for a file that is damaged, too large, or no text; ApiError when the disk is full */
export async function inflateUpload(
  upload: UploadFolder,
  fileName: string,
  freeBytes: FreeBytes,
  onRead: (bytes: number) => void,
): Promise<ContentForm> {
  const packing = packingOf(upload.sent);
  const name = await innerName(upload.sent, fileName, packing);
  const counter = { bytes: 0 };
  const content = exportContent(upload.sent, packing, counter, limits)[Symbol.asyncIterator]();
  const first = await content.next();
  if (first.done === true) throw new Refusal("The file is empty: choose another one.");
  refuseBinary(first.value);
  const format = formatOf(name, first.value);
  const path = upload.content(format);
  const file = openSync(unfinishedPath(path), "w");
  try {
    let bytes = 0;
    let lookAtBytes = 0;
    for (let next: IteratorResult<Buffer> = first; next.done !== true; next = await content.next()) {
      if (bytes >= lookAtBytes) {
        if ((await freeBytes(upload.path)) < freeBytesLeft) throw diskFull();
        lookAtBytes = bytes + lookEveryBytes;
      }
      for (let at = 0; at < next.value.length; ) at += writeSync(file, next.value, at);
      bytes += next.value.length;
      onRead(counter.bytes);
    }
  } catch (error) {
    await rm(unfinishedPath(path), { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  await rename(unfinishedPath(path), path);
  const delimiter =
    format === "csv"
      ? await delimiterOf({ path, name: name.split("/").at(-1) ?? name }, { gzip: false, header: true })
      : ",";
  return { format, delimiter };
}

/** The name of the rows' file. @throws Refusal for a .zip of several tables */
async function innerName(path: string, fileName: string, packing: Packing): Promise<string> {
  if (packing === "plain") return fileName.toLowerCase();
  if (packing === "gzip") return withoutGz(fileName.toLowerCase());
  const names = (await namesInZip(path)).map((name) => withoutGz(name.toLowerCase()));
  const [name, another] = names;
  if (name === undefined) throw new Refusal("The .zip has no file: choose another one.");
  if (another !== undefined && !names.every((one) => jsonEnding.test(one))) {
    throw new Refusal(
      `The .zip has ${names.length} files: upload each by itself. Only files of JSON lines are read together.`,
    );
  }
  return name;
}

const jsonEnding = /\.(json|jsonl|ndjson)$/;

function withoutGz(name: string): string {
  return name.replace(/\.gz$/, "");
}

function formatOf(name: string, first: Buffer): ContentForm["format"] {
  if (name.endsWith(".parquet")) throw new Refusal("Parquet is imported by the command: rekindle import.");
  if (jsonEnding.test(name)) return "jsonl";
  if (/\.(csv|tsv)$/.test(name)) return "csv";
  return /^\s*[{[]/.test(first.toString("latin1")) ? "jsonl" : "csv";
}

/** No text has a NUL, and spreadsheets, Parquet and pictures have many. */
function refuseBinary(first: Buffer): void {
  if (first.subarray(0, 4).toString("latin1") === "PAR1") {
    throw new Refusal("Parquet is imported by the command: rekindle import.");
  }
  if (!first.includes(0)) return;
  throw new Refusal("The file is no text: export it as CSV or JSON lines, in UTF-8.");
}
