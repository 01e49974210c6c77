/** `rekindle import` */

import { basename, dirname, extname, join } from "node:path";
import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import type { ImportService } from "../../server/between/remote/shared-ledger.ts";
import { withDayOrder } from "../../server/features/imports/reading/day-order.ts";
import { exportPlan } from "../../server/features/imports/reading/export-plan.ts";
import { ImportFile } from "../../server/features/imports/reading/file.ts";
import {
  alike,
  columnsOf,
  firstRows,
  firstRowsRead,
} from "../../server/features/imports/reading/first-rows.ts";
import { describeMapping, resolveMapping } from "../../server/features/imports/reading/mapping.ts";
import { holdsEvents, type ImportPlan, mappedPlan } from "../../server/features/imports/reading/plan.ts";
import type { Row } from "../../server/features/imports/reading/row.ts";
import { openRows } from "../../server/features/imports/reading/source.ts";
import { type ImportRow, isWorkRow } from "../../server/intake/import-rows.ts";
import { isRejection } from "../../server/intake/importer.ts";
import type { ImportRecord } from "../../server/ledger/stores/imports.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import {
  addImportOptions,
  exportOptionsOf,
  type ImportOptions,
  mappingOptionsOf,
  readingOf,
  workMappingOf,
} from "../import/options.ts";
import { printFinished, Report, unmatchedLines } from "../import/report.ts";
import { runImport } from "../import/run.ts";
import { importService } from "../import/service.ts";
import { withDayOrderOfWork, workPlan } from "../import/work-rows.ts";
import { organizationOf, withInstallation } from "../installation.ts";
import { printable } from "../output.ts";
import { printLine } from "../print.ts";
import { Progress } from "../progress.ts";
import { scoreLoaded } from "../score-loaded.ts";

export function importCommand(): Command {
  return addImportOptions(
    new Command("import")
      .description(
        "Import events, users, accounts, notes, tasks, contacts or owners from CSV, JSON lines or Parquet, or the exports of another tool. After an interruption, run it again: it resumes",
      )
      .argument("<files...>", "their paths; .csv and .jsonl may be compressed as .gz"),
  ).action((paths: readonly string[], options: ImportOptions) =>
    withInstallation(async (installation) => {
      const organization = await organizationOf(installation.ledger, options.organization);
      const service = await importService(installation);
      const files = paths.map((path) => new ImportFile(path));
      const records: ImportRecord[] = [];
      for (const file of files) {
        if (files.length > 1) printLine(`file       ${file.name}`);
        const report = reportPath(options.report, file, files.length > 1);
        const record = await importFile({ service, organization, file, options: { ...options, ...report } });
        if (record !== undefined) records.push(record);
      }
      const scored =
        records.some(({ stored }) => stored > 0) && (await scoreLoaded(installation, organization));
      if (scored) printLine(scored);
      refuseRejected(records, options);
    }),
  );
}

/** Each of several files has a report of its own. */
function reportPath(report: string | undefined, { name }: ImportFile, isOneOfSeveral: boolean) {
  if (report === undefined || !isOneOfSeveral) return {};
  const extension = extname(report);
  return { report: join(dirname(report), `${basename(report, extension)}-${name}${extension}`) };
}

interface Job {
  readonly service: ImportService;
  readonly organization: Organization;
  readonly file: ImportFile;
  readonly options: ImportOptions;
}

/** @returns the record of the import. Undefined if there is none */
async function importFile(job: Job): Promise<ImportRecord | undefined> {
  const planned = await planOf(job.file, job.options);
  if (planned === undefined) {
    process.stdout.write("the file has no rows: there is nothing to import\n");
    return undefined;
  }
  const { plan, first } = planned;
  if (job.options.preview || process.stderr.isTTY) await preview(job, plan, first);
  return job.options.preview ? undefined : importAll(job, plan, first);
}

interface Planned {
  readonly plan: ImportPlan;
  readonly first: readonly Row[];
}

/** Reads the first rows, and decides what the file's rows are. @returns undefined for a file without rows */
async function planOf(file: ImportFile, options: ImportOptions): Promise<Planned | undefined> {
  const { from } = options;
  if (from !== undefined) {
    const plan = await exportPlan(file, from, exportOptionsOf(from, options));
    const first = await firstRows(plan.open());
    return first.length === 0 ? undefined : { plan, first };
  }
  refuseToolOptions(options);
  const reading = await readingOf(file, options);
  const first = await firstRows(openRows(reading, file.bytes));
  if (first.length === 0) return undefined;
  const columns = columnsOf(first);
  const work = workMappingOf(options, columns, reading.format !== "jsonl");
  if (work !== undefined) {
    const ordered = await withDayOrderOfWork(work, first, reading, file.bytes);
    return { plan: workPlan(reading, file.bytes, ordered, columns), first };
  }
  const byNames = resolveMapping(mappingOptionsOf(options), columns, reading.format !== "jsonl");
  const mapping = await withDayOrder(byNames, first, openRows(reading, file.bytes));
  const plan = mappedPlan(reading, file.bytes, mapping);
  return { plan: { ...plan, columns: describeMapping(mapping, columns) }, first };
}

function refuseToolOptions({ accountProperty, createUnmatched }: ImportOptions): void {
  const given =
    (accountProperty !== undefined && "--account-property") ||
    (createUnmatched !== undefined && "--create-unmatched");
  if (given !== false) throw new Refusal(`${given} is for exports of a tool: give --from, too.`);
}

const previewedRows = 5;

async function preview(
  { service, organization, options }: Job,
  plan: ImportPlan,
  first: readonly Row[],
): Promise<void> {
  const unmatched = await unmatchedOf({ service, organization }, plan);
  const rows = first.slice(0, previewedRows);
  const items = rows.map(plan.translator());
  const verdicts = await service.check(organization.id, items);
  const lines = rows.flatMap(({ line }, index) => {
    const item = items[index];
    const sent = sentOf(item);
    const texts = sent.map((one) => `  ${typeof one === "string" ? one : JSON.stringify(one)}`);
    return [`line ${line}: ${verdicts[index] ?? ""}`, ...texts];
  });
  const output = options.preview ? process.stdout : process.stderr;
  // The import itself says it, too.
  if (options.preview && plan.columns !== undefined) output.write(`columns: ${printable(plan.columns)}\n`);
  output.write(`${plan.what}, the first rows as they are sent:\n${lines.map(printable).join("\n")}\n`);
  for (const line of unmatchedLines(unmatched, { isPreview: true })) output.write(`${printable(line)}\n`);
}

/** What is shown of a row: its items, or the fields of a note, task, contact or owner. */
function sentOf(item: ImportRow | undefined): readonly unknown[] {
  if (typeof item === "string") return [item];
  if (item === undefined) return [];
  if (isWorkRow(item)) return [item.fields];
  return "items" in item ? item.items : [];
}

/** Customers of the file who match no user; undefined for a file without customers. */
function unmatchedOf({ service, organization }: Pick<Job, "service" | "organization">, plan: ImportPlan) {
  return plan.findUnmatched?.((rows) => service.check(organization.id, rows));
}

async function importAll(job: Job, plan: ImportPlan, first: readonly Row[]): Promise<ImportRecord> {
  const { service, organization, file, options } = job;
  if (options.report !== undefined) file.refuseAsReport(options.report);
  const sha256 = await file.sha256();
  if (!options.asAnotherImport) await refuseOtherMapping(job, sha256, plan);
  const record = await service.begin({
    organization: organization.id,
    sha256,
    mapping: plan.text,
    fileName: file.name,
  });
  if (record.finishedAtMs !== null) {
    printFinished(record, options.report);
    return record;
  }
  if (record.rowsDone === 0) await plan.refuseDamaged();
  const unmatched = await unmatchedOf(job, plan);
  if (plan.columns !== undefined) printLine(`columns    ${plan.columns}`);
  if (record.rowsDone === 0 && options.maxRejected === undefined) await refuseAllAlike(job, plan, first);
  const report = new Report(options.report, record);
  const rows = plan.open();
  const progress = new Progress("rows");
  const startedMs = performance.now();
  let reached = record;
  try {
    await runImport({
      service,
      record,
      rows,
      itemOf: plan.translator(),
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
    for (const line of unmatchedLines(unmatched, { isPreview: false })) printLine(line);
    report.close();
  }
  return reached;
}

/** Of the rows that are checked at once: the server takes 64 MiB. Rows that are so long are wrong for another
 * reason. */
const maxCheckedCharacters = 16 * 1024 * 1024;

/** @throws Refusal when the first 100 rows would be rejected for one reason: an option is wrong, and nothing
 * is stored */
async function refuseAllAlike({ service, organization }: Job, plan: ImportPlan, first: readonly Row[]) {
  const rows = first.map(plan.translator());
  if (rows.length < firstRowsRead || JSON.stringify(rows).length > maxCheckedCharacters) return;
  const verdicts = await service.check(organization.id, rows);
  const [reason = ""] = verdicts;
  if (!verdicts.every((verdict) => isRejection(verdict) && alike(verdict) === alike(reason))) return;
  throw new Refusal(
    `the first ${first.length} rows would be rejected for one reason, so nothing was imported. On line ${first[0]?.line}: ${reason} ` +
      "(If later rows are right, give --max-rejected.)",
  );
}

/** Exits with 1 when all rows were rejected, or more than allowed, so that a scheduler notices wrong
 * options. */
function refuseRejected(records: readonly ImportRecord[], { maxRejected }: ImportOptions): void {
  const rowsDone = records.reduce((sum, record) => sum + record.rowsDone, 0);
  const rejected = records.reduce((sum, record) => sum + record.rejected, 0);
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
async function refuseOtherMapping({ service, organization }: Job, sha256: string, plan: ImportPlan) {
  if (!plan.holdsEvents) return;
  const known = await service.ofFile(organization.id, sha256);
  if (known.some((record) => record.mapping === plan.text)) return;
  const other = known.find((record) => record.stored > 0 && holdsEvents(record));
  if (other === undefined) return;
  throw new Refusal(
    `${other.stored === 1 ? "1 event of this file was" : `${other.stored} events of this file were`} imported ${new Date(other.startedAtMs).toISOString()} under other ` +
      "options, and would be stored twice: give the same options to resume, or --as-another-import.",
  );
}
