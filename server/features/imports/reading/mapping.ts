/** The role of each column of a file: from the options, otherwise from the columns' names. */

import { Refusal } from "../../../../contract/refusal.ts";
import { timestampAliases } from "../../../../contract/timestamp-aliases.ts";
import type { TimeForm } from "./time.ts";

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

export interface Mapping extends TimeForm {
  readonly type: ImportType;
  readonly columns: Partial<Record<Role, string>>;
  /** The name of every event, instead of a column. */
  readonly eventName: string | null;
  /** E-mail addresses, with columns in braces. */
  readonly emailTemplate: string | null;
  /** Columns that are properties, and their names there; null: all that are nothing else. */
  readonly properties: Readonly<Record<string, string>> | null;
  /** Columns whose text is a number. */
  readonly numbers: readonly string[];
  /** Numbers are written as 1.234,56. */
  readonly decimalComma?: true;
  /** The column that becomes the trait `name`, if it has another name. */
  readonly nameColumn?: string;
}

/** The options about columns. */
export interface MappingOptions extends TimeForm {
  readonly type?: ImportType;
  readonly columns: Partial<Record<Role, string>>;
  readonly eventName?: string;
  readonly emailTemplate?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly numbers: readonly string[];
  readonly decimalComma?: true;
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
  accountId: ["accountid", "companyid"],
  accountName: ["accountname", "companyname", "company"],
  accountAvatar: ["accountavatar"],
  account: ["account", "company", "accountname", "companyname"],
  properties: ["properties"],
};

/** The roles that a column of each type can have, in the order of a mapping. */
export const rolesOf: Readonly<Record<ImportType, readonly Role[]>> = {
  events: ["userId", "event", "timestamp", "messageId", "isActivity", "properties"],
  users: [
    "userId",
    "email",
    "timestamp",
    "messageId",
    "properties",
    "isAccountOwner",
    "accountId",
    "accountName",
    "account",
    "accountAvatar",
  ] as const,
  accounts: ["accountId", "accountName", "accountAvatar", "timestamp", "messageId", "properties"],
};

/** Names of columns that mean something else, or more, in a file of users or accounts. When a user was
 * created is not when their traits were sent. Our own export of accounts has id, name and avatar. */
const namesByType: Readonly<Record<ImportType, Partial<Record<Role, readonly string[]>>>> = {
  events: {},
  users: { userId: [...names.userId, "id"], timestamp: ["timestamp", "updatedat"] },
  accounts: {
    accountId: ["accountid", "companyid", "id", "account", "company"],
    accountName: ["accountname", "companyname", "name", "company"],
    accountAvatar: ["accountavatar", "avatar"],
    timestamp: ["timestamp", "updatedat"],
  },
};

/** Our own export has it, and an import cannot set it. */
const neverSent = "receivedAt";

/** The name of the property that a column becomes; undefined when it is no property. */
export function propertyName(mapping: Mapping, column: string): string | undefined {
  if (mapping.properties !== null) {
    return Object.hasOwn(mapping.properties, column) ? mapping.properties[column] : undefined;
  }
  if (column === neverSent || Object.values(mapping.columns).includes(column)) return undefined;
  return column === mapping.nameColumn ? "name" : column;
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
  // In JSON a company may be an object of traits.
  const unnamed = fileColumns.filter((column) => complete || plain(column) !== "company");
  for (const role of rolesOf[type]) {
    const isSaid = options.columns[role] !== undefined || isSaidOtherwise(role, type, columns, options);
    const byName = isSaid ? undefined : named(role, type, unnamed);
    if (byName !== undefined) unnamed.splice(unnamed.indexOf(byName), 1);
    const column = options.columns[role] ?? byName;
    if (column !== undefined) columns[role] = column;
  }
  const { timestampFormat, timezone, decimalComma } = options;
  const mapping: Mapping = {
    type,
    columns,
    eventName: type === "events" ? (options.eventName ?? null) : null,
    emailTemplate: type === "users" ? (options.emailTemplate ?? null) : null,
    timestampFormat,
    properties: options.properties ?? null,
    numbers: options.numbers,
    ...(timezone !== undefined && { timezone }),
    ...(decimalComma && { decimalComma }),
    ...(type === "users" && nameColumnIn(fileColumns)),
  };
  refuseMissing(mapping, fileColumns);
  refuseOfOtherType(options, type);
  refuseUnknown(mapping, options, fileColumns, complete);
  return mapping;
}

/** Whether a role needs no column: one text is the event or the address of all rows. `company` is an
 * account's name beside its id, and otherwise the account. */
function isSaidOtherwise(
  role: Role,
  type: ImportType,
  columns: Mapping["columns"],
  { eventName, emailTemplate }: MappingOptions,
): boolean {
  if (role === "event") return eventName !== undefined;
  if (role === "email") return emailTemplate !== undefined;
  if (type !== "users") return false;
  return (
    (role === "accountName" && columns.accountId === undefined) ||
    (role === "account" && columns.accountId !== undefined)
  );
}

/** The column of names, if it is written otherwise: `full name`, or `Name`. */
function nameColumnIn(columns: readonly string[]): Pick<Mapping, "nameColumn"> {
  if (columns.includes("name")) return {};
  const nameColumn = ["name", "fullname"].flatMap(
    (name) => columns.find((one) => plain(one) === name) ?? [],
  )[0];
  return nameColumn === undefined ? {} : { nameColumn };
}

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
  throw new Refusal(
    `the columns do not say what the file holds (${listed(columns)}): give --type events, --type users or --type accounts.`,
  );
}

/** The column whose name says that it has the role. */
export function named(role: Role, type: ImportType, columns: readonly string[]): string | undefined {
  const wanted = namesByType[type][role] ?? names[role];
  const plainNames = columns.map(plain);
  for (const name of wanted) {
    const at = plainNames.indexOf(name);
    if (at !== -1) return columns[at];
  }
  return undefined;
}

/** A column's name without what differs between spellings. */
export function plain(column: string): string {
  return column.toLowerCase().replace(/[\s_-]/g, "");
}

function refuseMissing({ type, columns, eventName, emailTemplate }: Mapping, all: readonly string[]): void {
  const missing = (what: string, options: string) =>
    new Refusal(`no column is known to be ${what} (there are ${listed(all)}): give ${options}.`);
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

const roleNames: Readonly<Record<Role, string>> = {
  userId: "the user's id",
  event: "the event's name",
  timestamp: "the time",
  messageId: "the message id",
  isActivity: "whether it is activity",
  email: "the e-mail address",
  isAccountOwner: "whether the user owns the account",
  account: "the account",
  accountId: "the account's id",
  accountName: "the account's name",
  accountAvatar: "the account's picture",
  properties: "an object of all properties",
};

const otherColumns = { events: "properties", users: "traits", accounts: "attributes" };

/** What the columns of a file are taken for, in a sentence. */
export function describeMapping(mapping: Mapping, fileColumns: readonly string[]): string {
  const roles = rolesOf[mapping.type].flatMap((role) => {
    const column = mapping.columns[role];
    return column === undefined ? [] : [`${JSON.stringify(column)} is ${roleNames[role]}`];
  });
  const others = fileColumns.filter((column) => propertyName(mapping, column) !== undefined);
  const { nameColumn, timestampFormat, timezone } = mapping;
  const more = [
    ...(others.length === 0 ? [] : [`${otherColumns[mapping.type]} are ${listed(others)}`]),
    ...(nameColumn === undefined ? [] : [`${JSON.stringify(nameColumn)} becomes the name`]),
    ...(timestampFormat === "dmy" ? ["dates have their day first"] : []),
    ...(timestampFormat === "mdy" ? ["dates have their month first"] : []),
    ...(timezone === undefined ? [] : [`times without an offset are of ${timezone}`]),
  ];
  return [roles.join(", "), ...more].join("; ");
}

const maxListed = 30;

/** Names of columns for an error, the first of them. */
export function listed(columns: readonly string[]): string {
  if (columns.length === 0) return "none";
  const more = columns.length > maxListed ? `, and ${columns.length - maxListed} more` : "";
  return (
    columns
      .slice(0, maxListed)
      .map((column) => JSON.stringify(column))
      .join(", ") + more
  );
}
