/** The mapping that an owner chose in the browser, as the readers of files take it. Pure. */
import type { FileDetail, SentMapping } from "../../../contract/api/imports.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { zoneNamed } from "../../calendar/zone.ts";
import { withAccountProperty } from "./reading/export-plan.ts";
import { type ImportType, type Mapping, plain, type Role, rolesOf } from "./reading/mapping.ts";

type Columns = NonNullable<FileDetail["preview"]>["columns"];

/** The mapping with the usual name of its timezone. @throws ApiError naming the field that is wrong */
export function checkedMapping(sent: SentMapping, columns: Columns): SentMapping {
  const timezone = zoneOf(sent);
  const whole: SentMapping = timezone === undefined ? sent : Object.assign({}, sent, { timezone });
  if (sent.from !== null) {
    if (sent.accountProperty !== undefined && !withAccountProperty.includes(sent.from)) {
      throw wrong(`accountProperty means nothing for ${sent.from}: leave it out.`);
    }
    if (sent.timezone !== undefined && sent.from !== "mixpanel") {
      throw wrong(`timezone means nothing for ${sent.from}, whose times are in UTC: leave it out.`);
    }
    return whole;
  }
  const mapping = mappingOf(whole, columns);
  const time = columns.find(({ name }) => name === mapping.columns.timestamp);
  if (time?.times === "zoneless" && timezone === undefined && mapping.timestampFormat !== "utc") {
    throw wrong(
      `timezone is missing: times of ${JSON.stringify(time.name)} have none. Send it, such as Europe/Paris.`,
    );
  }
  return whole;
}

/** The mapping of a file of its own columns. @throws ApiError naming the field that is wrong */
export function mappingOf(sent: SentMapping, fileColumns: Columns): Mapping {
  const type = sent.kind;
  if (type === undefined) throw wrong("kind is missing: send events, users or accounts.");
  const given = rolesByColumn(sent, fileColumns);
  const columns: Partial<Record<Role, string>> = {};
  for (const role of rolesOf[type]) {
    const named = given.filter(([, one]) => one === role);
    const [column, other] = named.map(([name]) => name);
    if (other !== undefined) {
      throw wrong(
        `roles is not valid: ${JSON.stringify(column)} and ${JSON.stringify(other)} are both ${role}.`,
      );
    }
    if (column !== undefined) columns[role] = column;
  }
  refuseMissing(type, columns, sent);
  const known: readonly string[] = ["property", "number", "ignore", ...rolesOf[type]];
  const foreign = given.find(([, role]) => !known.includes(role));
  if (foreign !== undefined) {
    throw wrong(
      `roles is not valid: ${foreign[1]} (${JSON.stringify(foreign[0])}) means nothing for ${type}.`,
    );
  }
  const numbers = given.filter(([, role]) => role === "number").map(([name]) => name);
  const isAll = given.every(([, role]) => role !== "ignore");
  const kept = given.filter(([, role]) => role === "property" || role === "number");
  const isNamed = fileColumns.some(({ name }) => name === "name");
  const nameColumn =
    type !== "users" || isNamed
      ? undefined
      : kept.find(([name]) => plain(name) === "name" || plain(name) === "fullname")?.[0];
  const { eventName, timeFormat = "auto", timezone } = sent;
  const [mapped, renamed] = isAll
    ? [null, nameColumn]
    : [Object.fromEntries(kept.map(([name]) => [name, name === nameColumn ? "name" : name])), undefined];
  return {
    type,
    columns,
    eventName: type === "events" && columns.event === undefined ? (eventName ?? null) : null,
    emailTemplate: null,
    timestampFormat: timeFormat,
    properties: mapped,
    numbers,
    ...(timezone !== undefined && { timezone }),
    ...(renamed !== undefined && { nameColumn: renamed }),
  };
}

function rolesByColumn(
  { roles = {} }: SentMapping,
  columns: Columns,
): readonly (readonly [string, string])[] {
  const unknown = Object.keys(roles).find((name) => !columns.some((column) => column.name === name));
  if (unknown !== undefined) {
    throw wrong(`roles is not valid: there is no column ${JSON.stringify(unknown)}.`);
  }
  return columns.map(
    ({ name }) => [name, (Object.hasOwn(roles, name) && roles[name]) || "property"] as const,
  );
}

function refuseMissing(type: ImportType, columns: Partial<Record<Role, string>>, sent: SentMapping): void {
  const needs = (role: string, what: string) => wrong(`roles is not valid: no column is ${role}, ${what}.`);
  if (type === "accounts") {
    if (columns.accountId === undefined) throw needs("accountId", "the account's id");
    return;
  }
  if (columns.userId === undefined) throw needs("userId", "the user's id");
  if (type === "users") {
    if (columns.email === undefined) throw needs("email", "the e-mail address");
    return;
  }
  if (columns.event === undefined && sent.eventName === undefined) {
    throw wrong("eventName is missing: no column is event. Send one name for all events.");
  }
  if (columns.timestamp === undefined) throw needs("timestamp", "the time of an event");
}

function zoneOf({ timezone, timeFormat }: SentMapping): string | undefined {
  if (timezone === undefined) return undefined;
  const name = zoneNamed(timezone);
  if (name === undefined) throw wrong("timezone is not valid: send a name such as Europe/Paris.");
  if (timeFormat === "utc")
    throw wrong("timezone is not valid beside timeFormat utc: leave one of them out.");
  return name;
}

function wrong(message: string): ApiError {
  return new ApiError("validation_error", message);
}
