/**
 * The JSON API as JSON Schema: parameters and answers of everything under /api. The server checks parameters
 * with these schemas, types answers by them, and prints them in the OpenAPI document.
 */
import Type from "typebox";
import { controlField, ownerFields } from "./list-fields.ts";
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

/** The field beside an event's name. */
export const eventLabel = Field.textOrNull(
  "The name as a connected source sent it, with white space. Null if it equals the event's name.",
);

export const NoParameters = closedObject({});

const exclusionKind = Field.oneOf(
  exclusionKinds,
  "What `value` is compared with. user: the userId. email_domain: the domain of the e-mail address. email: the e-mail address; * stands for any text. trait: the value of the trait `key`. account: the id of the user's account.",
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
      "Fields whose last value came with a browser token, which everybody can read in a page: `account` of a user; `name`, `avatar` and attributes (such as `traits.tier`) of an account. A later value from a server takes the field off this list.",
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
    "Whether the owner is the account's owner, because the user has no trait `owner`.",
  ),
  unknownOwner: Field.textOrNull("The trait `owner`, if it matches no team member. Otherwise null."),
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
    description: "Whether to erase the user's account, too, if it has no other member.",
  }),
});

const erasureFields = {
  erasedAt: Field.instant("When the erasure was complete."),
  rejectedEvents: Field.count("Rejected events that were erased."),
  inboxRows: Field.count("Rows that were erased on their way to the warehouse."),
  seconds: Type.Number({ minimum: 0, description: "Seconds from the request to the end of the erasure." }),
};

/** The receipt for the erasure of an account. */
export const AccountErasureAnswer = Type.Object({
  accountId: Type.String(),
  members: Field.count("Users who were in the account. They stay, without an account."),
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
    description: "The receipt for the account that was erased with the user. Null if no account was erased.",
  }),
});

/** How far a figure is to be trusted at this moment. */
export const FreshnessAnswer = Type.Object({
  loadedUpto: nullable(
    Field.instant("The figure has data up to this time: everything that was acknowledged before."),
    {
      description: "Null for a moment after a start.",
    },
  ),
  rebuilding: objectOrNull(
    "While days are computed again, e.g. for a new timezone: figures may still be from before. Otherwise null.",
    {
      since: Field.instant("Since when days have to be computed again."),
      progress: Type.Number({ minimum: 0, maximum: 1 }),
    },
  ),
  excludedUsers: Field.count("Users who are excluded as internal, test or bot, and count in no figure."),
  timezone: Field.text("The IANA timezone of all days."),
  silentSources: listOf("Sources that have sent nothing for much longer than usual.", {
    source: Field.text("The source's name, as in GET /api/sources."),
    since: Field.instant("When the source's last accepted item came."),
    freezesScores: Field.boolean(
      "Whether scores wait until the source sends again or is retired, because it sent a tenth or more of all items.",
    ),
  }),
  earlierScores: objectOrNull(
    "While earlier days are being scored, e.g. after an import: history and changes are not complete yet. Otherwise null.",
    { done: Field.count("Earlier days that are scored."), of: Field.count("Earlier days to score, in all.") },
  ),
  loading: objectOrNull(
    "While events of earlier days are loaded in bulk, or are loaded and not scored yet. Scores wait for the end of the load, at most an hour. Otherwise null.",
    {
      events: Field.count("Events that were stored so far."),
      hasScores: Field.boolean(
        "False before the first scores: figures are of the data that are loaded so far. True: scores are from before the load.",
      ),
    },
  ),
  failures: listOf("Jobs that are failing for this organization now. They are tried again.", {
    of: Field.oneOf(
      ["exclusions", "subscriptions", "scores", "training"],
      "What fails. exclusions: the last applied rules stay in use. subscriptions: the last computed subscriptions stay. scores: the last scores stay. training: the last model serves.",
    ),
    since: Field.instant("The first failure in a row."),
  }),
});

/** An answer that has nothing but its freshness. */
export const FreshnessOnlyAnswer = Type.Object({});

export const WarningsParameters = closedObject({
  limit: Parameter.positive(10_000, 100, "At most this many warnings."),
  kind: Type.Optional(Field.oneOf(warningKinds, "Only warnings of this kind. Default: all kinds.")),
});

export const WarningsAnswer = Type.Object({
  warnings: listOf("The latest first, of the last 30 days.", {
    day: Field.day("The day in UTC."),
    kind: Field.oneOf(
      warningKinds,
      "unknown_key, event_in_future, duplicate: the request was answered 201. refused_validation, refused_unknown_user, rate_limited: the request was refused. email_left_out, trait_left_out: stored without the e-mail address or the trait. held_full, held_expired, held_refused: a held item was dropped, because too many were held, because its user was not identified within 30 days, or because it was not valid for its user. links_full: the item was stored, but not that two ids are one person.",
    ),
    endpoint: Type.String(),
    detail: Field.textOrNull(
      "The key, the event's name or the message. Null if there are too many different details to list.",
    ),
    count: Field.count("Number of requests; for unknown_key, number of keys."),
    firstSeen: Field.instant("The first time on this day."),
    lastSeen: Field.instant("The last time on this day."),
    message: Field.textOrNull("The error message that the latest sender got. Null if the answer was 201."),
    userId: Field.textOrNull("The userId of the latest request. Null if it could not be read."),
  }),
});

export const RejectedEventsParameters = closedObject({
  limit: Parameter.positive(10_000, 100, "At most this many rejected events."),
});

export const RejectedEventsAnswer = Type.Object({
  total: Field.count("Rejected events of the organization."),
  rejectedEvents: listOf("The newest first.", {
    id: Type.Integer(),
    at: Field.instant("When the warehouse rejected the row."),
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
      description: "Ids of rejected events, separated by commas.",
      "x-send": "up to 1000 ids, separated by commas",
    }),
  ),
  all: Parameter.Boolean({ default: false, description: "All rejected events of the organization." }),
});

export const SelectedAnswer = Type.Object({
  rows: Field.count("Rejected events that were sent again, or deleted."),
});

export const ExclusionParameters = closedObject({
  kind: exclusionKind,
  key: Parameter.String({ maxLength: 1_000, default: "", description: "The trait's key." }),
  value: ruleText("Value to compare with."),
});

export const ExclusionsAnswer = Type.Object({
  excludedUsers: Field.count("Users who are excluded now."),
  rules: objects({
    ...exclusionRule,
    users: Field.count("Users whom the rule matches; a user whom several rules match counts in each."),
  }),
});

export const ExclusionPreviewAnswer = Type.Object({
  users: Field.count("Users whom the rule matches."),
  alreadyExcluded: Field.count("Matching users whom other rules, or this rule, already exclude."),
  examples: listOf("At most 3 matching users, users who are not excluded yet first.", {
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
    differences: Field.count("Differences between ledger, events and rollups. 0 if all agree."),
    examples: Type.Array(Type.String(), { description: "The first differences, in words." }),
  }),
});
