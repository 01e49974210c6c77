/** The options of `rekindle import`, and their combined meaning. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type WorkType, workTypes } from "../../contract/notes-and-tasks.ts";
import { Refusal } from "../../contract/refusal.ts";
import { zoneNamed } from "../../server/calendar/zone.ts";
import { delimiterOf } from "../../server/features/imports/reading/delimiter.ts";
import {
  type ExportOptions,
  withAccountProperty,
} from "../../server/features/imports/reading/export-plan.ts";
import type { ImportFile } from "../../server/features/imports/reading/file.ts";
import {
  columnRoles,
  type ImportType,
  importTypes,
  type MappingOptions,
  type Role,
} from "../../server/features/imports/reading/mapping.ts";
import { type Format, formats, type Reading, whiteSpace } from "../../server/features/imports/reading/row.ts";
import {
  type TimeForm,
  type TimestampFormat,
  timestampFormats,
} from "../../server/features/imports/reading/time.ts";
import { type ExportTool, exportTools } from "../../server/sources/exports/exports.ts";
import { organizationOption } from "../installation.ts";
import { hasRole, resolveWorkMapping, type WorkMapping, type WorkRole, workRoles } from "./work-mapping.ts";

/** How the file is written; any command that reads one takes these. */
export interface ReadingOptions {
  readonly format?: Format;
  readonly delimiter?: string;
  readonly header: boolean;
}

export interface ImportOptions
  extends ReadingOptions,
    Partial<Record<Exclude<Role, "properties"> | WorkRole, string>> {
  readonly organization: string;
  /** The tool whose export the file is. */
  readonly from?: ExportTool;
  readonly timezone?: string;
  readonly accountProperty?: string;
  readonly createUnmatched?: true;
  readonly type?: ImportType | WorkType;
  readonly eventName?: string;
  readonly emailTemplate?: string;
  readonly timestampFormat: TimestampFormat;
  /** False: none. True: the default. */
  readonly properties: boolean;
  readonly property?: readonly string[];
  readonly number: readonly string[];
  readonly decimalComma?: true;
  readonly preview?: boolean;
  readonly report?: string;
  readonly asAnotherImport?: boolean;
  readonly maxRejected?: MaxRejected;
}

/** How many rows may be rejected: a number, or a share of all. */
export interface MaxRejected {
  readonly text: string;
  readonly rowsOf: (rows: number) => number;
}

const delimiters: Readonly<Record<string, string>> = {
  comma: ",",
  semicolon: ";",
  tab: "\t",
  pipe: "|",
  space: whiteSpace,
};

/** Adds the options about how the file is written. */
export function addReadingOptions(command: Command): Command {
  return command
    .addOption(new Option("--format <format>", "how the file is written; by its name").choices(formats))
    .option(
      "--delimiter <character>",
      "of CSV: a character, or tab, semicolon, pipe, space (any white space); by default as in the header",
      readDelimiter,
    )
    .option("--no-header", "the first row is data: columns are 1, 2, 3 and so on");
}

/** Adds the options to the command. */
export function addImportOptions(command: Command): Command {
  return addReadingOptions(command)
    .addOption(organizationOption)
    .addOption(
      new Option("--from <tool>", "the file is an export of this tool, whose columns are known").choices(
        exportTools,
      ),
    )
    .option(
      "--timezone <name>",
      "of times without an offset, such as Europe/Paris; with --from mixpanel the project's, if it was made before 2023",
    )
    .option(
      "--account-property <name>",
      "with --from mixpanel or amplitude: the property, or type of group, that is the account",
    )
    .option(
      "--create-unmatched",
      "with --from stripe: a customer with an e-mail address who matches no user becomes one, with the customer's id",
    )
    .addOption(
      new Option(
        "--type <type>",
        "the kind of rows; by default events, users or accounts, guessed from the columns",
      ).choices([...importTypes, ...workTypes]),
    )
    .option("--user-id <column>", "the user's id")
    .option("--event <column>", "the event's name")
    .option("--event-name <name>", "one name for all events")
    .option("--timestamp <column>", "when it happened")
    .addOption(
      new Option(
        "--timestamp-format <format>",
        "dmy, mdy: 31/12/2025 has the day, or the month, first; excel: days as Excel counts them; utc: times without an offset are in UTC",
      )
        .choices(timestampFormats)
        .default("auto"),
    )
    .option("--message-id <column>", "an id by which a repeated row is known, in any file and for good")
    .option(
      "--is-activity <column>",
      "false: the event is kept and counts for no figure, as an export says it",
    )
    .option("--email <column>", "the user's e-mail address")
    .option("--email-template <text>", "an address made of columns, such as '{id}@example.com'")
    .option("--is-account-owner <column>", "whether the user owns the account")
    .option("--account <column>", "the user's account: a JSON object with id and name, or its name")
    .option("--account-id <column>", "the account's id")
    .option("--account-name <column>", "the account's name; without one, its id")
    .option("--account-avatar <column>", "the URL of the account's picture")
    .option("--author <column>", "who wrote a note, added a task or made a contact: e-mail address or name")
    .option("--text <column>", "the text of a note or contact")
    .option("--title <column>", "the title of a task")
    .option("--due <column>", "the due day of a task")
    .option("--done <column>", "when a task was done, or yes or no")
    .option("--assignee <column>", "who has to do a task: a team member's e-mail address or name")
    .option("--kind <column>", "how a user was contacted: call, email, meeting, chat or other")
    .option("--owner <column>", "the owner of a user or account: a team member's e-mail address or name")
    .option(
      "--property <column=name...>",
      "only these become properties, or traits (COLUMN, or COLUMN=NAME); without it every other column does",
    )
    .option("--no-properties", "no column becomes a property")
    .option("--number <column...>", "properties whose text is a number", [])
    .option("--decimal-comma", "numbers are written as 1234,56 or 1.234,56")
    .option("--preview", "show the first rows as they would be sent, and store nothing")
    .option("--report <file>", "write every rejected row's line and reason: .csv, else JSON lines")
    .option(
      "--max-rejected <number>",
      "exit with 1 when more rows are rejected: a count, or a share such as 5%; without it, only when all are",
      readMaxRejected,
    )
    .option(
      "--as-another-import",
      "import events again that were imported from this file under other options",
    );
}

/** How the file is to be read. */
export async function readingOf(file: ImportFile, options: ReadingOptions): Promise<Reading> {
  const { format, gzip } = file.format(options.format);
  const { header } = options;
  const delimiter = options.delimiter ?? (format === "csv" ? await delimiterOf(file, { gzip, header }) : ",");
  return { path: file.path, format, gzip, delimiter, header };
}

/** The usual name of the timezone that is given. @throws Refusal when there is none of this name, and beside
 * `utc` */
function timezoneOf({ timezone, timestampFormat }: ImportOptions): string | undefined {
  if (timezone === undefined) return undefined;
  const name = zoneNamed(timezone);
  if (name === undefined) {
    throw new Refusal(`--timezone ${JSON.stringify(timezone)} is no timezone: give one such as US/Pacific.`);
  }
  if (timestampFormat === "utc") {
    throw new Refusal("--timestamp-format utc and --timezone both say the timezone: leave one out.");
  }
  return name;
}

/** The mapping of a file of notes, tasks, contacts or owners. Undefined for any other type.
 * @throws Refusal when an option means nothing for the type */
export function workMappingOf(
  options: ImportOptions,
  fileColumns: readonly string[],
  complete: boolean,
): WorkMapping | undefined {
  const type = workTypes.find((one) => one === options.type);
  const given = [...columnRoles, ...workRoles].filter((role) => options[role] !== undefined);
  const foreign = type === undefined ? given.find(isWorkRole) : given.find((role) => !hasRole(type, role));
  const other = foreign === undefined ? type && otherOption(options) : optionOf(foreign);
  if (other !== undefined) {
    throw new Refusal(
      `${other} means nothing for ${type ?? options.type ?? "events, users and accounts"}: leave it out, or give another --type.`,
    );
  }
  if (type === undefined) return undefined;
  const columns = Object.fromEntries(given.map((role) => [role, options[role]]));
  const timezone = timezoneOf(options);
  const { timestampFormat } = options;
  const form: TimeForm = { timestampFormat, ...(timezone !== undefined && { timezone }) };
  return resolveWorkMapping(type, columns, form, fileColumns, complete);
}

function isWorkRole(role: string): boolean {
  return workRoles.some((one) => one === role);
}

/** An option of events, users or accounts that is no column. */
function otherOption(options: ImportOptions): string | undefined {
  if (options.eventName !== undefined) return "--event-name";
  if (options.emailTemplate !== undefined) return "--email-template";
  if (options.property !== undefined) return "--property";
  if (!options.properties) return "--no-properties";
  if (options.number.length > 0) return "--number";
  return options.decimalComma === undefined ? undefined : "--decimal-comma";
}

/** The options about columns. */
export function mappingOptionsOf(options: ImportOptions): MappingOptions {
  const columns: Partial<Record<Role, string>> = {};
  for (const role of columnRoles) {
    const column = options[role];
    if (column !== undefined) columns[role] = column;
  }
  const { eventName, emailTemplate, timestampFormat, number: numbers, decimalComma } = options;
  const type = importTypes.find((one) => one === options.type);
  const timezone = timezoneOf(options);
  const properties = options.properties ? options.property?.map(nameAndProperty) : [];
  return {
    ...(type && { type }),
    columns,
    ...(eventName && { eventName }),
    ...(emailTemplate && { emailTemplate }),
    timestampFormat,
    ...(timezone !== undefined && { timezone }),
    ...(decimalComma && { decimalComma }),
    ...(properties && { properties: Object.fromEntries(properties) }),
    numbers,
  };
}

/** The options about a tool's export. @throws Refusal when an option means nothing for the tool */
export function exportOptionsOf(tool: ExportTool, options: ImportOptions): ExportOptions {
  refuseColumnOptions(options);
  const { timezone, accountProperty, createUnmatched } = options;
  if (timezone !== undefined && tool !== "mixpanel") {
    throw new Refusal(`--timezone means nothing for ${tool}, whose times are in UTC: leave it out.`);
  }
  if (accountProperty !== undefined && !withAccountProperty.includes(tool)) {
    throw new Refusal(`--account-property means nothing for ${tool}: leave it out.`);
  }
  if (createUnmatched !== undefined && tool !== "stripe") {
    throw new Refusal(`--create-unmatched means nothing for ${tool}: leave it out.`);
  }
  return { timezone: timezoneOf(options), accountProperty, createUnmatched, nowMs: Date.now() };
}

/** @throws Refusal when an option says what the columns of an export are */
function refuseColumnOptions(options: ImportOptions): void {
  const { format, delimiter, header, properties, ...mapped } = options;
  const isGiven: Readonly<Record<string, boolean>> = {
    "--format": format !== undefined,
    "--delimiter": delimiter !== undefined,
    "--no-header": !header,
    "--type": mapped.type !== undefined,
    "--event-name": mapped.eventName !== undefined,
    "--email-template": mapped.emailTemplate !== undefined,
    "--timestamp-format": mapped.timestampFormat !== "auto",
    "--property": mapped.property !== undefined,
    "--no-properties": !properties,
    "--number": mapped.number.length > 0,
    "--decimal-comma": mapped.decimalComma !== undefined,
    ...Object.fromEntries(
      [...columnRoles, ...workRoles].map((role) => [optionOf(role), options[role] !== undefined]),
    ),
  };
  const given = Object.keys(isGiven).find((option) => isGiven[option] === true);
  if (given !== undefined) throw new Refusal(`--from knows the columns: leave out ${given}.`);
}

function optionOf(role: string): string {
  return `--${role.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function nameAndProperty(text: string): readonly [string, string] {
  const at = text.lastIndexOf("=");
  return at < 1 ? [text, text] : [text.slice(0, at), text.slice(at + 1)];
}

function readMaxRejected(text: string): MaxRejected {
  const [, digits = "", percent] = /^(\d+(?:\.\d+)?)(%)?$/.exec(text) ?? [];
  const number = digits === "" ? Number.NaN : Number(digits);
  if (percent !== undefined && number <= 100) return { text, rowsOf: (rows) => (rows * number) / 100 };
  if (percent === undefined && Number.isSafeInteger(number)) return { text, rowsOf: () => number };
  throw new InvalidArgumentError("Give a whole number of rows, or a share from 0% to 100%.");
}

function readDelimiter(text: string): string {
  const delimiter = delimiters[text] ?? text;
  if (delimiter === whiteSpace || /^[\x20-\x7e\t]$/.test(delimiter)) return delimiter;
  throw new InvalidArgumentError("Give one ASCII character, or comma, semicolon, tab, pipe, space.");
}
