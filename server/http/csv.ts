/** Tables as CSV (RFC 4180): lines end with CR LF, null is an empty field, objects are their JSON. */
import type { JsonObject } from "../ledger/ledger.ts";

/** A header and a line for each row, with these columns. */
export function csv(columns: readonly string[], rows: readonly JsonObject[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => text(row[column])))];
  return lines.map((fields) => `${fields.map(quoted).join(",")}\r\n`).join("");
}

function text(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
