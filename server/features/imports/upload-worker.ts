/** The thread of `upload-thread.ts`: it inflates one uploaded file, reads its rows and translates them, so
 * that requests wait for none of that. Chunks go out as they are asked for. It is ended with its step. */
import { createReadStream, createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { type SentMapping, uploadLimits } from "../../../contract/api/imports.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { Refusal } from "../../../contract/refusal.ts";
import { csvChunks } from "../../http/port/csv.ts";
import { unfinishedPath } from "../../process/files.ts";
import { messageOf } from "../../process/message-of.ts";
import { type Prepared, UploadFolder } from "./folder.ts";
import { guess } from "./guess.ts";
import { inflateUpload } from "./inflate.ts";
import { type Chunk, chunksOf } from "./reading/chunks.ts";
import { withDayOrder } from "./reading/day-order.ts";
import { exportPlan } from "./reading/export-plan.ts";
import { ImportFile } from "./reading/file.ts";
import { columnsOf, firstRows } from "./reading/first-rows.ts";
import { type ImportPlan, mappedPlan } from "./reading/plan.ts";
import type { ReadRow, Row, RowSource } from "./reading/row.ts";
import { openRows } from "./reading/source.ts";
import { freeBytesOf, inBrowser, whyFailed } from "./receive.ts";
import { mappingOf } from "./sent-mapping.ts";

/** Where a file is. */
interface Place {
  readonly folder: string;
  readonly name: string;
}

/** What a thread is told: one task, then whether it may go on. */
export type Told =
  | (Place & { readonly task: "prepare"; readonly fileName: string; readonly bytes: number })
  | (Place & { readonly task: "plan"; readonly mapping: SentMapping; readonly nowMs: number })
  /** Sends the rows behind those that are done. */
  | { readonly task: "rows"; readonly rowsDone: number; readonly passed: readonly number[] }
  | { readonly task: "next" }
  | (Place & { readonly task: "rejected" });

/** The import that a file and its mapping make. */
export interface Planned {
  readonly sha256: string;
  readonly text: string;
  readonly holdsEvents: boolean;
}

/** What a thread says. */
export type Said =
  | { readonly share: number }
  | { readonly planned: Planned }
  /** Lines of rows that an earlier run has done, by the rows' numbers. */
  | { readonly chunk: Chunk; readonly share: number; readonly passed: readonly (readonly [number, number])[] }
  | { readonly done: true }
  /** Why the file cannot be read; for an error of the service, its text as well. */
  | { readonly failure: string; readonly error?: string };

declare const self: Worker;

const say = (said: Said): void => self.postMessage(said);

let plan: ImportPlan | undefined;
let goOn: () => void = () => undefined;

self.onmessage = ({ data }: MessageEvent<Told>) => {
  if (data.task === "next") goOn();
  else
    perform(data).catch((error: unknown) => {
      const failure = whyFailed(error);
      if (failure !== undefined) say({ failure });
      else say({ failure: "An unexpected error occurred: try again.", error: messageOf(error) });
    });
};

async function perform(told: Exclude<Told, { readonly task: "next" }>): Promise<void> {
  switch (told.task) {
    case "prepare":
      await prepare(new UploadFolder(told.folder, told.name), told.fileName, told.bytes);
      say({ done: true });
      break;
    case "plan": {
      const upload = new UploadFolder(told.folder, told.name);
      const made = await planOf(upload, told.mapping, told.nowMs);
      plan = made.plan;
      const { text, holdsEvents } = made.plan;
      say({ planned: { sha256: await made.file.sha256(), text, holdsEvents } });
      break;
    }
    case "rows":
      if (plan === undefined) throw new Error("rows were asked for without a plan");
      await sendRows(plan, told.rowsDone, new Set(told.passed));
      say({ done: true });
      break;
    case "rejected":
      await writeRejected(new UploadFolder(told.folder, told.name));
      say({ done: true });
  }
}

/** Inflates the file, reads its first rows, and guesses what they are. */
async function prepare(upload: UploadFolder, fileName: string, bytes: number): Promise<void> {
  const form = await inflateUpload(upload, fileName, freeBytesOf, (read) => say({ share: read / bytes }));
  const rows = await firstRows(rowsOf(upload, form));
  if (rows.length === 0) throw new Refusal("The file has no rows: choose another one.");
  const columns = columnsOf(rows);
  if (columns.length > uploadLimits.columns) {
    throw new Refusal(
      `The file has ${columns.length} columns, more than ${uploadLimits.columns}: leave some out, or use rekindle import.`,
    );
  }
  const read = rows.filter((row): row is ReadRow => !("unreadable" in row));
  const shown = read.slice(0, uploadLimits.previewedRows);
  upload.prepared = {
    format: form.format,
    delimiter: form.delimiter,
    preview: Object.assign(guess(columns, read, form.format === "csv"), {
      rows: shown.map((row) => columns.map((name) => cellText(row.cells[row.columns.indexOf(name)]))),
    }),
  };
}

const cellCharacters = 200;

function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, cellCharacters);
}

function rowsOf(
  upload: UploadFolder,
  { format, delimiter }: Pick<Prepared, "format" | "delimiter">,
): RowSource {
  const file = new ImportFile(upload.content(format));
  return openRows({ path: file.path, format, gzip: false, delimiter, header: true }, file.bytes);
}

async function planOf(upload: UploadFolder, sent: SentMapping, nowMs: number) {
  const { prepared } = upload;
  if (prepared === undefined) throw new Refusal("The file is deleted: upload it again.");
  const { format, delimiter, preview } = prepared;
  const file = new ImportFile(upload.content(format));
  if (sent.from !== null) {
    const { timezone, accountProperty } = sent;
    return { file, plan: await exportPlan(file, sent.from, { timezone, accountProperty, nowMs }) };
  }
  const open = () => rowsOf(upload, prepared);
  const mapping = await withDayOrder(mappingOf(sent, preview.columns), await firstRows(open()), open());
  const reading = { path: file.path, format, gzip: false, delimiter, header: true };
  return { file, plan: mappedPlan(reading, file.bytes, mapping) };
}

async function sendRows(whole: ImportPlan, rowsDone: number, wanted: ReadonlySet<number>): Promise<void> {
  const rows = whole.open();
  const passed: (readonly [number, number])[] = [];
  const onPassed = (row: number, line: number) => {
    if (wanted.has(row)) passed.push([row, line]);
  };
  const chunks = chunksOf({ rows, itemOf: whole.translator(), rowsDone, onPassed });
  for await (const chunk of chunks) {
    const next = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    say({ chunk, share: rows.fractionRead(), passed: passed.splice(0) });
    await next;
  }
  if (passed.length > 0) say({ chunk: { rows: [], lines: [] }, share: 1, passed });
}

/** Rows of the file that are written at once. */
const rowsAtOnce = 500;

/** Writes the rejected rows with their cells: the file and the lines of its rejected rows are read side by
 * side. */
async function writeRejected(upload: UploadFolder): Promise<void> {
  const { prepared, rejectedRows: path } = upload;
  if (prepared === undefined) throw new Error("a file without first rows was imported");
  const columns = prepared.preview.columns.map(({ name }) => name);
  const names = [lineColumn, reasonColumn, ...columns];
  const out = createWriteStream(unfinishedPath(path));
  for await (const piece of csvChunks(names, rejectedOf(upload, prepared, columns), true)) {
    if (!out.write(piece)) await new Promise((resolve) => out.once("drain", resolve));
  }
  out.end();
  await finished(out);
  await rename(unfinishedPath(path), path);
}

const lineColumn = "rejected line";
const reasonColumn = "rejected because";

async function* rejectedOf(
  upload: UploadFolder,
  prepared: Prepared,
  columns: readonly string[],
): AsyncIterable<readonly JsonObject[]> {
  const lines = createInterface({ input: createReadStream(upload.rejectedLines) })[Symbol.asyncIterator]();
  const nextRejected = async () => {
    const { value, done } = await lines.next();
    return done === true
      ? undefined
      : (JSON.parse(value) as { readonly line: number; readonly reason: string });
  };
  let rejected = await nextRejected();
  let rows: JsonObject[] = [];
  const take = async (line: number, row: Row | undefined) => {
    while (rejected !== undefined && rejected.line <= line) {
      const isOfRow = row !== undefined && rejected.line === line;
      const cells = isOfRow && !("unreadable" in row) ? cellsOf(row, columns) : [];
      rows.push(
        Object.fromEntries([
          [lineColumn, rejected.line],
          [reasonColumn, inBrowser(rejected.reason)],
          ...cells,
        ]),
      );
      rejected = await nextRejected();
    }
  };
  try {
    for await (const row of rowsOf(upload, prepared)) {
      if (rejected === undefined) break;
      await take(row.line, row);
      if (rows.length >= rowsAtOnce) {
        yield rows;
        rows = [];
      }
    }
  } catch (error) {
    // The run has reached the error, too.
    if (!(error instanceof Refusal)) throw error;
  }
  await take(Number.POSITIVE_INFINITY, undefined);
  yield rows;
}

function cellsOf(row: ReadRow, columns: readonly string[]): readonly (readonly [string, unknown])[] {
  return columns.map((name) => [name, row.cells[row.columns.indexOf(name)] ?? null] as const);
}
