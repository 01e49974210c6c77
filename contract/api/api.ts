/**
 * The JSON API as JSON Schema: parameters and answers of everything under /api. The server checks parameters
 * with these schemas, types answers by them, and prints them in the OpenAPI document.
 */
import Type from "typebox";
import {
  boolean,
  closedObject,
  count,
  day,
  instant,
  listOf,
  nullable,
  objectOrNull,
  Parameter,
  positive,
  text,
  textOrNull,
} from "./schema.ts";

/** Kinds of ingestion warnings. */
export const warningKinds = [
  "unknown_key",
  "event_in_future",
  "duplicate",
  "refused_validation",
  "refused_unknown_user",
  "rate_limited",
  "email_left_out",
  "trait_left_out",
  "browser_field_ignored",
  "held_full",
  "held_expired",
  "held_refused",
  "links_full",
] as const;

/** By what users can be excluded from figures. */
export const exclusionKinds = ["user", "email_domain", "email", "trait", "account"] as const;

/** Beside an event's name. */
export const eventLabel = textOrNull(
  "The name as a connected source sent it, with its white space; null where it is the name itself.",
);

export const NoParameters = closedObject({});

const exclusionKind = Type.Enum([...exclusionKinds], {
  description:
    "user: this userId; email_domain: addresses at this domain; email: addresses like this, * for any text; trait: users whose trait `key` is this; account: users of the account with this id.",
});
const ruleText = (description: string) => Type.String({ maxLength: 1_000, description });

const exclusionRule = {
  id: Type.Integer(),
  kind: exclusionKind,
  key: ruleText("The trait's key; empty for other kinds."),
  value: ruleText("Value to compare with."),
  createdAt: instant("When the rule was made."),
};

export const ExclusionAnswer = Type.Object(exclusionRule);

export const UserAnswer = Type.Object({
  userId: Type.String(),
  email: textOrNull("Null until it is known."),
  traits: Type.Record(Type.String(), Type.Unknown()),
  isAccountOwner: nullable(Type.Boolean()),
  isExcluded: boolean("Whether the user counts in no figure, and has no scores."),
  excludedBy: listOf(
    "The rules that match the user as it is now. A new rule takes effect within seconds.",
    exclusionRule,
  ),
  account: nullable(Type.Object({ id: Type.String(), name: Type.String(), avatar: nullable(Type.String()) })),
  firstIdentifiedAt: instant("When the user was identified first."),
  updatedAt: instant("When something about the user changed last."),
  firstSeenDay: nullable(day("The day of the user's first engagement event.")),
  lastSeenDay: nullable(day("The day of the user's last engagement event.")),
});

export const EraseParameters = closedObject({
  withAccount: Parameter.Boolean({
    default: false,
    description: "Whether to erase the user's account, too, when it has no other member.",
  }),
});

const erasureFields = {
  erasedAt: instant("When nothing was left."),
  rejectedEvents: count("Rows that the warehouse had rejected."),
  inboxRows: count("Rows that were still kept on their way to the warehouse."),
  seconds: Type.Number({ minimum: 0, description: "From the request to the end." }),
};

/** The receipt for the erasure of an account. */
export const AccountErasureAnswer = Type.Object({
  accountId: Type.String(),
  members: count("Users who were in the account. They stay, in no account."),
  events: count("Events that do not name the account any more. They stay with their users."),
  versions: count("Versions of the account's name and avatar that were erased."),
  days: count("Days whose figures were computed again without the account."),
  ...erasureFields,
});

/** The receipt for the erasure of a user. */
export const ErasureAnswer = Type.Object({
  userId: Type.String(),
  events: count("Events that were erased."),
  versions: count("Versions of the user's traits that were erased."),
  days: count("Days whose figures were computed again without the user."),
  ...erasureFields,
  account: nullable(AccountErasureAnswer, {
    description: "Of the account that was erased with the user; null when it stays.",
  }),
});

/** How far a figure is to be trusted at this moment. */
export const FreshnessAnswer = Type.Object({
  loadedUpto: nullable(instant("Everything that was acknowledged before is in the figure."), {
    description: "Null until that is known, for a moment after a start.",
  }),
  rebuilding: objectOrNull(
    "While days are computed again, in a new timezone say, figures may be of the old ones.",
    {
      since: instant("When the days had to be computed again."),
      progress: Type.Number({ minimum: 0, maximum: 1 }),
    },
  ),
  excludedUsers: count("Users who are excluded as internal, test or bot, and count in no figure."),
  timezone: text("Days are this IANA timezone's."),
  silentSources: listOf("Sources from which nothing came for much longer than their own rhythm explains.", {
    source: text("As GET /api/sources names it."),
    since: instant("Its last item that was taken."),
    freezesScores: boolean(
      "It sent a tenth or more of what comes, so scores wait until it is back or retired.",
    ),
  }),
  earlierScores: objectOrNull(
    "While earlier days are being scored, after an import say: history and changes are not whole yet.",
    { done: count("Earlier days that are scored."), of: count("All of them.") },
  ),
  failures: listOf("Work that fails for this organization at this moment. It is tried again.", {
    of: Type.Enum(["exclusions", "scores", "training"], {
      description:
        "exclusions: the last applied rules stay in use. scores: the last scores stay. training: the last model serves.",
    }),
    since: instant("The first failure in a row."),
  }),
});

export const WarningsParameters = closedObject({
  limit: positive(10_000, 100, "At most this many warnings."),
  kind: Type.Optional(
    Type.Enum([...warningKinds], { description: "Only warnings of this kind; without it, of all kinds." }),
  ),
});

export const WarningsAnswer = Type.Object({
  warnings: listOf("The latest first, of the last 30 days.", {
    day: day("UTC."),
    kind: Type.Enum([...warningKinds], {
      description:
        "unknown_key, event_in_future and duplicate were answered 201; what a connected source sends is stored but for its e-mail or trait that is left out, or held until its user is identified, and dropped when it is too much (held_full), its user is not identified in 30 days (held_expired), or it cannot become its user's (held_refused); of links_full it was taken, and not remembered that two ids are one person; the others were refused.",
    }),
    endpoint: Type.String(),
    detail: textOrNull(
      "The key, the event's name or the message; null where there are too many to tell apart.",
    ),
    count: count("Requests; for unknown_key, keys."),
    firstSeen: instant("On this day."),
    lastSeen: instant("On this day."),
    message: textOrNull("Answer to the latest sender; null when 201."),
    userId: textOrNull("The latest user's, where it could be read."),
  }),
});

export const RejectedEventsParameters = closedObject({
  limit: positive(10_000, 100, "At most this many rejected events."),
});

export const RejectedEventsAnswer = Type.Object({
  total: count("Rejected events of the organization."),
  rejectedEvents: listOf("The newest first.", {
    id: Type.Integer(),
    at: instant("When the warehouse refused the row."),
    table: Type.String(),
    reason: Type.String(),
    row: text("The row as it was sent to the warehouse."),
  }),
});

/** Rejected events by their ids, or all of the organization's. */
export const SelectionParameters = closedObject({
  ids: Type.Optional(
    Type.String({ pattern: "^[0-9]{1,15}(,[0-9]{1,15}){0,999}$", description: "Ids with commas between." }),
  ),
  all: Parameter.Boolean({ default: false, description: "All rejected events of the organization." }),
});

export const SelectedAnswer = Type.Object({ rows: count("Rows that it was done with.") });

export const ExclusionParameters = closedObject({
  kind: exclusionKind,
  key: Parameter.String({ maxLength: 1_000, default: "", description: "The trait's key." }),
  value: ruleText("Value to compare with."),
});

export const ExclusionsAnswer = Type.Object({
  excludedUsers: count("Users who are excluded by now."),
  rules: Type.Array(
    Type.Object({
      ...exclusionRule,
      users: count("Users whom the rule matches; a user whom several rules match counts in each."),
    }),
  ),
});

export const ExclusionPreviewAnswer = Type.Object({
  users: count("Users whom the rule matches."),
  alreadyExcluded: count("Those of them whom other rules, or this one, exclude already."),
  examples: listOf("At most 3, those who are not excluded yet before others.", {
    userId: Type.String(),
    name: textOrNull("The trait `name`, if it is a text."),
    email: textOrNull("Null until it is known."),
  }),
});

export const DoneAnswer = Type.Object({ success: Type.Literal(true) });

export const HealthCheckAnswer = Type.Object({
  lastCheck: objectOrNull("The last nightly check; null before the first.", {
    at: instant("When it began."),
    tookSeconds: Type.Number(),
    differences: count("Between ledger, events and rollups; 0 when all agree."),
    examples: Type.Array(Type.String(), { description: "The first of them in words." }),
  }),
});
