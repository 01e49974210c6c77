/** The outcome of an import: a summary on standard output, and every rejected row in a file. */

import type { Unmatched } from "../../server/features/imports/reading/plan.ts";
import {
  RejectedFile,
  type RejectedLine,
  rejectedFileOf,
} from "../../server/features/imports/reading/rejected-file.ts";
import type { ImportRecord } from "../../server/ledger/stores/imports.ts";
import { printLine } from "../print.ts";

/** More are counted, and are in the file. */
const maxShown = 20;

export class Report {
  readonly #file: RejectedFile;
  readonly #before: ImportRecord;
  /** Reasons of rows that earlier runs rejected and did not write down, by the row's number. */
  readonly #unwritten: ReadonlyMap<number, string>;
  readonly #shown: RejectedLine[] = [];

  /** `before` is the import's record as this run found it; at `path` the file is made, CSV when it is called
   * so, else JSON lines. @throws Refusal when it cannot be made */
  constructor(path: string | undefined, before: ImportRecord) {
    this.#file = new RejectedFile(path, before);
    this.#before = before;
    this.#unwritten = new Map(this.#file.unwritten.map(({ row, reason }) => [row, reason]));
  }

  /** Takes up a row that an earlier run has done. */
  passed(row: number, line: number): void {
    const reason = this.#unwritten.get(row);
    if (reason !== undefined) this.add({ line, reason });
  }

  add(rejected: RejectedLine): void {
    if (this.#shown.length < maxShown) this.#shown.push(rejected);
    this.#file.add(rejected);
  }

  /** Prints the counts of the whole import and of this run. */
  print(record: ImportRecord, seconds: number): void {
    const { rowsDone: rowsBefore } = this.#before;
    const rows = record.rowsDone - rowsBefore;
    const earlier = rowsBefore === 0 ? "" : ` (${rowsBefore} of them in earlier runs)`;
    const rate = Math.round(rows / Math.max(seconds, 0.001));
    const lines = [
      `rows       ${record.rowsDone}${earlier}`,
      `new        ${record.stored}`,
      `duplicate  ${record.duplicates}`,
      `rejected   ${record.rejected}`,
      ...ignoredLine(record),
      `this run   ${rows} rows in ${seconds.toFixed(1)} s, ${rate} rows/s`,
      ...this.#shown.map(({ line, reason }) => `  line ${line}: ${reason}`),
      ...this.#others(record),
    ];
    for (const line of lines) printLine(line);
  }

  #others({ rejected }: ImportRecord): readonly string[] {
    const others = rejected - this.#shown.length;
    if (others <= 0) return [];
    const { rows, path } = this.#file;
    if (rows === this.#shown.length) return [`  and ${others} more, which an earlier run reported`];
    if (rows === rejected) return [`  and ${others} more: ${path} has them all`];
    return [`  and ${others} more: ${path} has ${rows} of all ${rejected}, an earlier run had another file`];
  }

  close(): void {
    this.#file.close(this.#file.rows === this.#shown.length);
  }
}

/** Rows that say nothing that is kept here are counted as nothing else. */
function ignoredLine({ rowsDone, stored, duplicates, rejected }: ImportRecord): readonly string[] {
  const ignored = rowsDone - stored - duplicates - rejected;
  return ignored === 0 ? [] : [`ignored    ${ignored}`];
}

/** The customers who match no user, in lines. A preview has all of them. */
export function unmatchedLines(
  unmatched: Unmatched | undefined,
  { isPreview }: { readonly isPreview: boolean },
): readonly string[] {
  if (unmatched === undefined || unmatched.customers.length === 0) return [];
  const { customers, areCreated } = unmatched;
  const withEmail = customers.filter(({ email }) => email !== undefined).length;
  const shown = isPreview ? customers : customers.slice(0, maxShown);
  const others = customers.length - shown.length;
  return [
    `unmatched  ${customers.length} customers match no user`,
    ...shown.map(({ id, email }) => `  ${id} ${fateOf(email, areCreated)}`),
    ...(others === 0 ? [] : [`  and ${others} more: --preview lists all`]),
    ...(areCreated || withEmail === 0
      ? []
      : [
          `  their events are held for 30 days. --create-unmatched${isPreview ? "" : " --as-another-import"} makes users of ${withEmail}`,
        ]),
  ];
}

function fateOf(email: string | undefined, areCreated: boolean): string {
  if (email === undefined) return "without an e-mail address: its events are held";
  return areCreated ? `${email}: becomes a user` : email;
}

/** Prints the result of a run without work: every row is known. */
export function printFinished(record: ImportRecord, reportPath: string | undefined): void {
  const at = new Date(record.finishedAtMs ?? record.updatedAtMs).toISOString();
  const rejectedFile = rejectedFileOf(reportPath, record);
  const lines = [
    `this file was imported already, ${at}: nothing is stored again`,
    `rows       ${record.rowsDone}`,
    "new        0",
    `duplicate  ${record.stored + record.duplicates}`,
    `rejected   ${record.rejected} (then)`,
    ...ignoredLine(record),
    ...(record.rejected === 0
      ? []
      : [
          "  rows that were rejected are not tried again: import them from a file of their own",
          rejectedFile === undefined
            ? "  their lines and reasons were reported then, and no known file has them"
            : `  ${rejectedFile} has their lines and reasons`,
        ]),
  ];
  for (const line of lines) printLine(line);
}
