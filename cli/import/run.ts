/**
 * Imports a file: reads it from its start, skips the rows that earlier runs have imported, and sends the rest
 * in chunks. The progress is stored with the data, so this process may die at any moment.
 */

import { Refusal } from "../../contract/refusal.ts";
import type { ImportService } from "../../server/between/remote/shared-ledger.ts";
import { type Chunk, chunksOf } from "../../server/features/imports/reading/chunks.ts";
import type { Row, RowSource } from "../../server/features/imports/reading/row.ts";
import type { ImportRow } from "../../server/intake/import-rows.ts";
import type { Appended } from "../../server/intake/importer.ts";
import type { ImportRecord } from "../../server/ledger/stores/imports.ts";
import { Unreachable } from "../../server/process/control.ts";

export interface Run {
  readonly service: ImportService;
  readonly record: ImportRecord;
  readonly rows: RowSource;
  /** The item of a row, called in the order of the file. */
  readonly itemOf: (row: Row) => ImportRow;
  /** Called for every row that earlier runs have done, with its number, counted from 0, and its line. */
  readonly onPassed: (row: number, line: number) => void;
  /** Called for every rejected row. */
  readonly onRejected: (rejected: { readonly line: number; readonly reason: string }) => void;
  /** Called after every chunk, and while it has to wait with the reason. */
  readonly onProgress: (record: ImportRecord, waiting?: string) => void;
  /** @throws Refusal when the file is not the one that the record is about */
  readonly checkFile: (rowsDone: number) => void;
}

/** Imports the missing rows, and returns the final record.
 * @throws Refusal where the file cannot be read further; earlier rows are stored and counted */
export async function runImport(run: Run): Promise<ImportRecord> {
  let record = run.record;
  const send = async (chunk: Chunk) => {
    run.checkFile(record.rowsDone);
    record = await append(run, record, chunk);
  };
  const { rowsDone } = record;
  for await (const chunk of chunksOf({ ...run, rowsDone })) await send(chunk);
  await patiently(run, record, () => run.service.finish(record.id));
  return record;
}

/** Sends a chunk until all of it is taken: for users with very many held events the service takes a part at a
 * time. */
async function append(run: Run, before: ImportRecord, chunk: Chunk): Promise<ImportRecord> {
  const fromRow = before.rowsDone;
  const record = await accepted(run, before, chunk);
  const taken = record.rowsDone - fromRow;
  if (record.lastFromRow !== fromRow || taken < 1 || taken > chunk.rows.length) {
    throw new Refusal(
      "another run of this import is active: wait until it ends, then run this command again.",
    );
  }
  for (const { row, reason } of record.lastRejected) {
    run.onRejected({ line: chunk.lines[row - fromRow] ?? 0, reason });
  }
  run.onProgress(record);
  if (taken === chunk.rows.length) return record;
  return append(run, record, { rows: chunk.rows.slice(taken), lines: chunk.lines.slice(taken) });
}

const triesAgainMs = 500;

/** How long the service may take nothing before the import gives up. */
const maxClosedMs = 10 * 60_000;

async function accepted(run: Run, before: ImportRecord, chunk: Chunk): Promise<ImportRecord> {
  const deadlineMs = performance.now() + maxClosedMs;
  while (true) {
    const answer: Appended = await patiently(run, before, () =>
      run.service.append(before.id, before.rowsDone, chunk.rows),
    );
    if (!("closedBecause" in answer)) return answer;
    if (performance.now() > deadlineMs) {
      throw new Refusal(
        `no row was taken for ten minutes (${answer.closedBecause}): run this command again later.`,
      );
    }
    run.onProgress(before, answer.closedBecause);
    await Bun.sleep(triesAgainMs);
  }
}

/** A server that is started again answers within seconds; one that was stopped for good does not. */
const maxAwayMs = 60_000;

async function patiently<Result>(
  run: Run,
  record: ImportRecord,
  call: () => Promise<Result>,
): Promise<Result> {
  const deadlineMs = performance.now() + maxAwayMs;
  while (true) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (performance.now() > deadlineMs) {
        throw new Refusal("the server was unreachable for a minute: run this command again when it is back.");
      }
      run.onProgress(record, "the server is unreachable");
      await Bun.sleep(triesAgainMs);
    }
  }
}
