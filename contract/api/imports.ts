/** Files that owners import in the browser, as JSON Schema. */
import Type, { type Static } from "typebox";
import { intakeRoute } from "./route.ts";
import { closedObject, Field, listOf, nullable, objectOrNull } from "./schema.ts";

export const uploadLimits = {
  /** Of a file, as it is sent and inflated. */
  bytes: 2 * 1024 ** 3,
  /** A packed file may inflate to so many times its size, or to `freeInflatedBytes`. */
  inflation: 100,
  freeInflatedBytes: 16 * 1024 ** 2,
  nameCharacters: 200,
  /** Files that an organization has here at once. */
  filesPerOrganization: 5,
  /** After which a file is deleted. */
  keptDays: 7,
  /** After which an import is in the list no more. */
  listedDays: 90,
  previewedRows: 20,
  /** More columns have to be imported by the command. */
  columns: 500,
  reasons: 50,
} as const;

/** The tools whose exports are known. */
export const importTools = ["mixpanel", "amplitude", "posthog", "segment", "rudderstack", "stripe"] as const;
export const importKinds = ["events", "users", "accounts"] as const;

/** What a column can become. `properties`: an object of properties; `property`: a property of an event, a trait of a user or an attribute of an
 * account; `number`: one whose text is a number. */
export const importRoles = [
  "userId",
  "event",
  "timestamp",
  "messageId",
  "email",
  "isAccountOwner",
  "account",
  "accountId",
  "accountName",
  "properties",
  "property",
  "number",
  "ignore",
] as const;

/** How times are written. `auto`: by the times themselves. */
const importTimeFormats = ["auto", "utc", "dmy", "mdy", "excel"] as const;

export const uploadStates = [
  "reading",
  "ready",
  "checking",
  "checked",
  "running",
  "done",
  "failed",
  "deleted",
] as const;

const timezone = (description: string) => Type.String({ maxLength: 64, description });
const name = { minLength: 1, maxLength: 1_000 } as const;

const mapping = {
  from: nullable(Type.Enum([...importTools]), {
    description: "The tool whose export it is, whose columns are known. Null: a file of its own columns.",
    "x-send": `null, or one of ${importTools.join(", ")}`,
  }),
  kind: Type.Optional(Type.Enum([...importKinds], { description: "What its rows are, without a tool." })),
  roles: Type.Optional(
    Type.Record(Type.String(), Type.Enum([...importRoles]), {
      maxProperties: uploadLimits.columns,
      description: "What each column becomes, without a tool. A column that is not named is a property.",
      "x-send": `an object of columns, each with one of ${importRoles.join(", ")}`,
    }),
  ),
  eventName: Type.Optional(
    Type.String({
      ...name,
      maxLength: 256,
      description: "The name of every event, without a column for it.",
    }),
  ),
  timeFormat: Type.Optional(Type.Enum([...importTimeFormats], { description: "How times are written." })),
  timezone: Type.Optional(timezone("Of times without an offset, such as Europe/Paris.")),
  accountProperty: Type.Optional(
    Type.String({ ...name, description: "Of Mixpanel and Amplitude: the property that is the account." }),
  ),
};

export const MappingBody = closedObject(mapping);
export type SentMapping = Static<typeof MappingBody>;

const reasons = listOf("Why rows are rejected, the commonest first.", {
  reason: Field.text("With the values of the first such row."),
  rows: Field.count("How many rows."),
  line: Field.count("The line of the first."),
});

const UploadAnswer = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  fileName: Field.text("The name of the file."),
  bytes: Field.count("Its size as it was sent."),
  state: Field.oneOf(
    uploadStates,
    "`reading`: its columns are being looked at. `checking`: the dry run. `deleted`: the file was deleted before it was imported to its end.",
  ),
  createdBy: Field.textOrNull("Who uploaded it. Null if the team member has left."),
  createdAt: Field.instant("When it was uploaded."),
  updatedAt: Field.instant("When its state changed last."),
  fileUntil: nullable(Field.instant("When the file will be deleted."), {
    description: "Null once it is deleted.",
  }),
  node: Field.textOrNull("The machine that has the file, in a cluster."),
  progress: objectOrNull("The rows of the run. Null before it.", {
    rows: Field.count("Rows that are done."),
    stored: Field.count("Rows that were new."),
    duplicates: Field.count("Rows that were stored before."),
    rejected: Field.count("Rows that were rejected."),
  }),
});

const UploadsAnswer = Type.Object({
  imports: Type.Array(UploadAnswer, { description: "The newest first." }),
});

/** What the machine that has the file knows of it. */
const FileAnswer = Type.Object({
  ...UploadAnswer.properties,
  failure: Field.textOrNull("Why the last step failed."),
  share: Field.share("How much of the file the present step has read."),
  waitsFor: Field.textOrNull("Why the run waits. Null while it goes on."),
  preview: objectOrNull("The first rows. Null while they are being read, and once the file is deleted.", {
    columns: listOf("The columns, with the guess for each.", {
      name: Field.text("The name of the column."),
      role: Field.oneOf(importRoles, "What it seems to be."),
      reason: Field.text("Why it seems so."),
      times: nullable(Type.Enum(["clear", "zoneless", "dayOrMonth"]), {
        description:
          "Whether its times say their timezone, and whether the day or the month is first. Null: no times.",
      }),
    }),
    rows: Type.Array(Type.Array(Type.String()), { description: "Cells as text, cut to 200 characters." }),
    from: nullable(Type.Enum([...importTools]), { description: "The tool whose export it seems to be." }),
    fromReason: Field.textOrNull("Why it seems so."),
    kind: nullable(Type.Enum([...importKinds]), { description: "What its rows seem to be." }),
    kindReason: Field.textOrNull("Why they seem so."),
  }),
  mapping: nullable(Type.Object(mapping), { description: "The mapping of the last dry run." }),
  check: objectOrNull("The outcome of the dry run of this mapping. Null before it.", {
    rows: Field.count("All rows."),
    stored: Field.count("Rows that would be stored."),
    duplicates: Field.count("Rows that are stored already."),
    held: Field.count("Of the rows to store: events that wait until their user is identified."),
    ignored: Field.count("Rows that say nothing that is kept here."),
    rejected: Field.count("Rows that would be rejected."),
    reasons,
  }),
});
export type FileDetail = Static<typeof FileAnswer>;

const UploadParameters = closedObject({
  name: Type.String({
    minLength: 1,
    maxLength: uploadLimits.nameCharacters,
    description: "The name of the file: its ending says how it is written.",
    "x-send": `1 to ${uploadLimits.nameCharacters} characters`,
  }),
});

const own = { needsPerson: true } as const;

/** Imports in the browser. */
export const importRoutes = {
  "GET /api/imports": intakeRoute.own({
    ...own,
    summary: "Files that were imported in the browser",
    answer: UploadsAnswer,
  }),
  "POST /api/imports": intakeRoute.own({
    ...own,
    summary: `Upload a file to import: CSV or JSON lines, also as .gz or .zip. The body is the file, at most ${uploadLimits.bytes} bytes`,
    query: UploadParameters,
    isUpload: true,
    status: 201,
    answer: UploadAnswer,
  }),
  "GET /api/imports/:id": intakeRoute.own({
    ...own,
    summary: "A file to import: its first rows, what its columns seem to be, and its progress",
    answer: FileAnswer,
    conflict: "another machine has the file",
  }),
  "POST /api/imports/:id/check": intakeRoute.own({
    ...own,
    summary: "Dry run: count what would be stored and rejected, and why. Nothing is stored",
    body: MappingBody,
    maxBodyBytes: 256 * 1024,
    answer: FileAnswer,
    conflict:
      "another file of the organization is being checked or imported, or another machine has the file",
  }),
  "POST /api/imports/:id/run": intakeRoute.own({
    ...own,
    summary: "Import the file as its last dry run read it. Rows that are stored already are not stored again",
    answer: FileAnswer,
    conflict:
      "another file of the organization is being checked or imported, or another machine has the file",
  }),
  "GET /api/imports/:id/rejected": intakeRoute.own({
    ...own,
    summary: "The rejected rows of a run as CSV, each with its line and the reason",
    answer: Type.String(),
    isFile: "text/csv",
    conflict: "another machine has the file",
  }),
  "DELETE /api/imports/:id": intakeRoute.own({
    ...own,
    summary: "Delete a file and stop its import. Rows that are stored stay",
    status: 204,
  }),
} as const;
