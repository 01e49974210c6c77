/** Turns a row into the text of an item of POST /batch. Admission judges it. Here only the mapping is
 * applied: columns get their places, and text becomes numbers and times where the options ask for it. */

import { isJsonObject, type JsonObject } from "../../../../contract/json.ts";
import { identifier } from "../../../intake/admission/admit-event.ts";
import { type Invalid, isInvalid } from "../../../intake/admission/json.ts";
import { type KeptValue, parseKeptBody } from "../../../intake/admission/kept-values.ts";
import type { ImportRow } from "../../../intake/import-rows.ts";
import { fillTemplate, type Mapping, propertyName, type Role } from "./mapping.ts";
import type { ReadRow, Row } from "./row.ts";
import { apiTime } from "./time.ts";

/** The row's item, or why there is none. */
export function itemOf(row: Row, mapping: Mapping): ImportRow {
  if ("unreadable" in row) return { invalid: row.unreadable };
  try {
    const changed: KeptValue[] = [...(row.changed ?? [])];
    const text = JSON.stringify(itemsByType[mapping.type]({ ...row, changed }, mapping));
    return changed.length === 0 ? text : { text, changed };
  } catch (error) {
    if (error instanceof Unusable) return { invalid: error.message };
    throw error;
  }
}

/** A cell that does not fit its column. */
class Unusable extends Error {}

/** Unwraps a result. A property may be called `invalid`, so this is never used on values of a sender. */
function usable<Value>(value: Value | Invalid): Value {
  if (isInvalid(value)) throw new Unusable(value.invalid);
  return value;
}

/** A field that is `undefined` is not sent. */
type Fields = Readonly<Record<string, unknown>>;

/** A row that notes further values that are changed. */
interface ChangingRow extends ReadRow {
  readonly changed: KeptValue[];
}

function track(row: ChangingRow, mapping: Mapping): Fields {
  const timestamp = time(row, mapping);
  if (timestamp === undefined) {
    throw new Unusable("timestamp is missing: an imported event needs the time at which it happened.");
  }
  return {
    type: "track",
    userId: id(row, mapping, "userId"),
    event: mapping.eventName ?? cellOf(row, mapping, "event"),
    timestamp,
    properties: properties(row, mapping),
    messageId: id(row, mapping, "messageId"),
    isActivity: truth(cellOf(row, mapping, "isActivity")),
  };
}

function identify(row: ChangingRow, mapping: Mapping): Fields {
  const { emailTemplate } = mapping;
  const cellIn = (column: string) => row.cells[row.columns.indexOf(column)];
  return {
    type: "identify",
    userId: id(row, mapping, "userId"),
    email: emailTemplate === null ? cellOf(row, mapping, "email") : fillTemplate(emailTemplate, cellIn),
    properties: properties(row, mapping),
    isAccountOwner: truth(cellOf(row, mapping, "isAccountOwner")),
    account: account(row, mapping),
    timestamp: time(row, mapping),
    messageId: id(row, mapping, "messageId"),
  };
}

function ofAccount(row: ChangingRow, mapping: Mapping): Fields {
  const name = cellOf(row, mapping, "accountName");
  const attributes = properties(row, mapping);
  const { contractValue } = attributes;
  return {
    type: "account",
    id: id(row, mapping, "accountId"),
    name: typeof name === "number" ? String(name) : name,
    avatar: cellOf(row, mapping, "accountAvatar"),
    // CSV has only texts, and this attribute is a number.
    properties:
      typeof contractValue === "string"
        ? { ...attributes, contractValue: numberOf(contractValue, "contractValue", row, mapping) }
        : attributes,
    timestamp: time(row, mapping),
    messageId: id(row, mapping, "messageId"),
  };
}

const itemsByType = { events: track, users: identify, accounts: ofAccount };

function cellOf(row: ReadRow, mapping: Mapping, role: Role): unknown {
  const column = mapping.columns[role];
  return column === undefined ? undefined : row.cells[row.columns.indexOf(column)];
}

function id(row: ReadRow, mapping: Mapping, role: Role): unknown {
  return idText(cellOf(row, mapping, role), row, [mapping.columns[role] ?? ""]);
}

/** A number's digits as text: in JSON lines the original ones, as the API reads them. */
function idText(value: unknown, row: ReadRow, path: readonly string[]): unknown {
  if (typeof value !== "number") return value;
  return row.body === undefined ? String(value) : usable(identifier(value, row.body, path));
}

function time(row: ReadRow, mapping: Mapping): string | undefined {
  const cell = cellOf(row, mapping, "timestamp");
  return cell === undefined || cell === null ? undefined : usable(apiTime(cell, mapping));
}

function truth(cell: unknown): unknown {
  if (typeof cell !== "string") return cell;
  const text = cell.toLowerCase();
  if (["true", "yes", "1"].includes(text)) return true;
  return ["false", "no", "0"].includes(text) ? false : cell;
}

function account(row: ChangingRow, mapping: Mapping): unknown {
  const accountId = id(row, mapping, "accountId");
  if (accountId !== undefined && accountId !== null) {
    const name = cellOf(row, mapping, "accountName") ?? accountId;
    return { id: accountId, name, avatar: cellOf(row, mapping, "accountAvatar") };
  }
  const cell = cellOf(row, mapping, "account");
  const sent = object(cell, row, "account");
  if (sent === undefined) {
    // A column of plain names is ids that are their own names.
    return typeof cell === "string" || typeof cell === "number" ? { id: cell, name: String(cell) } : cell;
  }
  return { ...sent, id: idText(sent.id, row, [mapping.columns.account ?? "", "id"]) };
}

function properties(row: ChangingRow, mapping: Mapping): JsonObject {
  const column = mapping.columns.properties;
  const cell = column === undefined ? undefined : row.cells[row.columns.indexOf(column)];
  const given = object(cell, row, "properties");
  if (given === undefined && cell !== undefined && cell !== null) {
    throw new Unusable(`${column} is not a JSON object: send one, or say what are properties by --property.`);
  }
  const entries = Object.entries(given ?? {});
  for (const [index, name] of row.columns.entries()) {
    const value = row.cells[index];
    const property = propertyName(mapping, name);
    if (property === undefined || value === undefined) continue;
    entries.push([property, mapping.numbers.includes(name) ? numberOf(value, name, row, mapping) : value]);
  }
  return Object.fromEntries(entries);
}

function object(cell: unknown, { changed }: ChangingRow, field: string): JsonObject | undefined {
  if (isJsonObject(cell)) return cell;
  if (typeof cell !== "string" || !cell.trimStart().startsWith("{")) return undefined;
  const body = parseKeptBody(Buffer.from(cell));
  if (isInvalid(body)) return undefined;
  changed.push(...body.changed.map((one) => ({ ...one, path: [field, ...one.path] })));
  return body.value;
}

const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
/** 1234,56 or 1.234,56, also with a space or an apostrophe between thousands. */
const withComma = /^[+-]?(\d{1,3}([. '’\u00a0\u202f])\d{3}(\2\d{3})*|\d+)(,\d+)?$/;
const maxExactDigits = 15;

/** A whole number that is too long for an exact one stays text. */
function numberOf(
  value: unknown,
  column: string,
  { changed }: ChangingRow,
  { decimalComma }: Pick<Mapping, "decimalComma">,
): unknown {
  if (typeof value !== "string") return value;
  const sent = value.trim();
  const isWithComma = withComma.test(sent);
  const text = decimalComma && isWithComma ? sent.replace(/[^\d,+-]/g, "").replace(",", ".") : sent;
  if (!(decimalComma ? isWithComma : decimal.test(sent))) {
    const isOther = decimalComma ? decimal.test(sent) : isWithComma;
    const hint = decimalComma
      ? "leave out --decimal-comma."
      : "give --decimal-comma if it has a decimal comma.";
    throw new Unusable(
      `${column} is not a number: ${JSON.stringify(sent.slice(0, 100))}${isOther ? `; ${hint}` : "."}`,
    );
  }
  const [mantissa = ""] = text.split(/[eE]/, 1);
  const digits = mantissa.replace(/\D/g, "").replace(/^0+/, "");
  const number = Number(text);
  if (digits.length <= maxExactDigits && Number.isFinite(number)) return number;
  if (/^-?\d+$/.test(text)) {
    changed.push({ kind: "number_kept_as_text", path: [column], text });
    return text;
  }
  throw new Unusable(`${column} is too long for an exact number, ${text.slice(0, 100)}: leave it text.`);
}
