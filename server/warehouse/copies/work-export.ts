/** Notes, tasks, alerts and other rows of features as a stream of bytes: JSON lines or CSV (RFC 4180). They
 * are rows of the ledger. */

import { amountInUnits } from "../../../contract/billing/currencies.ts";
import { Refusal } from "../../../contract/refusal.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { ExportedRow, ExportedRows, ExportedValue, Feature } from "../../ledger/feature.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import { currenciesUsed, reportingCurrencyOf } from "../schema/currencies-used.ts";
import { type ExportFormat, type ExportTable, exportTables } from "./export.ts";

/** The names of an organization's exports: tables of the warehouse, and of the ledger. */
export function exportNames(features: readonly Feature[]): readonly string[] {
  return [...exportTables, ...features.flatMap(exportsOf).map(({ name }) => name)];
}

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

/** The bytes of one of these tables. @throws Refusal for Parquet, and for an unknown table */
export async function* exportWork(
  stores: Stores,
  organization: number,
  table: string,
  format: ExportFormat,
): AsyncGenerator<Uint8Array> {
  if (format === "parquet") throw new Refusal(`${table} are exported as jsonl or csv: choose one of them.`);
  const { ledger, nowMs } = stores;
  const rows = ledger.features.flatMap(exportsOf).find(({ name }) => name === table);
  if (rows === undefined) throw new Refusal(`There is no export of ${table}.`);
  const { columns, amounts = [] } = rows;
  const { timezone } = await ledger.freshness(organization);
  const today = zoneOf(timezone).dayOf(nowMs);
  const encoder = new TextEncoder();
  const currency = amounts.length > 0 && format === "csv" ? await currencyOf(stores, organization) : "";
  const cell = (line: ExportedRow["line"], name: string): ExportedValue => {
    const value = line[name] ?? null;
    if (name === "currency" && amounts.length > 0) return currency;
    return amounts.includes(name) && typeof value === "number" ? amountInUnits(value, currency) : value;
  };
  if (format === "csv") yield encoder.encode(csvLine([...columns]));
  for (let after = 0; ; ) {
    const page = await rows.page(ledger, organization, after, pageRows, today);
    const lines = page.map(({ line }) =>
      format === "csv" ? csvLine(columns.map((name) => cell(line, name))) : `${JSON.stringify(line)}\n`,
    );
    if (lines.length > 0) yield encoder.encode(lines.join(""));
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return;
    after = last.id;
  }
}

async function currencyOf({ ledger, warehouse }: Stores, organization: number): Promise<string> {
  const { settings } = await ledger.settings.get(organization);
  return reportingCurrencyOf(settings.reportingCurrency, await currenciesUsed(warehouse, organization));
}

function csvLine(fields: readonly ExportedValue[]): string {
  return `${fields.map(field).join(",")}\r\n`;
}

function field(value: ExportedValue): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
