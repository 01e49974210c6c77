/** The columns of a file of notes, tasks, contacts or owners: from the options, else from their names. */

import type { WorkType } from "../../contract/notes-and-tasks.ts";
import { Refusal } from "../../contract/refusal.ts";
import { timestampAliases } from "../../contract/timestamp-aliases.ts";
import { listed, plain, refuseMissingColumns } from "../../server/features/imports/reading/mapping.ts";
import type { TimeForm } from "../../server/features/imports/reading/time.ts";

/** The roles of columns that an option can give, and that only such files have. */
export const workRoles = ["author", "text", "title", "due", "done", "assignee", "kind", "owner"] as const;

/** The roles of columns that files of events, users or accounts have, too. */
const commonRoles = ["userId", "accountId", "email", "timestamp", "messageId"] as const;

export type WorkRole = (typeof workRoles)[number] | (typeof commonRoles)[number];

export interface WorkMapping extends TimeForm {
  readonly type: WorkType;
  readonly columns: Partial<Record<WorkRole, string>>;
}

/** Names of columns, without upper case, spaces, _ and -. Rekindle's own exports have some of them. */
const names: Readonly<Record<WorkRole, readonly string[]>> = {
  userId: ["userid", "customerid"],
  accountId: ["accountid", "companyid"],
  email: ["email", "emailaddress", "useremail", "contactemail"],
  timestamp: ["at", "timestamp", "created", ...timestampAliases.map((alias) => alias.toLowerCase())],
  messageId: ["id", "messageid", "externalid"],
  author: ["author", "createdby", "by"],
  text: ["text", "note", "body", "content", "comment", "description"],
  title: ["title", "task", "name", "subject"],
  due: ["due", "duedate", "dueat"],
  done: ["done", "doneat", "completedat", "completed"],
  assignee: ["assignee", "assignedto"],
  kind: ["kind", "type", "channel"],
  owner: ["owner", "owneremail"],
};

const rolesOf: Readonly<Record<WorkType, readonly WorkRole[]>> = {
  notes: [...commonRoles, "author", "text"],
  tasks: [...commonRoles, "author", "title", "due", "done", "assignee"],
  contacts: [...commonRoles, "author", "kind", "text"],
  owners: [...commonRoles, "owner"],
};

/** Without these columns no row of the type can be stored. */
const neededRoles: Readonly<Record<WorkType, readonly WorkRole[]>> = {
  notes: ["timestamp", "text"],
  tasks: ["title"],
  contacts: ["timestamp"],
  owners: ["owner"],
};

const words: Readonly<Record<WorkRole, string>> = {
  userId: "the user's id",
  accountId: "the account's id",
  email: "the user's e-mail address",
  timestamp: "the time",
  messageId: "the row's own id",
  author: "the author",
  text: "the text",
  title: "the title",
  due: "the due day",
  done: "whether or when it was done",
  assignee: "the assignee",
  kind: "the kind of contact",
  owner: "the owner",
};

/**
 * The mapping for a file with these columns. `complete`: there are no others.
 * @throws Refusal saying which option is needed
 */
export function resolveWorkMapping(
  type: WorkType,
  given: Partial<Record<WorkRole, string>>,
  form: TimeForm,
  fileColumns: readonly string[],
  complete: boolean,
): WorkMapping {
  if (complete) refuseMissingColumns(Object.values(given), fileColumns);
  const columns: Partial<Record<WorkRole, string>> = {};
  for (const role of rolesOf[type]) {
    const column = given[role] ?? named(role, fileColumns, Object.values(given));
    if (column !== undefined) columns[role] = column;
  }
  const isNamed = columns.userId ?? columns.accountId ?? columns.email;
  if (isNamed === undefined) {
    throw missing("whom a row is about", "--user-id, --account-id or --email COLUMN", fileColumns);
  }
  const role = neededRoles[type].find((one) => columns[one] === undefined);
  if (role !== undefined) throw missing(words[role], `--${role} COLUMN`, fileColumns);
  return { type, columns, ...form };
}

/** Whether a file of the type can have such a column. */
export function hasRole(type: WorkType, role: string): boolean {
  return rolesOf[type].some((one) => one === role);
}

/** What the columns of a file are taken for, in a sentence. */
export function describeWorkMapping(
  { type, columns, timezone }: WorkMapping,
  fileColumns: readonly string[],
): string {
  const known = rolesOf[type].flatMap((role) => {
    const column = columns[role];
    return column === undefined ? [] : [`${JSON.stringify(column)} is ${words[role]}`];
  });
  const others = fileColumns.filter((column) => !Object.values(columns).includes(column));
  return [
    known.join(", "),
    ...(others.length === 0 ? [] : [`left out are ${listed(others)}`]),
    ...(timezone === undefined ? [] : [`times without an offset are of ${timezone}`]),
  ].join("; ");
}

function missing(what: string, options: string, columns: readonly string[]): Refusal {
  return new Refusal(`no column is known to be ${what} (there are ${listed(columns)}): give ${options}.`);
}

function named(role: WorkRole, columns: readonly string[], taken: readonly string[]): string | undefined {
  for (const name of names[role]) {
    const found = columns.find((column) => plain(column) === name && !taken.includes(column));
    if (found !== undefined) return found;
  }
  return undefined;
}
