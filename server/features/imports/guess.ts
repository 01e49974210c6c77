/** What the columns of a file seem to be, each with the reason: by their names, else by their values.
 * Pure. */
import type { FileDetail, importKinds, importRoles } from "../../../contract/api/imports.ts";
import { isJsonObject } from "../../../contract/json.ts";
import { isInvalid } from "../../intake/admission/json.ts";
import type { ExportTool } from "../../sources/exports/exports.ts";
import { named, plain, type Role, rolesOf } from "./reading/mapping.ts";
import type { ReadRow } from "./reading/row.ts";
import { apiTime, dayOrderIn } from "./reading/time.ts";

type Kind = (typeof importKinds)[number];
type SentRole = (typeof importRoles)[number];
type Preview = NonNullable<FileDetail["preview"]>;
export type GuessedColumn = Preview["columns"][number];
export type Guess = Pick<Preview, "columns" | "from" | "fromReason" | "kind" | "kindReason">;

interface Seen {
  readonly name: string;
  /** Of the first rows, without empty ones. */
  readonly values: readonly unknown[];
  readonly emails: number;
  readonly times: GuessedColumn["times"];
  readonly numbers: number;
  readonly different: number;
}

/** Of the values, so many have to agree. */
const mostOf = 0.6;

const emailForm = /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>.]+$/;
/** Without zeros in front: an article 0815 is a name. */
const numberForm = /^[+-]?(0|[1-9]\d*)(\.\d+)?$/;

/** The guess. @param isText cells are text, as in CSV: a number there has to be read as one */
export function guess(columns: readonly string[], rows: readonly ReadRow[], isText: boolean): Guess {
  const seen = columns.map((name) => seenOf(name, rows));
  const tool = toolOf(new Set(columns), rows);
  const kind = kindOf(seen);
  const roles = kind === undefined ? new Map<string, Found>() : rolesIn(kind.is, seen);
  const others = { events: "a property", users: "a trait", accounts: "an attribute" };
  return {
    columns: seen.map((column) => {
      const { name, times } = column;
      const found = roles.get(name);
      if (found !== undefined) return { name, role: found.role, reason: found.reason, times };
      const rest = kind === undefined ? "a property" : others[kind.is];
      if (isText && column.values.length > 0 && column.numbers === column.values.length) {
        return { name, role: "number", reason: `Nothing else, and all values are numbers: ${rest}.`, times };
      }
      return { name, role: "property", reason: `Nothing else: ${rest}.`, times };
    }),
    from: tool?.is ?? null,
    fromReason: tool?.reason ?? null,
    kind: kind?.is ?? null,
    kindReason: kind?.reason ?? null,
  };
}

function seenOf(name: string, rows: readonly ReadRow[]): Seen {
  const values = rows
    .map((row) => row.cells[row.columns.indexOf(name)])
    .filter((value) => value !== undefined && value !== null && value !== "");
  const texts = values.map(String);
  return {
    name,
    values,
    emails: texts.filter((text) => emailForm.test(text.trim())).length,
    times: timesOf(values),
    numbers: texts.filter((text) => numberForm.test(text.trim()) && text.trim().length <= 15).length,
    different: new Set(texts).size,
  };
}

/** Plain numbers may be anything, so a column of them is known to be times by its name alone. */
function timesOf(values: readonly unknown[]): GuessedColumn["times"] {
  if (values.length === 0) return null;
  if (values.filter((value) => dayOrderIn(value) !== undefined).length >= values.length * mostOf) {
    return "dayOrMonth";
  }
  const inZone = values.map((value) => apiTime(value, { timestampFormat: "auto", timezone: "UTC" }));
  const isTime = (time: (typeof inZone)[number]) =>
    !isInvalid(time) && /^\d{4}-\d{2}-\d{2}/.test(time) && !Number.isNaN(Date.parse(time));
  if (inZone.filter(isTime).length < values.length * mostOf) return null;
  const isZoneless = values.some((value) => isInvalid(apiTime(value, { timestampFormat: "auto" })));
  return isZoneless ? "zoneless" : "clear";
}

interface Found {
  readonly role: SentRole;
  readonly reason: string;
}

interface Guessed<Is> {
  readonly is: Is;
  readonly reason: string;
}

const quoted = (name: string) => `“${name}”`;

function kindOf(seen: readonly Seen[]): Guessed<Kind> | undefined {
  const columns = seen.map(({ name }) => name);
  const event = named("event", "events", columns);
  if (event !== undefined) return { is: "events", reason: `${quoted(event)} is the name of an event.` };
  const email = named("email", "users", columns) ?? byValues(seen, (one) => one.emails)?.name;
  if (email !== undefined) return { is: "users", reason: `${quoted(email)} has e-mail addresses.` };
  const account = named("accountId", "accounts", columns);
  if (account !== undefined && named("userId", "events", columns) === undefined) {
    return { is: "accounts", reason: `${quoted(account)} is an account's id, and no column names a user.` };
  }
  const time = named("timestamp", "events", columns);
  if (time !== undefined && named("userId", "events", columns) !== undefined) {
    return { is: "events", reason: `It has users and times (${quoted(time)}).` };
  }
  return undefined;
}

function byValues(seen: readonly Seen[], countOf: (one: Seen) => number): Seen | undefined {
  return seen.find((one) => one.values.length > 0 && countOf(one) >= one.values.length * mostOf);
}

function rolesIn(kind: Kind, seen: readonly Seen[]): Map<string, Found> {
  const found = new Map<string, Found>();
  const has = (role: Role) => [...found.values()].some((one) => one.role === role);
  const free = () => seen.filter(({ name }) => !found.has(name));
  for (const role of rolesOf[kind]) {
    if (!isSent(role) || (role === "account" && has("accountId"))) continue;
    if (role === "accountName" && kind === "users" && !has("accountId")) continue;
    const column = named(
      role,
      kind,
      free().map(({ name }) => name),
    );
    if (column !== undefined) found.set(column, { role, reason: `By its name.` });
  }
  if (kind === "users" && !has("email")) {
    const one = byValues(free(), ({ emails }) => emails);
    if (one !== undefined) {
      const reason = `${one.emails} of ${one.values.length} values are e-mail addresses.`;
      found.set(one.name, { role: "email", reason });
    }
  }
  if (kind === "events" && !has("timestamp")) {
    const one = free().find(({ times }) => times !== null);
    if (one !== undefined) {
      found.set(one.name, { role: "timestamp", reason: `Its values are times.` });
    }
  }
  if (kind !== "accounts" && !has("userId")) {
    const email = seen.find(({ name }) => found.get(name)?.role === "email");
    const one = free().find(
      (column) => /(^|[^a-z])(id|uid|uuid|key)$/i.test(column.name) && isIds(column, kind),
    );
    if (one !== undefined) {
      found.set(one.name, { role: "userId", reason: `Its name ends like an id's, and no value is missing.` });
    } else if (email === undefined) {
      const mails = byValues(free(), ({ emails }) => emails);
      if (mails !== undefined) {
        const reason = `${mails.emails} of ${mails.values.length} values are e-mail addresses, and nothing else names a user.`;
        found.set(mails.name, { role: "userId", reason });
      }
    }
  }
  return found;
}

/** Users are one a row; events repeat theirs. */
function isIds({ values, different }: Seen, kind: Kind): boolean {
  return values.length > 0 && (kind === "events" || different === values.length);
}

function isSent(role: Role): role is Role & SentRole {
  return role !== "isActivity" && role !== "accountAvatar";
}

/** The tool whose export has such columns, or such objects. */
function toolOf(columns: ReadonlySet<string>, rows: readonly ReadRow[]): Guessed<ExportTool> | undefined {
  const has = (...names: readonly string[]) => names.every((name) => columns.has(name));
  const because = (is: ExportTool, ...names: readonly string[]): Guessed<ExportTool> => ({
    is,
    reason: `It has ${names.map(quoted).join(" and ")}, as exports of this tool have.`,
  });
  if (has("event_type", "event_time")) return because("amplitude", "event_type", "event_time");
  const [first] = rows;
  const firstOf = (name: string) => first?.cells[first.columns.indexOf(name)];
  const properties = firstOf("properties");
  if (has("event", "properties") && isJsonObject(properties)) {
    if ("distinct_id" in properties) return because("mixpanel", "event", "properties.distinct_id");
    if (has("distinct_id")) return because("posthog", "event", "distinct_id");
  }
  if (has("type", "messageId") && (has("anonymousId") || has("originalTimestamp"))) {
    return because("segment", "type", "messageId");
  }
  if (has("object", "livemode")) return because("stripe", "object", "livemode");
  const names = [...columns].map(plain);
  if (
    names.includes("customerid") &&
    (names.includes("currentperiodend(utc)") || names.includes("created(utc)"))
  ) {
    return because("stripe", "Customer ID", "(UTC)");
  }
  return undefined;
}
