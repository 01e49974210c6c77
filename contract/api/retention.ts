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
    "The event that a user has to do to have come back; any, when it is left out.",
  ),
  period: Parameter.Enum(["day", "week", "month"], {
    default: "week",
    description: "In the organization's timezone.",
  }),
  weekStart: Parameter.weekStart,
  measure: Parameter.Enum(["in", "inOrAfter"], {
    default: "in",
    description: "Active in the period, or in it or any later one until today.",
  }),
  alreadyHere: Parameter.Enum(["leftOut", "counted"], {
    default: "leftOut",
    description:
      "Whether cohorts of users who were there before the data begins count in means, projections and comparisons.",
  }),
  trait: Parameter.optionalName(
    "Splits the cohorts by this trait: plan, acquisitionChannel, companySize, segment, or any other. The 20 values with the most users stand for themselves, the others together.",
  ),
  of: Parameter.Enum(["user", "account"], {
    default: "user",
    description:
      "Owner of the trait. An account has an `id` and a `name`; any other trait is its owner's, and without an owner its newest member's.",
  }),
  asOf: Parameter.Enum(["entry", "now"], {
    default: "entry",
    description:
      "The trait as it was at the end of the day on which the user entered the cohort (before anything was known of the user: the first known value), or as it is now.",
  }),
  from: Parameter.optionalDay(
    "The first cohort is that of this day. 30 days, 26 weeks or 12 months until today, when it is left out.",
  ),
  to: Parameter.optionalDay("The last cohort is that of this day; today's, when it is left out."),
  periods: Parameter.positive(120, 26, "Periods shown of a cohort at most, its own among them."),
  segment: inSegment("users"),
};

export const RetentionParameters = closedObject(question);

const kinds = ["all", "value", "other", "none"] as const;

const group = {
  kind: Field.oneOf(
    kinds,
    "all: not split; value: users with this value; other: with one of the values that few have; none: with none.",
  ),
  value: Field.textOrNull("The value of the trait; null but for the kind value."),
};

const interval = {
  share: Field.share("users / cohortUsers"),
  low: Field.share("Of the share's 95 % interval, by Wilson."),
  high: Field.share("Of the share's 95 % interval, by Wilson."),
};

export const RetentionAnswer = Type.Object({
  cells: listOf("By group, cohort and period; a cohort without users has no cells.", {
    ...group,
    cohortDay: Field.day("The first day of the cohort's period."),
    cohortUsers: Field.count("Users of the cohort."),
    period: Field.count("Periods after the cohort's own."),
    users: Field.count("Users of the cohort who were active then."),
    ...interval,
    isComplete: Field.boolean(
      "Whether the period is over, and with measure=inOrAfter also a churn horizon after it; else the figure may still rise.",
    ),
    isAlreadyHere: Field.boolean(
      "Whether the cohort is of users who were there before the data begins: by the first event, within the first 28 days of data, over 3 times the usual number a day.",
    ),
  }),
  mean: listOf("Complete cells together, each cohort with the weight of its size.", {
    ...group,
    period: Field.count("Periods after the cohort's own."),
    cohorts: Field.count("Cohorts whose period is over."),
    cohortUsers: Field.count("Their users."),
    users: Field.count("Those of them who were active then."),
    ...interval,
    share: Field.share(
      "users / cohortUsers. With measure=inOrAfter it never rises: a period with a higher share is taken together with those before it, weighted by users (isotonic regression).",
    ),
  }),
  projections: listOf("Of measure=inOrAfter.", {
    ...group,
    completePeriods: Field.count("Periods after the first that some cohort has completed; five are needed."),
    fit: objectOrNull("The shifted beta-geometric model; null while fewer than five periods are complete.", {
      alpha: Type.Number(),
      beta: Type.Number(),
      isReliable: Field.boolean(
        "False when the curve has no shape of this family, as when nobody leaves, or the model misses the mean by more than 5 points and its interval.",
      ),
      shares: listOf(
        "From the last complete share of the mean that three cohorts know, 12 periods beyond completePeriods; empty when the fit is not reliable.",
        {
          period: Field.count("Periods after the cohort's own."),
          share: Field.share("Still there."),
          low: Field.share("Of its 95 % interval."),
          high: Field.share("Of its 95 % interval."),
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
        "Periods after the cohort's own at which the groups are compared. Below `periods`. Default: the last that 30 users of every group have completed. Groups that never had 30 do not count for it.",
    }),
  ),
});

export const RetentionComparisonAnswer = Type.Object({
  at: Field.count("Periods after the cohort's own."),
  groups: listOf("The 12 groups with the most users, the highest share first.", {
    ...group,
    cohorts: Field.count("Cohorts that have completed this period."),
    cohortUsers: Field.count("Their users."),
    users: Field.count("Those of them who were active then."),
    share: Field.share("As in the mean row of `/api/retention`."),
    low: Field.share("Of the share's 95 % interval, with users of one account taken together."),
    high: Field.share("Of the share's 95 % interval, with users of one account taken together."),
    designEffect: Type.Number({
      minimum: 1,
      description:
        "Variance of the share by accounts ÷ by users (Rao and Scott 1992). 1 without shared accounts.",
    }),
  }),
  pairs: listOf("Every two groups.", {
    first: Field.count("The place in `groups`, from 0, of the group with the higher share."),
    second: Field.count("The place in `groups` of the other."),
    difference: Field.number("Of the two shares."),
    low: Field.number("Of its 95 % interval (Newcombe 1998)."),
    high: Field.number("Of its 95 % interval."),
    probability: Field.share(
      "That a difference at least as large comes by chance, corrected for the number of pairs (Holm 1979).",
    ),
    curveProbability: nullable(
      Field.share("The same of the whole curves, by a log-rank test: the verdict."),
      {
        description: "Of measure=inOrAfter. Null with measure=in, of which `probability` is the verdict.",
      },
    ),
  }),
});

const cell = {
  cohort: Field.day("A day of the cohort's period."),
  at: Type.Integer({ minimum: 0, maximum: 119, description: "Periods after the cohort's own." }),
  kind: Parameter.Enum([...kinds], { default: "all", description: "With a trait: value, other or none." }),
  value: Type.Optional(Type.String({ maxLength: 256, description: "With kind=value, the value." })),
  retained: Parameter.Boolean({
    default: true,
    description: "Those who were active then, or, when false, those who were not.",
  }),
};

/** The users of a cell: those who were active, or those who were not. */
export const RetentionCellParameters = closedObject({ ...question, ...cell });

export const RetentionPeopleParameters = closedObject({
  ...question,
  ...cell,
  limit: Parameter.page.limit,
  after: Parameter.Integer({
    minimum: 0,
    maximum: 4_294_967_295,
    default: 0,
    description: "`next` of the answer before, to read on.",
  }),
});

export const RetentionPeopleAnswer = Type.Object({
  cohortUsers: Field.count("Users of the cohort."),
  users: Field.count("Those of them who were active in the period of the question."),
  people: listOf("In the order in which they became known.", {
    userId: Type.String(),
    email: Field.textOrNull("Null until it is known."),
    name: nullable(Type.String()),
    lastSeenDay: nullable(Field.day("The day of the last engagement event, today at the latest.")),
  }),
  next: nullable(Type.Integer(), {
    description: "To be sent as `after` for those who follow; null at the end.",
  }),
});
