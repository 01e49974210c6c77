/** Prints answers of the JSON API for people: a table, and names with values. */
import type { TSchema } from "typebox";
import { FreshnessAnswer } from "../../contract/api/api.ts";
import { isMoney } from "../../contract/api/schema.ts";
import { amountInUnits } from "../../contract/billing/currencies.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../contract/json.ts";
import { oneLine, printTable } from "../print.ts";

/** Prints an answer: the rows that it is about, then all other values, then other rows.
 * @param schema of the answer, which says what amounts of money are
 * @param table the array that it is about; without it, the first of an answer that is no thing with an id */
export function printAnswer(answer: unknown, schema: TSchema | undefined, table: string | undefined): void {
  const { freshness, ...others } = objectOf(answer);
  const isFreshnessAlone = Object.keys(others).length === 0;
  const record = isFreshnessAlone ? objectOf(freshness) : others;
  const fields = objectOf(objectOf(isFreshnessAlone ? FreshnessAnswer : schema).properties);
  const lists = Object.keys(fields).filter((name) => rowFields(fields[name]) !== undefined);
  const main = table ?? ("id" in fields ? undefined : lists[0]);
  const currency = [record.currency, record.reportingCurrency].find((one) => typeof one === "string");
  const printRows = (name: string) =>
    printColumns(rowsIn(record[name]), objectOf(rowFields(fields[name])), String(currency ?? ""));
  if (main !== undefined) printRows(main);
  const values = Object.entries(record)
    .filter(([name]) => !lists.includes(name))
    .flatMap(([name, value]) => valuesOf(name, value, fields[name], String(currency ?? "")));
  if (values.length > 0) printTable(["FIELD", "VALUE"], values);
  for (const name of lists) if (name !== main && rowsIn(record[name]).length > 0) printRows(name);
}

function rowsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The fields of a list's rows; undefined for another value. */
function rowFields(schema: unknown): unknown {
  return objectOf(objectOf(schema).items).properties;
}

/** Columns without a value in any row are left out. */
function printColumns(rows: readonly JsonObject[], fields: JsonObject, currency: string): void {
  const cells = rows.map((row) => {
    const own = typeof row.currency === "string" ? row.currency : currency;
    return Object.keys(fields).map((name) => cellOf(row[name], fields[name], own));
  });
  const isFilled = (column: number) => cells.length === 0 || cells.some((row) => row[column] !== noValue);
  printTable(
    Object.keys(fields)
      .map(titleOf)
      .filter((_, column) => isFilled(column)),
    cells.map((row) => row.filter((_, column) => isFilled(column))),
  );
}

/** `lastSeenAt` as `LAST SEEN AT`. */
function titleOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter}`).toUpperCase();
}

/** A value of a record with its name, and those of an object with their paths: `alerts.fired`. */
function valuesOf(name: string, value: unknown, schema: unknown, currency: string): [string, string][] {
  if (!isJsonObject(value) || nameOf(value) !== undefined) {
    return [[oneLine(name), cellOf(value, schema, currency)]];
  }
  const fields = objectOf(objectOf(schema).properties);
  return Object.entries(value).flatMap(([inner, one]) =>
    valuesOf(`${name}.${inner}`, one, fields[inner], currency),
  );
}

const noValue = "-";
const digits = new Intl.NumberFormat("en-US", { useGrouping: false, maximumSignificantDigits: 4 });

/** A value as one cell. A thing with a name is shown by it. */
function cellOf(value: unknown, schema: unknown, currency: string): string {
  if (value === null || value === undefined || value === "") return noValue;
  if (typeof value === "number") {
    if (isMoney(schema)) return `${amountInUnits(value, currency)} ${currency}`.trim();
    return Number.isInteger(value) ? String(value) : digits.format(value);
  }
  if (Array.isArray(value)) {
    return oneLine(value.map((one) => cellOf(one, undefined, currency)).join(", ")) || noValue;
  }
  return oneLine(isJsonObject(value) ? (nameOf(value) ?? JSON.stringify(value)) : String(value));
}

/** How a thing is told: by its name, or as `user ada`. Undefined for an object that is no thing. */
function nameOf({ name, kind, id }: JsonObject): string | undefined {
  if (typeof name === "string") return name;
  return typeof kind === "string" && typeof id === "string" ? `${kind} ${id}` : undefined;
}
