/** The role of each column of a file: from the options, otherwise from the columns' names. */

import { Refusal } from "../../contract/refusal.ts";
import { timestampAliases } from "../../contract/timestamp-aliases.ts";
import type { TimestampFormat } from "./time.ts";

export const importTypes = ["events", "users", "accounts"] as const;
export type ImportType = (typeof importTypes)[number];

/** The roles of a column that an option can give to it. */
export const columnRoles = [
  "userId",
  "event",
  "timestamp",
  "messageId",
  "isActivity",
  "email",
  "isAccountOwner",
  "account",
  "accountId",
  "accountName",
  "accountAvatar",
] as const;

/** The roles of a column; every other column is a property, or a trait. */
export type Role = (typeof columnRoles)[number] | "properties";

export interface Mapping {
  readonly type: ImportType;
  readonly columns: Partial<Record<Role, string>>;
  /** The name of every event, instead of a column. */
  readonly eventName: string | null;
  /** E-mail addresses, with columns in braces. */
  readonly emailTemplate: string | null;
  readonly timestampFormat: TimestampFormat;
  /** Columns that are properties, and their names there; null: all that are nothing else. */
  readonly properties: Readonly<Record<string, string>> | null;
  /** Columns whose text is a number. */
  readonly numbers: readonly string[];
}

/** The options about columns. */
export interface MappingOptions {
  readonly type?: ImportType;
  readonly columns: Partial<Record<Role, string>>;
  readonly eventName?: string;
  readonly emailTemplate?: string;
  readonly timestampFormat: TimestampFormat;
  readonly properties?: Readonly<Record<string, string>>;
  readonly numbers: readonly string[];
}

// Compared without upper case, spaces, _ and -.
const names: Readonly<Record<Role, readonly string[]>> = {
  userId: ["userid", "customerid", "distinctid", "user", "customer"],
  event: ["event", "eventname"],
  timestamp: ["timestamp", "unixtime", ...timestampAliases.map((alias) => alias.toLowerCase())],
  messageId: ["messageid"],
  isActivity: ["isactivity"],
  email: ["email", "emailaddress"],
  isAccountOwner: ["isaccountowner"],
  accountId: ["accountid"],
  accountName: ["accountname"],
  accountAvatar: ["accountavatar"],
  account: ["account"],
  properties: ["properties"],
};

const rolesOf: Readonly<Record<ImportType, readonly Role[]>> = {
  events: ["userId", "event", "timestamp", "messageId", "isActivity", "properties"],
  users: [
    ...(["userId", "email", "timestamp", "messageId", "properties", "isAccountOwner"] as const),
    ...(["account", "accountId", "accountName", "accountAvatar"] as const),
  ],
  accounts: ["accountId", "accountName", "accountAvatar", "timestamp", "messageId", "properties"],
};

/** Names of columns that mean something only in a file of accounts. Our own export has them. */
const namesInAccounts: Partial<Record<Role, readonly string[]>> = {
  accountId: ["accountid", "id", "account"],
  accountName: ["accountname", "name"],
  accountAvatar: ["accountavatar", "avatar"],
};

/** Our own export has it, and an import cannot set it. */
const neverSent = "receivedAt";

/** The name of the property that a column becomes; undefined when it is no property. */
export function propertyName(mapping: Mapping, column: string): string | undefined {
  if (mapping.properties !== null) {
    return Object.hasOwn(mapping.properties, column) ? mapping.properties[column] : undefined;
  }
  return column === neverSent || Object.values(mapping.columns).includes(column) ? undefined : column;
}

/**
 * The mapping for a file with these columns. `complete`: there are no others.
 * @throws Refusal saying which option is needed
 */
export function resolveMapping(
  options: MappingOptions,
  fileColumns: readonly string[],
  complete: boolean,
): Mapping {
  const type = options.type ?? guessType(options, fileColumns);
  const columns: Partial<Record<Role, string>> = {};
  for (const role of rolesOf[type]) {
    const constant =
      role === "event" ? options.eventName : role === "email" ? options.emailTemplate : undefined;
    const column =
      options.columns[role] ?? (constant === undefined ? named(role, type, fileColumns) : undefined);
    if (column !== undefined) columns[role] = column;
  }
  const mapping: Mapping = {
    type,
    columns,
    eventName: type === "events" ? (options.eventName ?? null) : null,
    emailTemplate: type === "users" ? (options.emailTemplate ?? null) : null,
    timestampFormat: options.timestampFormat,
    properties: options.properties ?? null,
    numbers: options.numbers,
  };
  refuseMissing(mapping, fileColumns);
  refuseOfOtherType(options, type);
  refuseUnknown(mapping, options, fileColumns, complete);
  return mapping;
}

/** Common delimiters besides the comma, by their name in --delimiter. */
const otherDelimiters = { ";": "semicolon", "\t": "tab", "|": "pipe" };

function guessType(options: MappingOptions, columns: readonly string[]): ImportType {
  const has = (role: Role, option: string | undefined) =>
    option !== undefined ||
    options.columns[role] !== undefined ||
    named(role, "events", columns) !== undefined;
  const events = has("event", options.eventName);
  const users = has("email", options.emailTemplate);
  if (events !== users) return events ? "events" : "users";
  const isOfAccounts =
    !events &&
    named("accountId", "users", columns) !== undefined &&
    named("userId", "users", columns) === undefined;
  if (isOfAccounts) return "accounts";
  refuseOneColumn(columns);
  throw new Refusal(
    `the columns do not say what the file holds (${listed(columns)}): give --type events, --type users or --type accounts.`,
  );
}

/** @throws Refusal when all columns were read as one */
function refuseOneColumn([only = "", ...others]: readonly string[]): void {
  const delimiter = Object.entries(otherDelimiters).find(([character]) => only.includes(character))?.[1];
  if (others.length > 0 || delimiter === undefined) return;
  throw new Refusal(`there is but one column, ${JSON.stringify(only)}: give --delimiter ${delimiter}.`);
}

function named(role: Role, type: ImportType, columns: readonly string[]): string | undefined {
  // When a user was created is not when their traits were sent.
  const wanted =
    role === "timestamp" && type !== "events"
      ? ["timestamp", "updatedat"]
      : ((type === "accounts" ? namesInAccounts[role] : undefined) ?? names[role]);
  const plain = columns.map((column) => column.toLowerCase().replace(/[\s_-]/g, ""));
  for (const name of wanted) {
    const at = plain.indexOf(name);
    if (at !== -1) return columns[at];
  }
  return undefined;
}

function refuseMissing({ type, columns, eventName, emailTemplate }: Mapping, all: readonly string[]): void {
  const missing = (what: string, options: string) => {
    refuseOneColumn(all);
    return new Refusal(`no column is known to be ${what} (there are ${listed(all)}): give ${options}.`);
  };
  if (type === "accounts") {
    if (columns.accountId === undefined) throw missing("the account's id", "--account-id COLUMN");
    return;
  }
  if (columns.userId === undefined) throw missing("the user's id", "--user-id COLUMN");
  if (type === "users" && columns.email === undefined && emailTemplate === null) {
    throw missing("the e-mail address", "--email COLUMN, or --email-template TEXT with a {COLUMN} in it");
  }
  if (type === "events" && columns.event === undefined && eventName === null) {
    throw missing("the event's name", "--event COLUMN, or --event-name NAME for all");
  }
  if (type === "events" && columns.timestamp === undefined) {
    throw missing("the event's time", "--timestamp COLUMN");
  }
}

function refuseOfOtherType(options: MappingOptions, type: ImportType): void {
  const known: readonly string[] = rolesOf[type];
  const wrong =
    Object.keys(options.columns).find((role) => !known.includes(role)) ??
    (type !== "events" && options.eventName !== undefined ? "eventName" : undefined) ??
    (type !== "users" && options.emailTemplate !== undefined ? "emailTemplate" : undefined);
  if (wrong === undefined) return;
  const option = wrong.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new Refusal(`--${option} means nothing for ${type}: leave it out, or give another --type.`);
}

function refuseUnknown(
  mapping: Mapping,
  options: MappingOptions,
  fileColumns: readonly string[],
  complete: boolean,
): void {
  const optional = [...Object.keys(options.properties ?? {}), ...options.numbers];
  const templated = Array.from((mapping.emailTemplate ?? "").matchAll(inBraces), ([, column = ""]) => column);
  // JSON lines may first bring a property further down.
  const used = [...Object.values(options.columns), ...templated, ...(complete ? optional : [])];
  refuseMissingColumns(used, fileColumns);
}

/** @throws Refusal when one of the columns is not in the file, naming those that are */
export function refuseMissingColumns(used: readonly string[], fileColumns: readonly string[]): void {
  const unknown = used.find((column) => !fileColumns.includes(column));
  if (unknown !== undefined) {
    throw new Refusal(`there is no column ${JSON.stringify(unknown)}; there are ${listed(fileColumns)}.`);
  }
}

const inBraces = /\{([^{}]+)\}/g;

/** A template with its columns' values in their places; undefined when one of them is not sent. */
export function fillTemplate(template: string, cellIn: (column: string) => unknown): string | undefined {
  let complete = true;
  const text = template.replace(inBraces, (_, column: string) => {
    const value = cellIn(column);
    if (typeof value !== "string" && typeof value !== "number") complete = false;
    return String(value);
  });
  return complete ? text : undefined;
}

const maxListed = 30;

function listed(columns: readonly string[]): string {
  if (columns.length === 0) return "none";
  const more = columns.length > maxListed ? `, and ${columns.length - maxListed} more` : "";
  return (
    columns
      .slice(0, maxListed)
      .map((column) => JSON.stringify(column))
      .join(", ") + more
  );
}
