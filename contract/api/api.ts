/**
 * The JSON API as JSON Schema: parameters and answers of everything under /api. The server checks parameters
 * with these schemas, types answers by them, and prints them in the OpenAPI document.
 */
import Type from "typebox";

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

/** A date. */
export const day = (description: string) => Type.String({ format: "date", description });
/** A date-time in UTC. */
export const instant = (description: string) => Type.String({ format: "date-time", description });
/** A number of people, events or rows. */
export const count = (description: string) => Type.Integer({ minimum: 0, description });

/** A part of a whole. */
export const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
/** Parameters and bodies have no other keys. */
export const closed = { additionalProperties: false } as const;

type WithDefault<Schema, Options> = Options extends { readonly default: infer Default }
  ? Schema & { readonly default: Default }
  : Schema;

/** Constructors of parameters. Their types say which have a default, so that a request may leave them out. */
export const Parameter = {
  Boolean: <const Options extends Type.TSchemaOptions>(options: Options) =>
    Type.Boolean(options) as WithDefault<Type.TBoolean, Options>,
  Integer: <const Options extends Type.TNumberOptions>(options: Options) =>
    Type.Integer(options) as WithDefault<Type.TInteger, Options>,
  String: <const Options extends Type.TStringOptions>(options: Options) =>
    Type.String(options) as WithDefault<Type.TString, Options>,
  Enum: <Values extends string[], const Options extends Type.TSchemaOptions>(
    values: readonly [...Values],
    options: Options,
  ) => Type.Enum(values, options) as WithDefault<Type.TEnum<Values>, Options>,
  Union: <Types extends Type.TSchema[], const Options extends Type.TSchemaOptions>(
    types: [...Types],
    options: Options,
  ) => Type.Union(types, options) as WithDefault<Type.TUnion<Types>, Options>,
};

/** The schema or null. */
export const nullable = <T extends Type.TSchema>(schema: T, options: Type.TSchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options);

/** Beside an event's name. */
export const eventLabel = nullable(Type.String(), {
  description:
    "The name as a connected source sent it, with its white space; null where it is the name itself.",
});

export const NoParameters = Type.Object({}, closed);

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
  email: nullable(Type.String(), { description: "Null until it is known." }),
  traits: Type.Record(Type.String(), Type.Unknown()),
  isAccountOwner: nullable(Type.Boolean()),
  isExcluded: Type.Boolean({ description: "Whether the user counts in no figure, and has no scores." }),
  excludedBy: Type.Array(Type.Object(exclusionRule), {
    description: "The rules that match the user as it is now. A new rule takes effect within seconds.",
  }),
  account: nullable(Type.Object({ id: Type.String(), name: Type.String(), avatar: nullable(Type.String()) })),
  firstIdentifiedAt: instant("When the user was identified first."),
  updatedAt: instant("When something about the user changed last."),
  firstSeenDay: nullable(day("The day of the user's first engagement event.")),
  lastSeenDay: nullable(day("The day of the user's last engagement event.")),
});

export const EraseParameters = Type.Object(
  {
    withAccount: Parameter.Boolean({
      default: false,
      description: "Whether to erase the user's account, too, when it has no other member.",
    }),
  },
  closed,
);

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
  rebuilding: nullable(
    Type.Object({
      since: instant("When the days had to be computed again."),
      progress: Type.Number({ minimum: 0, maximum: 1 }),
    }),
    { description: "While days are computed again, in a new timezone say, figures may be of the old ones." },
  ),
  excludedUsers: count("Users who are excluded as internal, test or bot, and count in no figure."),
  timezone: Type.String({ description: "Days are this IANA timezone's." }),
  silentSources: Type.Array(
    Type.Object({
      source: Type.String({ description: "As GET /api/sources names it." }),
      since: instant("Its last item that was taken."),
      freezesScores: Type.Boolean({
        description: "It sent a tenth or more of what comes, so scores wait until it is back or retired.",
      }),
    }),
    { description: "Sources from which nothing came for much longer than their own rhythm explains." },
  ),
  earlierScores: nullable(
    Type.Object({ done: count("Earlier days that are scored."), of: count("All of them.") }),
    {
      description:
        "While earlier days are being scored, after an import say: history and changes are not whole yet.",
    },
  ),
  failures: Type.Array(
    Type.Object({
      of: Type.Enum(["exclusions", "scores", "training"], {
        description:
          "exclusions: the last applied rules stay in use. scores: the last scores stay. training: the last model serves.",
      }),
      since: instant("The first failure in a row."),
    }),
    { description: "Work that fails for this organization at this moment. It is tried again." },
  ),
});

const limit = (what: string) =>
  Parameter.Integer({ minimum: 1, maximum: 10_000, default: 100, description: `At most this many ${what}.` });

export const WarningsParameters = Type.Object(
  {
    limit: limit("warnings"),
    kind: Type.Optional(
      Type.Enum([...warningKinds], { description: "Only warnings of this kind; without it, of all kinds." }),
    ),
  },
  closed,
);

export const WarningsAnswer = Type.Object({
  warnings: Type.Array(
    Type.Object({
      day: day("UTC."),
      kind: Type.Enum([...warningKinds], {
        description:
          "unknown_key, event_in_future and duplicate were answered 201; what a connected source sends is stored but for its e-mail or trait that is left out, or held until its user is identified, and dropped when it is too much (held_full), its user is not identified in 30 days (held_expired), or it cannot become its user's (held_refused); of links_full it was taken, and not remembered that two ids are one person; the others were refused.",
      }),
      endpoint: Type.String(),
      detail: nullable(Type.String(), {
        description: "The key, the event's name or the message; null where there are too many to tell apart.",
      }),
      count: count("Requests; for unknown_key, keys."),
      firstSeen: instant("On this day."),
      lastSeen: instant("On this day."),
      message: nullable(Type.String(), {
        description: "Answer to the latest sender; null when 201.",
      }),
      userId: nullable(Type.String(), { description: "The latest user's, where it could be read." }),
    }),
    { description: "The latest first, of the last 30 days." },
  ),
});

export const RejectedEventsParameters = Type.Object({ limit: limit("rejected events") }, closed);

export const RejectedEventsAnswer = Type.Object({
  total: count("Rejected events of the organization."),
  rejectedEvents: Type.Array(
    Type.Object({
      id: Type.Integer(),
      at: instant("When the warehouse refused the row."),
      table: Type.String(),
      reason: Type.String(),
      row: Type.String({ description: "The row as it was sent to the warehouse." }),
    }),
    { description: "The newest first." },
  ),
});

/** Rejected events by their ids, or all of the organization's. */
export const SelectionParameters = Type.Object(
  {
    ids: Type.Optional(
      Type.String({ pattern: "^[0-9]{1,15}(,[0-9]{1,15}){0,999}$", description: "Ids with commas between." }),
    ),
    all: Parameter.Boolean({ default: false, description: "All rejected events of the organization." }),
  },
  closed,
);

export const SelectedAnswer = Type.Object({ rows: count("Rows that it was done with.") });

export const ExclusionParameters = Type.Object(
  {
    kind: exclusionKind,
    key: Parameter.String({ maxLength: 1_000, default: "", description: "The trait's key." }),
    value: ruleText("Value to compare with."),
  },
  closed,
);

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
  examples: Type.Array(
    Type.Object({
      userId: Type.String(),
      name: nullable(Type.String(), { description: "The trait `name`, if it is a text." }),
      email: nullable(Type.String(), { description: "Null until it is known." }),
    }),
    { description: "At most 3, those who are not excluded yet before others." },
  ),
});

export const DoneAnswer = Type.Object({ success: Type.Literal(true) });

export const HealthCheckAnswer = Type.Object({
  lastCheck: nullable(
    Type.Object({
      at: instant("When it began."),
      tookSeconds: Type.Number(),
      differences: count("Between ledger, events and rollups; 0 when all agree."),
      examples: Type.Array(Type.String(), { description: "The first of them in words." }),
    }),
    { description: "The last nightly check; null before the first." },
  ),
});
