/** Money of tables as a CSV has it: JSON has 222500 cents, a CSV 2225.00 beside its `currency`. */
import { isMoney } from "../../../contract/api/schema.ts";
import { amountInUnits } from "../../../contract/billing/currencies.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../../contract/json.ts";

/** The column that amounts of a table have beside them. */
export const currencyColumn = "currency";

/** The columns of a table that are amounts, or have amounts in them, such as `unratedMrr`. @param items the
 * schema of a row */
export function moneyColumns(items: unknown): ReadonlySet<string> {
  const fields = Object.entries(propertiesIn(items));
  return new Set(fields.filter(([, schema]) => hasMoney(schema)).map(([name]) => name));
}

/** A row with its amounts in units, and with the currency of those that have no other.
 * @param items the schema of the row
 * @param currency of amounts in an object without a `currency` of its own */
export function rowInUnits(row: JsonObject, items: unknown, currency: string): JsonObject {
  return { [currencyColumn]: currency, ...objectInUnits(row, items, currency) };
}

function objectInUnits(row: JsonObject, schema: unknown, currency: string): JsonObject {
  const fields = propertiesIn(schema);
  const own = currencyColumn in fields ? row[currencyColumn] : currency;
  const code = typeof own === "string" ? own : "";
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, valueInUnits(value, fields[name], code)]),
  );
}

function valueInUnits(value: unknown, schema: unknown, currency: string): unknown {
  if (typeof value === "number") return isMoney(schema) ? amountInUnits(value, currency) : value;
  if (!hasMoney(schema)) return value;
  if (Array.isArray(value))
    return value.map((one) => objectInUnits(objectOf(one), itemsOf(schema), currency));
  return isJsonObject(value) ? objectInUnits(value, schema, currency) : value;
}

function hasMoney(schema: unknown): boolean {
  if (isMoney(schema)) return true;
  const inside = [itemsOf(schema), ...Object.values(propertiesIn(schema))];
  return inside.some((one) => one !== undefined && hasMoney(one));
}

function itemsOf(schema: unknown): unknown {
  return branchWith(schema, "items")?.items;
}

function propertiesIn(schema: unknown): JsonObject {
  return objectOf(branchWith(schema, "properties")?.properties);
}

/** The schema, or that of its alternatives, which has a keyword: of `T | null` the one of T. */
function branchWith(schema: unknown, keyword: string): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (keyword in schema) return schema;
  return Array.isArray(schema.anyOf)
    ? schema.anyOf.find((one) => isJsonObject(one) && keyword in one)
    : undefined;
}
