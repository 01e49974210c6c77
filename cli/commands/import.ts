/** `rekindle import` */

import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import type { ImportService } from "../../server/between/between.ts";
import type { ImportRecord, Organization } from "../../server/ledger/ledger.ts";
import { refuseDamaged } from "../import/bytes.ts";
import { ImportFile } from "../import/file.ts";
import { itemOf } from "../import/item.ts";
import { type Mapping, resolveMapping } from "../import/mapping.ts";
import { addImportOptions, type ImportOptions, mappingOptionsOf, readingOf } from "../import/options.ts";
import { printFinished, Report } from "../import/report.ts";
import type { Reading, Row } from "../import/row.ts";
import { runImport } from "../import/run.ts";
import { importService } from "../import/service.ts";
import { openRows } from "../import/source.ts";
import { organizationNamed, withInstallation } from "../installation.ts";
import { printable } from "../output.ts";
import { Progress } from "../progress.ts";

export function importCommand(): Command {
  return addImportOptions(
    new Command("import")
      .description(
        "Import events or users from CSV, JSON lines or Parquet. After an interruption, run it again: it resumes",
      )
      .argument("<file>", "its path; .csv and .jsonl may be compressed as .gz"),
  ).action((path: string, options: ImportOptions) =>
    withInstallation(async (installation) => {
      const organization = await organizationNamed(installation.ledger, options.organization);
      const file = new ImportFile(path);
      const reading = readingOf(file, options);
      const first = await firstRows(reading, file.bytes);
      if (first.length === 0) {
        process.stdout.write("the file has no rows: there is nothing to import\n");
        return;
      }
      const mapping = resolveMapping(mappingOptionsOf(options), columnsOf(first), reading.format !== "jsonl");
      const job = {
        service: await importService(installation),
        organization,
        file,
        reading,
        mapping,
        options,
      };
      if (options.preview || process.stderr.isTTY) await preview(job, first);
      if (!options.preview) await importAll(job);
    }),
  );
}

interface Job {
  readonly service: ImportService;
  readonly organization: Organization;
  readonly file: ImportFile;
  readonly reading: Reading;
  readonly mapping: Mapping;
  readonly options: ImportOptions;
}

/** The columns of JSON lines may differ from row to row: the first rows of this number are read. */
const firstRowsRead = 100;

async function firstRows(reading: Reading, bytes: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  try {
    for await (const row of openRows(reading, bytes)) {
      rows.push(row);
      if (rows.length === firstRowsRead) break;
    }
  } catch (error) {
    // The import itself will reach the error, and keep the rows before it.
    if (rows.length === 0) throw error;
  }
  return rows;
}

function columnsOf(rows: readonly Row[]): readonly string[] {
  const columns = new Set(rows.flatMap((row) => ("unreadable" in row ? [] : row.columns)));
  const [first] = rows;
  if (columns.size === 0 && first !== undefined && "unreadable" in first) {
    throw new Refusal(`none of the first rows can be read; on line ${first.line}: ${first.unreadable}`);
  }
  return [...columns];
}

const previewedRows = 5;

async function preview(
  { service, organization, mapping, options }: Job,
  first: readonly Row[],
): Promise<void> {
  const rows = first.slice(0, previewedRows);
  const items = rows.map((row) => itemOf(row, mapping));
  const verdicts = await service.check(organization.id, items);
  const lines = rows.flatMap(({ line }, index) => {
    const item = items[index];
    const verdict = verdicts[index] ?? "";
    return [`line ${line}: ${verdict}`, ...(typeof item === "string" ? [`  ${item}`] : [])];
  });
  const output = options.preview ? process.stdout : process.stderr;
  output.write(`${mapping.type}, the first rows as they are sent:\n${lines.map(printable).join("\n")}\n`);
}

async function importAll(job: Job): Promise<void> {
  const { service, organization, file, reading, mapping, options } = job;
  const { format, delimiter, header } = reading;
  if (options.report !== undefined) file.refuseAsReport(options.report);
  // Every option that decides the meaning of a row, besides the mapping: another text is another import.
  const text = JSON.stringify({ version: 1, format, delimiter, header, ...mapping });
  const sha256 = await file.sha256();
  if (!options.asAnotherImport) await refuseOtherMapping(job, sha256, text);
  const record = await service.begin({
    organization: organization.id,
    sha256,
    mapping: text,
    fileName: file.name,
  });
  if (record.finishedAtMs !== null) {
    printFinished(record, options.report);
    return refuseRejected(record, options);
  }
  if (reading.gzip && record.rowsDone === 0) await refuseDamaged(file.path);
  const report = new Report(options.report, record);
  const rows = openRows(reading, file.bytes);
  const progress = new Progress("rows");
  const startedMs = performance.now();
  let reached = record;
  try {
    await runImport({
      ...{ service, record, rows, mapping },
      onPassed: (row, line) => report.passed(row, line),
      onRejected: (rejected) => report.add(rejected),
      onProgress: (now, waiting) => {
        reached = now;
        progress.show({ done: now.rowsDone, fraction: rows.fractionRead(), waiting });
      },
      checkFile: (rowsDone) => file.refuseChanged(rowsDone),
    });
  } finally {
    progress.end();
    report.print(reached, (performance.now() - startedMs) / 1_000);
    report.close();
  }
  refuseRejected(reached, options);
}

/** Exits with 1 when all rows were rejected, or more than allowed, so that a scheduler notices wrong options. */
function refuseRejected({ rowsDone, rejected }: ImportRecord, { maxRejected }: ImportOptions): void {
  if (rejected === 0) return;
  if (rejected < rowsDone) {
    if (maxRejected === undefined || rejected <= maxRejected.rowsOf(rowsDone)) return;
    throw new Refusal(
      `${rejected} of ${rowsDone} rows were rejected, more than --max-rejected ${maxRejected.text} allows. The others are stored.`,
    );
  }
  throw new Refusal(
    `${rejected === 1 ? "the only row" : `each of the ${rejected} rows`} was rejected: nothing was imported.`,
  );
}

/** Re-importing users is harmless; events would be duplicated. */
async function refuseOtherMapping({ service, organization, mapping }: Job, sha256: string, text: string) {
  if (mapping.type !== "events") return;
  const known = await service.ofFile(organization.id, sha256);
  if (known.some((record) => record.mapping === text)) return;
  const other = known.find((record) => record.stored > 0 && holdsEvents(record));
  if (other === undefined) return;
  throw new Refusal(
    `${other.stored === 1 ? "1 event of this file was" : `${other.stored} events of this file were`} imported ${new Date(other.startedAtMs).toISOString()} under other ` +
      "options, and would be stored twice: give the same options to resume, or --as-another-import.",
  );
}

function holdsEvents({ mapping }: ImportRecord): boolean {
  return (JSON.parse(mapping) as Partial<Mapping>).type === "events";
}
