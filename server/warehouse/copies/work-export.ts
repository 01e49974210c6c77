/** Notes, tasks, alerts and other rows of features as a stream of bytes: JSON lines or CSV (RFC 4180). They
 * are rows of the ledger. */

import { amountInUnits } from "../../../contract/billing/currencies.ts";
import { Refusal } from "../../../contract/refusal.ts";
import { dayOrNull, formatDay } from "../../calendar/days.ts";
import { instant } from "../../calendar/instant.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { ExportedRow, ExportedRows, ExportedValue, Feature } from "../../ledger/feature.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Alert } from "../../features/alerts/store/alerts.ts";
import { exportedEntity, exportedEntityColumns, nameOf } from "../../ledger/stores/entity-rows.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import { currenciesUsed, reportingCurrencyOf } from "../schema/currencies-used.ts";
import { type ExportFormat, type ExportTable, exportTables } from "./export.ts";

/** The names of an organization's exports: tables of the warehouse, and of the ledger. */
export function exportNames(features: readonly Feature[]): readonly string[] {
  return [...exportTables, ...features.flatMap(exportsOf).map(({ name }) => name), alerts];
}

const alerts = "alerts";

function exportsOf({ exports = [] }: Feature): readonly ExportedRows[] {
  return exports;
}

/** Whether an export has rows of the warehouse. */
export function isWarehouseTable(name: string): name is ExportTable {
  return exportTables.some((table) => table === name);
}

/** Rows that are read together. */
const pageRows = 500;

interface Stores {
  readonly ledger: SharedLedger;
  readonly warehouse: Warehouse;
  readonly nowMs: number;
}

/** The bytes of one of these tables. Controls of a hold-out are not among alerts before the churn horizon is
 * over. @throws Refusal for Parquet */
export async function* exportWork(
  stores: Stores,
  organization: number,
  table: string,
  format: ExportFormat,
): AsyncGenerator<Uint8Array> {
  if (format === "parquet") throw new Refusal(`${table} are exported as jsonl or csv: choose one of them.`);
  const encoder = new TextEncoder();
  const { columns, read } = await readerOf(stores, organization, table);
  const currency = table === alerts && format === "csv" ? await currencyOf(stores, organization) : "";
  if (format === "csv") yield encoder.encode(csvLine([...columns]));
  for (let after = 0; ; ) {
    const page = await read(after);
    const lines = page.map(({ line }) =>
      format === "csv"
        ? csvLine(columns.map((name) => cell(line, name, currency)))
        : `${JSON.stringify(line)}\n`,
    );
    if (lines.length > 0) yield encoder.encode(lines.join(""));
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return;
    after = last.id;
  }
}

/** The value of a column. A CSV has amounts in units, and lines of JSON have them in minor units. */
function cell(line: ExportedRow["line"], name: string, currency: string): ExportedValue {
  const value = line[name] ?? null;
  if (name === "currency") return currency;
  return name === "expectedLoss" && typeof value === "number" ? amountInUnits(value, currency) : value;
}

async function currencyOf({ ledger, warehouse }: Stores, organization: number): Promise<string> {
  const { settings } = await ledger.settings.get(organization);
  return reportingCurrencyOf(settings.reportingCurrency, await currenciesUsed(warehouse, organization));
}

/** The columns of a table, and how the rows above an id are read. @throws Refusal for an unknown table */
async function readerOf(
  { ledger, nowMs }: Stores,
  organization: number,
  table: string,
): Promise<Pick<ExportedRows, "columns"> & { read(after: number): Promise<readonly ExportedRow[]> }> {
  if (table === alerts) {
    const { timezone } = await ledger.freshness(organization);
    const today = zoneOf(timezone).dayOf(nowMs);
    const read = async (after: number) =>
      (await ledger.alerts.all(organization, today, after, pageRows)).map(alertLine);
    return { columns: alertColumns, read };
  }
  const rows = ledger.features.flatMap(exportsOf).find(({ name }) => name === table);
  if (rows === undefined) throw new Refusal(`There is no export of ${table}.`);
  return { columns: rows.columns, read: (after) => rows.page(ledger, organization, after, pageRows) };
}

const alertColumns = [
  ...exportedEntityColumns,
  "source",
  "ruleId",
  "rule",
  "version",
  "firedDay",
  "firedAt",
  "before",
  "after",
  "reasons",
  "risk",
  "currency",
  "expectedLoss",
  "arm",
  "isSent",
  "closedDay",
  "closedWhy",
  "assignee",
  "snoozedUntil",
  "verdict",
  "verdictBy",
  "verdictAt",
  "note",
];
/** An alert as a line of an export. */
export function alertLine(alert: Alert): ExportedRow {
  const { id, rule, version, entity, firedDay, firedAtMs, before, after, reasons, risk, expectedLoss } =
    alert;
  const { arm, isSent, closedDay, closedWhy, assignee, snoozedUntil, verdict, verdictBy, verdictAtMs } =
    alert;
  const line = {
    ...(entity.kind === "source"
      ? { id, userId: null, accountId: null, source: entity.source }
      : { ...exportedEntity({ id, entity }), source: null }),
    ruleId: rule.id,
    rule: rule.name,
    version,
    firedDay: formatDay(firedDay),
    firedAt: instant(firedAtMs),
    before,
    after,
    reasons: reasons.map(({ text }) => text).join("; "),
    risk,
    expectedLoss,
    arm,
    isSent,
    closedDay: dayOrNull(closedDay),
    closedWhy,
    assignee: nameOf(assignee),
    snoozedUntil: dayOrNull(snoozedUntil),
    verdict,
    verdictBy: nameOf(verdictBy),
    verdictAt: verdictAtMs === null ? null : instant(verdictAtMs),
    note: alert.note,
  };
  return { id, line };
}

function csvLine(fields: readonly ExportedValue[]): string {
  return `${fields.map(field).join(",")}\r\n`;
}

function field(value: ExportedValue): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
