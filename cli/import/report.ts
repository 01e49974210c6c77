/** What became of the rows: a summary on standard output, and every rejected row in a file when asked for. */
import { closeSync, openSync, writeSync } from "node:fs";
import type { ImportRecord } from "../../server/ledger/imports.ts";
import { Refusal } from "../../server/ledger/ledger.ts";

interface RejectedLine {
  readonly line: number;
  readonly reason: string;
}

/** More are counted, and go to the file. */
const maxShown = 20;

export class Report {
  readonly #file: number | undefined;
  readonly #isCsv: boolean;
  readonly #shown: RejectedLine[] = [];
  #rejected = 0;

  /** Makes the file at `path` anew: CSV when it is called so, else JSON lines.
   * @throws Refusal when it cannot be made */
  constructor(path: string | undefined) {
    this.#isCsv = path?.toLowerCase().endsWith(".csv") ?? false;
    this.#file = path === undefined ? undefined : open(path);
    if (this.#isCsv) this.#write("line,reason\r\n");
  }

  add({ line, reason }: RejectedLine): void {
    this.#rejected += 1;
    if (this.#shown.length < maxShown) this.#shown.push({ line, reason });
    this.#write(
      this.#isCsv ? `${line},"${reason.replaceAll('"', '""')}"\r\n` : `${JSON.stringify({ line, reason })}\n`,
    );
  }

  /** Prints the whole import's counts, and what this run did. */
  print(record: ImportRecord, rowsBefore: number, seconds: number): void {
    const rows = record.rowsDone - rowsBefore;
    const earlier = rowsBefore === 0 ? "" : ` (${rowsBefore} of them in earlier runs)`;
    const rate = Math.round(rows / Math.max(seconds, 0.001));
    const lines = [
      `rows       ${record.rowsDone}${earlier}`,
      `new        ${record.stored}`,
      `duplicate  ${record.duplicates}`,
      `rejected   ${record.rejected}`,
      `this run   ${rows} rows in ${seconds.toFixed(1)} s, ${rate} rows/s`,
      ...this.#shown.map(({ line, reason }) => `  line ${line}: ${reason}`),
      ...(this.#rejected > maxShown
        ? [`  and ${this.#rejected - maxShown} more: --report FILE has them all`]
        : []),
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #write(text: string): void {
    if (this.#file !== undefined) writeSync(this.#file, text);
  }
}

function open(path: string): number {
  try {
    return openSync(path, "w");
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new Refusal(`the report ${path} cannot be written (${error.code}): give --report another path.`);
  }
}

/** Prints what a run finds that has nothing to do: every row is known. */
export function printFinished(record: ImportRecord): void {
  const at = new Date(record.finishedAtMs ?? record.updatedAtMs).toISOString();
  const lines = [
    `this file was imported already, ${at}: nothing is stored again`,
    `rows       ${record.rowsDone}`,
    "new        0",
    `duplicate  ${record.stored + record.duplicates}`,
    `rejected   ${record.rejected} (then)`,
    ...(record.rejected === 0
      ? []
      : ["  rows that were rejected are not tried again: import them from a file of their own"]),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}
