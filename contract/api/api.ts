/**
 * The JSON API as JSON Schema: parameters and answers of everything under /api. The server checks parameters
 * with these schemas, types answers by them, and prints them in the OpenAPI document.
 */
import Type from "typebox";
import { controlField, ownerFields } from "../actions/work-schemas.ts";
import { closedObject, Field, listOf, nullable, objectOrNull, objects, Parameter } from "./schema.ts";

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
  "placeholder_id",
  "number_kept_as_text",
  "half_character_replaced",
  "test_mode_ignored",
  "server_token_in_page",
  "held_full",
  "held_expired",
  "held_refused",
  "links_full",
] as const;

/** By what users can be excluded from figures. */
export const exclusionKinds = ["user", "email_domain", "email", "trait", "account"] as const;

/** Beside an event's name. */
export const eventLabel = Field.textOrNull(
  "The name as a connected source sent it, with its white space; null where it is the name itself.",
);

export const NoParameters = closedObject({});

const exclusionKind = Field.oneOf(
  exclusionKinds,
  "user: this userId; email_domain: addresses at this domain; email: addresses like this, * for any text; trait: users whose trait `key` is this; account: users of the account with this id.",
);
const ruleText = (description: string) => Type.String({ maxLength: 1_000, description });

const exclusionRule = {
  id: Type.Integer(),
  kind: exclusionKind,
  key: ruleText("The trait's key; empty for other kinds."),
  value: ruleText("Value to compare with."),
  createdAt: Field.instant("When the rule was made."),
};

export const ExclusionAnswer = Type.Object(exclusionRule);

/** Of a user or an account. */
export const saidByPagesField = {
  saidByPages: Type.Array(Type.String(), {
    description:
      "What a browser token said last, which everybody can read in a page: `account` of a user; `name`, `avatar` and attributes of an account, these as `traits.tier`. A value that a server says takes its place.",
  }),
};

export const UserAnswer = Type.Object({
  userId: Type.String(),
  email: Field.textOrNull("Null until it is known."),
  traits: Type.Record(Type.String(), Type.Unknown()),
  isAccountOwner: nullable(Type.Boolean()),
  isExcluded: Field.boolean("Whether the user counts in no figure, and has no scores."),
  excludedBy: listOf(
    "The rules that match the user as it is now. A new rule takes effect within seconds.",
    exclusionRule,
  ),
  account: nullable(Type.Object({ id: Type.String(), name: Type.String(), avatar: nullable(Type.String()) })),
  ...ownerFields,
  isOwnerOfAccount: Field.boolean(
    "Whether the owner is that of the account: the user has none of their own.",
  ),
  unknownOwner: Field.textOrNull("The trait `owner`, where it means no team member."),
  ...controlField,
  ...saidByPagesField,
  firstIdentifiedAt: Field.instant("When the user was identified first."),
  updatedAt: Field.instant("When something about the user changed last."),
  firstSeenDay: nullable(Field.day("The day of the user's first engagement event.")),
  lastSeenDay: nullable(Field.day("The day of the user's last engagement event.")),
});

export const EraseParameters = closedObject({
  withAccount: Parameter.Boolean({
    default: false,
    description: "Whether to erase the user's account, too, when it has no other member.",
  }),
});

const erasureFields = {
  erasedAt: Field.instant("When nothing was left."),
  rejectedEvents: Field.count("Rows that the warehouse had rejected."),
  inboxRows: Field.count("Rows that were still kept on their way to the warehouse."),
  seconds: Type.Number({ minimum: 0, description: "From the request to the end." }),
};

/** The receipt for the erasure of an account. */
export const AccountErasureAnswer = Type.Object({
  accountId: Type.String(),
  members: Field.count("Users who were in the account. They stay, in no account."),
  events: Field.count("Events that do not name the account any more. They stay with their users."),
  versions: Field.count("Versions of the account's name and avatar that were erased."),
  days: Field.count("Days whose figures were computed again without the account."),
  ...erasureFields,
});

/** The receipt for the erasure of a user. */
export const ErasureAnswer = Type.Object({
  userId: Type.String(),
  events: Field.count("Events that were erased."),
  versions: Field.count("Versions of the user's traits that were erased."),
  days: Field.count("Days whose figures were computed again without the user."),
  ...erasureFields,
  account: nullable(AccountErasureAnswer, {
    description: "Of the account that was erased with the user; null when it stays.",
  }),
});

/** How far a figure is to be trusted at this moment. */
export const FreshnessAnswer = Type.Object({
  loadedUpto: nullable(Field.instant("Everything that was acknowledged before is in the figure."), {
    description: "Null until that is known, for a moment after a start.",
  }),
  rebuilding: objectOrNull(
    "While days are computed again, in a new timezone say, figures may be of the old ones.",
    {
      since: Field.instant("When the days had to be computed again."),
      progress: Type.Number({ minimum: 0, maximum: 1 }),
    },
  ),
  excludedUsers: Field.count("Users who are excluded as internal, test or bot, and count in no figure."),
  timezone: Field.text("Days are this IANA timezone's."),
  silentSources: listOf("Sources from which nothing came for much longer than their own rhythm explains.", {
    source: Field.text("As GET /api/sources names it."),
    since: Field.instant("Its last item that was taken."),
    freezesScores: Field.boolean(
      "It sent a tenth or more of what comes, so scores wait until it is back or retired.",
    ),
  }),
  earlierScores: objectOrNull(
    "While earlier days are being scored, after an import say: history and changes are not whole yet.",
    { done: Field.count("Earlier days that are scored."), of: Field.count("All of them.") },
  ),
  loading: objectOrNull(
    "While the past comes in bulk, or has come and is not scored yet. Scores wait for its end, at most an hour.",
    {
      events: Field.count("Events that were stored so far."),
      hasScores: Field.boolean(
        "False before the first scores: then figures of half of the data are in the answer. True: scores are those of before the load.",
      ),
    },
  ),
  failures: listOf("Work that fails for this organization at this moment. It is tried again.", {
    of: Field.oneOf(
      ["exclusions", "subscriptions", "scores", "training"],
      "exclusions: the last applied rules stay in use. subscriptions: those computed before stay. scores: the last scores stay. training: the last model serves.",
    ),
    since: Field.instant("The first failure in a row."),
  }),
});

/** An answer that has nothing but its freshness. */
export const FreshnessOnlyAnswer = Type.Object({});

export const WarningsParameters = closedObject({
  limit: Parameter.positive(10_000, 100, "At most this many warnings."),
  kind: Type.Optional(Field.oneOf(warningKinds, "Only warnings of this kind; without it, of all kinds.")),
});

export const WarningsAnswer = Type.Object({
  warnings: listOf("The latest first, of the last 30 days.", {
    day: Field.day("UTC."),
    kind: Field.oneOf(
      warningKinds,
      "unknown_key, event_in_future and duplicate were answered 201; what a connected source sends is stored but for its e-mail or trait that is left out, or held until its user is identified, and dropped when it is too much (held_full), its user is not identified in 30 days (held_expired), or it cannot become its user's (held_refused); of links_full it was taken, and not remembered that two ids are one person; the others were refused.",
    ),
    endpoint: Type.String(),
    detail: Field.textOrNull(
      "The key, the event's name or the message; null where there are too many to tell apart.",
    ),
    count: Field.count("Requests; for unknown_key, keys."),
    firstSeen: Field.instant("On this day."),
    lastSeen: Field.instant("On this day."),
    message: Field.textOrNull("Answer to the latest sender; null when 201."),
    userId: Field.textOrNull("The latest user's, where it could be read."),
  }),
});

export const RejectedEventsParameters = closedObject({
  limit: Parameter.positive(10_000, 100, "At most this many rejected events."),
});

export const RejectedEventsAnswer = Type.Object({
  total: Field.count("Rejected events of the organization."),
  rejectedEvents: listOf("The newest first.", {
    id: Type.Integer(),
    at: Field.instant("When the warehouse refused the row."),
    table: Type.String(),
    reason: Type.String(),
    row: Field.text("The row as it was sent to the warehouse."),
  }),
});

/** Rejected events by their ids, or all of the organization's. */
export const SelectionParameters = closedObject({
  ids: Type.Optional(
    Type.String({
      pattern: "^[0-9]{1,15}(,[0-9]{1,15}){0,999}$",
      description: "Ids with commas between.",
      "x-send": "up to 1000 ids with commas between",
    }),
  ),
  all: Parameter.Boolean({ default: false, description: "All rejected events of the organization." }),
});

export const SelectedAnswer = Type.Object({ rows: Field.count("Rows that it was done with.") });

export const ExclusionParameters = closedObject({
  kind: exclusionKind,
  key: Parameter.String({ maxLength: 1_000, default: "", description: "The trait's key." }),
  value: ruleText("Value to compare with."),
});

export const ExclusionsAnswer = Type.Object({
  excludedUsers: Field.count("Users who are excluded by now."),
  rules: objects({
    ...exclusionRule,
    users: Field.count("Users whom the rule matches; a user whom several rules match counts in each."),
  }),
});

export const ExclusionPreviewAnswer = Type.Object({
  users: Field.count("Users whom the rule matches."),
  alreadyExcluded: Field.count("Those of them whom other rules, or this one, exclude already."),
  examples: listOf("At most 3, those who are not excluded yet before others.", {
    userId: Type.String(),
    name: Field.textOrNull("The trait `name`, if it is a text."),
    email: Field.textOrNull("Null until it is known."),
  }),
});

export const DoneAnswer = Type.Object({ success: Type.Literal(true) });

export const HealthCheckAnswer = Type.Object({
  lastCheck: objectOrNull("The last nightly check; null before the first.", {
    at: Field.instant("When it began."),
    tookSeconds: Type.Number(),
    differences: Field.count("Between ledger, events and rollups; 0 when all agree."),
    examples: Type.Array(Type.String(), { description: "The first of them in words." }),
  }),
});
