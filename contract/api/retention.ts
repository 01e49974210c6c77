/** The questions about retention cohorts as JSON Schema: parameters and answers. */
import Type from "typebox";
import { closedObject, Field, inSegment, listOf, nullable, objectOrNull, Parameter } from "./schema.ts";

const question = {
  entry: Parameter.Enum(["firstEvent", "signUp", "event"], {
    default: "firstEvent",
    description:
      "Rule that puts a user into a cohort: the first event, sign-up (the trait createdAt, created_at or signedUpAt if it is a valid date, else the first identify), or the first `entryEvent`.",
  }),
  entryEvent: Parameter.optionalName("With entry=event, the event's name."),
  returnEvent: Parameter.optionalName(
    "The event that counts as coming back. Default: every engagement event.",
  ),
  period: Parameter.Enum(["day", "week", "month"], {
    default: "week",
    description: "The length of a period, in the organization's timezone.",
  }),
  weekStart: Parameter.weekStart,
  measure: Parameter.Enum(["in", "inOrAfter"], {
    default: "in",
    description:
      "in: active in the period. inOrAfter: active in the period or in a later period until today.",
  }),
  alreadyHere: Parameter.Enum(["leftOut", "counted"], {
    default: "leftOut",
    description:
      "Whether means, projections and comparisons count cohorts of users who existed before the data begins.",
  }),
  trait: Parameter.optionalName(
    "Splits the cohorts by this trait: plan, acquisitionChannel, companySize, segment, or any other. The 20 values with the most users have groups of their own; all other values share one group.",
  ),
  of: Parameter.Enum(["user", "account"], {
    default: "user",
    description:
      "Whose trait splits the cohorts. An account has its `id` and `name`; other traits are taken from its owner, or without an owner from its newest member.",
  }),
  asOf: Parameter.Enum(["entry", "now"], {
    default: "entry",
    description:
      "entry: the trait at the end of the day on which the user entered the cohort, or its first known value after that. now: the current value.",
  }),
  from: Parameter.optionalDay(
    "The first cohort contains this day. Default: 30 days, 26 weeks or 12 months until today.",
  ),
  to: Parameter.optionalDay("The last cohort contains this day. Default: today."),
  periods: Parameter.positive(
    120,
    26,
    "At most this many periods of each cohort, including the cohort's own.",
  ),
  segment: inSegment("users"),
};

export const RetentionParameters = closedObject(question);

const kinds = ["all", "value", "other", "none"] as const;

const group = {
  kind: Field.oneOf(
    kinds,
    "all: not split. value: users with this value. other: users with one of the less frequent values. none: users without a value.",
  ),
  value: Field.textOrNull("The value of the trait. Null for other kinds than `value`."),
};

const interval = {
  share: Field.share("users ÷ cohortUsers."),
  low: Field.share("Lower end of the share's 95 % interval (Wilson)."),
  high: Field.share("Upper end of the share's 95 % interval (Wilson)."),
};

export const RetentionAnswer = Type.Object({
  cells: listOf("By group, cohort and period; a cohort without users has no cells.", {
    ...group,
    cohortDay: Field.day("The first day of the cohort's period."),
    cohortUsers: Field.count("Users of the cohort."),
    period: Field.count("Periods after the cohort's own."),
    users: Field.count("Users of the cohort who were active in the period (see `measure`)."),
    ...interval,
    isComplete: Field.boolean(
      "Whether the period is over, and with measure=inOrAfter also a churn horizon after the period. If not, the share may still rise.",
    ),
    isAlreadyHere: Field.boolean(
      "Whether the cohort seems to have users who existed before the data begins: with entry=firstEvent, in the first 28 days of data, more than 3 times the usual number of users a day.",
    ),
  }),
  mean: listOf("All complete cells together, each cohort weighted by its size.", {
    ...group,
    period: Field.count("Periods after the cohort's own."),
    cohorts: Field.count("Cohorts whose period is over."),
    cohortUsers: Field.count("Users of these cohorts."),
    users: Field.count("Users of these cohorts who were active in the period."),
    ...interval,
    share: Field.share(
      "users ÷ cohortUsers. With measure=inOrAfter the share never rises: a period with a higher share is averaged with earlier periods, weighted by users (isotonic regression).",
    ),
  }),
  projections: listOf("Projections of retention, with measure=inOrAfter.", {
    ...group,
    completePeriods: Field.count(
      "Periods after the first that at least one cohort has completed. A projection needs five.",
    ),
    fit: objectOrNull("The shifted beta-geometric model; null while fewer than five periods are complete.", {
      alpha: Type.Number(),
      beta: Type.Number(),
      isReliable: Field.boolean(
        "False if the curve does not fit the model: when nobody leaves, for example, or when the model misses the mean by more than 5 points and its interval.",
      ),
      shares: listOf(
        "Projected shares, from the last mean that three cohorts have completed to 12 periods beyond completePeriods. Empty if the fit is not reliable.",
        {
          period: Field.count("Periods after the cohort's own."),
          share: Field.share("The projected share of users who are still active."),
          low: Field.share("Lower end of the share's 95 % interval."),
          high: Field.share("Upper end of the share's 95 % interval."),
        },
      ),
    }),
  }),
});

export const RetentionComparisonParameters = closedObject({
  ...question,
  at: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 119,
      description:
        "The period at which the groups are compared, counted from the cohort's own (0). Below `periods`. Default: the last period that 30 users of every group have completed, apart from groups that never had 30 users.",
    }),
  ),
});

export const RetentionComparisonAnswer = Type.Object({
  at: Field.count("Periods after the cohort's own."),
  groups: listOf("The 12 groups with the most users, the highest share first.", {
    ...group,
    cohorts: Field.count("Cohorts that have completed this period."),
    cohortUsers: Field.count("Users of these cohorts."),
    users: Field.count("Users of these cohorts who were active in the period."),
    share: Field.share("The share, as in `mean` of `/api/retention`."),
    low: Field.share("Lower end of the share's 95 % interval, with users of one account taken together."),
    high: Field.share("Upper end of the share's 95 % interval, with users of one account taken together."),
    designEffect: Type.Number({
      minimum: 1,
      description:
        "Variance of the share by accounts ÷ by users (Rao and Scott 1992). 1 without shared accounts.",
    }),
  }),
  pairs: listOf("Every pair of groups.", {
    first: Field.count("Index in `groups`, from 0, of the group with the higher share."),
    second: Field.count("Index in `groups` of the group with the lower share."),
    difference: Field.number("The higher share − the lower share."),
    low: Field.number("Lower end of the difference's 95 % interval (Newcombe 1998)."),
    high: Field.number("Upper end of the difference's 95 % interval."),
    probability: Field.share(
      "The probability that a difference at least this large comes by chance, corrected for the number of pairs (Holm 1979).",
    ),
    curveProbability: nullable(
      Field.share(
        "The probability that the whole curves differ by chance, by a log-rank test. This is the verdict.",
      ),
      {
        description: "Null with measure=in, where `probability` is the verdict.",
      },
    ),
  }),
});

const cell = {
  cohort: Field.day("Any day of the cohort's period."),
  at: Type.Integer({ minimum: 0, maximum: 119, description: "Periods after the cohort's own." }),
  kind: Parameter.Enum([...kinds], {
    default: "all",
    description: "The group of the cell. With a trait: value, other or none.",
  }),
  value: Type.Optional(Type.String({ maxLength: 256, description: "With kind=value, the value." })),
  retained: Parameter.Boolean({
    default: true,
    description: "True: users who were active in the period. False: users who were not.",
  }),
};

/** The parameters of a cell, and whether its active or its inactive users are asked for. */
export const RetentionCellParameters = closedObject({ ...question, ...cell });

export const RetentionPeopleParameters = closedObject({
  ...question,
  ...cell,
  limit: Parameter.page.limit,
  after: Parameter.Integer({
    minimum: 0,
    maximum: 4_294_967_295,
    default: 0,
    description: "`next` of the previous page.",
  }),
});

export const RetentionPeopleAnswer = Type.Object({
  cohortUsers: Field.count("Users of the cohort."),
  users: Field.count("Users of the cohort who were active in the period `at`."),
  people: listOf("The user who was identified first comes first.", {
    userId: Type.String(),
    email: Field.textOrNull("Null until it is known."),
    name: nullable(Type.String()),
    lastSeenDay: nullable(
      Field.day(
        "The day of the last engagement event, today at the latest. Null without an engagement event.",
      ),
    ),
  }),
  next: nullable(Type.Integer(), {
    description: "Send it as `after` to get the next page. Null on the last page.",
  }),
});
