/**
 * Binds values to a query's `{name:Type}` placeholders. The values are sent as `SET param_name = '…'` before
 * the query, so this file has THE escape function: any text of a user must come back from the engine
 * unchanged, and must never become SQL.
 *
 * A `SET` stays in its session. So a query must have a value for every placeholder, otherwise it would
 * silently read the value of an earlier query, perhaps of another organization. A value without a placeholder
 * throws as well.
 */
import type { Parameter } from "./warehouse.ts";

/**
 * `name = value` assignments for `SET`, one for each placeholder of the query.
 * @throws TypeError when placeholders and parameters are not the same names, or a value cannot be bound
 */
export function parameterAssignments(sql: string, parameters: Record<string, Parameter>): string[] {
  return parameterTexts(sql, parameters).map(([name, text]) => `${name} = ${literal(text)}`);
}

/**
 * The settings `param_name` and their texts, one for each placeholder of the query.
 * @throws TypeError when placeholders and parameters are not the same names, or a value cannot be bound
 */
function parameterTexts(sql: string, parameters: Record<string, Parameter>): [string, string][] {
  const placeholders = new Set(Array.from(sql.matchAll(placeholder), ([, name]) => name ?? ""));
  for (const name of placeholders) {
    if (!Object.hasOwn(parameters, name)) throw new TypeError(`The query's parameter ${name} has no value`);
  }
  return Object.entries(parameters).map(([name, value]) => {
    if (!placeholders.has(name)) throw new TypeError(`The query has no parameter ${name}`);
    return [`param_${name}`, parameterText(value)];
  });
}

/** A server of ClickHouse refuses a field of more than 128 KiB (http_max_field_value_size), and reads it
 * before any setting of the request. */
const maxFieldBytes = 64 * 1024;
/** Of at most four bytes, and of twice as many when they are escaped. */
const maxFieldCharacters = maxFieldBytes / 8;

/**
 * The query and its parameters as the fields of a form. A string or an array that is too long for one field
 * is divided among several, and the query joins them. @throws TypeError as parameterTexts
 */
export function queryAsFields(
  sql: string,
  parameters: Record<string, Parameter> = {},
): { readonly sql: string; readonly parameters: [string, string][] } {
  const texts = parameterTexts(sql, parameters);
  const long = texts.filter(([, text]) => Buffer.byteLength(text) > maxFieldBytes);
  if (long.length === 0) return { sql, parameters: texts };
  const divided: Record<string, Parameter> = { ...parameters };
  let query = sql;
  for (const [field] of long) {
    const name = field.slice("param_".length);
    const value = parameters[name];
    if (typeof value !== "string" && !isArray(value)) continue;
    const parts = typeof value === "string" ? partsOfText(value) : partsOfArray(value);
    delete divided[name];
    for (const [index, part] of parts.entries()) divided[`${name}_part${index}`] = part;
    const join = typeof value === "string" ? "concat" : "arrayConcat";
    query = query.replaceAll(placeholder, (whole, found: string, type: string) =>
      found === name
        ? `${join}(${parts.map((_, index) => `{${name}_part${index}:${type}}`).join(", ")})`
        : whole,
    );
  }
  return { sql: query, parameters: parameterTexts(query, divided) };
}

function partsOfText(text: string): string[] {
  // By code points: half a surrogate pair cannot be bound.
  const characters = Array.from(text);
  return Array.from({ length: Math.ceil(characters.length / maxFieldCharacters) }, (_, index) =>
    characters.slice(index * maxFieldCharacters, (index + 1) * maxFieldCharacters).join(""),
  );
}

/** An element stays whole: none that is bound is as long as a field. */
function partsOfArray(values: readonly Parameter[]): Parameter[][] {
  const parts: Parameter[][] = [[]];
  let bytes = 0;
  for (const value of values) {
    const size = Buffer.byteLength(arrayText([value]));
    if (bytes > 0 && bytes + size > maxFieldBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(value);
    bytes += size;
  }
  return parts;
}

const placeholder = /\{([A-Za-z_][A-Za-z0-9_]*)\s*:([^{}]*)\}/g;

/** The text from which the engine reads a parameter: tab-separated for a scalar, a literal for an array. */
function parameterText(value: Parameter): string {
  if (typeof value === "string") return escapeTabSeparated(value);
  return isArray(value) ? arrayText(value) : numberOrBoolean(value);
}

// Inside an array the engine reads literals and undoes no tab-separated escapes around them.
function arrayText(values: readonly Parameter[]): string {
  const elements = values.map((value) => {
    if (typeof value === "string") return `'${escapeTabSeparated(value).replaceAll("'", "\\'")}'`;
    return isArray(value) ? arrayText(value) : numberOrBoolean(value);
  });
  return `[${elements.join(",")}]`;
}

function numberOrBoolean(value: number | bigint | boolean): string {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new TypeError(`${value} cannot be bound to a query`);
  }
  return String(value);
}

// Array.isArray does not narrow a readonly array.
function isArray(value: Parameter | undefined): value is readonly Parameter[] {
  return Array.isArray(value);
}

/** A string literal of SQL. */
function literal(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

/** Escapes characters that end or change a value in ClickHouse's tab-separated format. */
function escapeTabSeparated(text: string): string {
  if (!text.isWellFormed())
    throw new TypeError("A string with half a surrogate pair cannot be bound to a query");
  return text.replace(special, (character) => escapes[character] ?? character);
}

const special = /[\\\0\b\f\n\r\t]/g;

const escapes: Record<string, string> = {
  "\\": "\\\\",
  "\0": "\\0",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};
