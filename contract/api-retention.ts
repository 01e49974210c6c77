/** The questions about retention cohorts as JSON Schema: parameters and answers. */
import Type from "typebox";
import { count, day, nullable } from "./api.ts";
import { limits } from "./limits.ts";

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

const eventName = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: limits.eventNameCharacters, description }));

const question = {
  entry: Type.Enum(["firstEvent", "signUp", "event"], {
    default: "firstEvent",
    description:
      "What makes a user a member of a cohort: the first event, sign-up (the trait createdAt, created_at or signedUpAt if it is a valid date, else the first identify), or the first `entryEvent`.",
  }),
  entryEvent: eventName("With entry=event, the event's name."),
  returnEvent: eventName("The event that a user has to do to have come back; any, when it is left out."),
  period: Type.Enum(["day", "week", "month"], {
    default: "week",
    description: "In the organization's timezone.",
  }),
  weekStart: Type.Optional(
    Type.Enum([1, 7], {
      description:
        "With which day a week begins: 1 Monday, 7 Sunday. Default: as the organization has set it.",
    }),
  ),
  measure: Type.Enum(["in", "inOrAfter"], {
    default: "in",
    description: "Active in the period, or in it or any later one until today.",
  }),
  trait: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "Splits the cohorts by this trait: plan, acquisitionChannel, companySize, segment, or any other. The 20 values with the most users stand for themselves, the others together.",
    }),
  ),
  of: Type.Enum(["user", "account"], {
    default: "user",
    description:
      "Whose trait. An account has an `id` and a `name`; any other trait is its owner's, and without an owner its newest member's.",
  }),
  asOf: Type.Enum(["entry", "now"], {
    default: "entry",
    description:
      "The trait as it was at the end of the day on which the user entered the cohort (before anything was known of the user: the first known value), or as it is now.",
  }),
  from: Type.Optional(
    day(
      "The first cohort is that of this day. 30 days, 26 weeks or 12 months until today, when it is left out.",
    ),
  ),
  to: Type.Optional(day("The last cohort is that of this day; today's, when it is left out.")),
  periods: Type.Integer({
    minimum: 1,
    maximum: 120,
    default: 26,
    description: "Periods shown of a cohort at most, its own among them.",
  }),
};

export const RetentionParameters = Type.Object(question, { additionalProperties: false });

const kinds = ["all", "value", "other", "none"] as const;

const group = {
  kind: Type.Enum([...kinds], {
    description:
      "all: not split; value: users with this value; other: with one of the values that few have; none: with none.",
  }),
  value: nullable(Type.String(), { description: "The value of the trait; null but for the kind value." }),
};

const interval = {
  share: share("users / cohortUsers"),
  low: share("Of the share's 95 % interval, by Wilson."),
  high: share("Of the share's 95 % interval, by Wilson."),
};

export const RetentionAnswer = Type.Object({
  cells: Type.Array(
    Type.Object({
      ...group,
      cohortDay: day("The first day of the cohort's period."),
      cohortUsers: count("Users of the cohort."),
      period: count("Periods after the cohort's own."),
      users: count("Users of the cohort who were active then."),
      ...interval,
      isComplete: Type.Boolean({
        description: "Whether the period is over; else the figure may still rise.",
      }),
    }),
    { description: "By group, cohort and period; a cohort without users has no cells." },
  ),
  mean: Type.Array(
    Type.Object({
      ...group,
      period: count("Periods after the cohort's own."),
      cohorts: count("Cohorts whose period is over."),
      cohortUsers: count("Their users."),
      users: count("Those of them who were active then."),
      ...interval,
    }),
    { description: "Complete cells together, each cohort with the weight of its size." },
  ),
  projections: Type.Array(
    Type.Object({
      ...group,
      completePeriods: count("Periods after the first that some cohort has completed; five are needed."),
      fit: nullable(
        Type.Object({
          alpha: Type.Number(),
          beta: Type.Number(),
          isReliable: Type.Boolean({
            description: "False when the curve has no shape of this family, as when nobody leaves.",
          }),
          shares: Type.Array(Type.Number(), {
            description: "Still there after 0, 1 … periods; those beyond completePeriods are projected.",
          }),
        }),
        { description: "The shifted beta-geometric model; null while fewer than five periods are complete." },
      ),
    }),
    { description: "Of measure=inOrAfter." },
  ),
});

export const RetentionPeopleParameters = Type.Object(
  {
    ...question,
    cohort: day("A day of the cohort's period."),
    at: Type.Integer({ minimum: 0, maximum: 119, description: "Periods after the cohort's own." }),
    kind: Type.Enum([...kinds], { default: "all", description: "With a trait: value, other or none." }),
    value: Type.Optional(Type.String({ maxLength: 256, description: "With kind=value, the value." })),
    retained: Type.Boolean({
      default: true,
      description: "Those who were active then, or, when false, those who were not.",
    }),
    limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: "At most this many." }),
    after: Type.Integer({
      minimum: 0,
      maximum: 4_294_967_295,
      default: 0,
      description: "`next` of the answer before, to read on.",
    }),
  },
  { additionalProperties: false },
);

export const RetentionPeopleAnswer = Type.Object({
  cohortUsers: count("Users of the cohort."),
  users: count("Those of them who were active in the period of the question."),
  people: Type.Array(
    Type.Object({
      userId: Type.String(),
      email: nullable(Type.String(), { description: "Null until it is known." }),
      name: nullable(Type.String()),
      lastSeenDay: nullable(day("The day of the last event, today at the latest.")),
    }),
    { description: "In the order in which they became known." },
  ),
  next: nullable(Type.Integer(), {
    description: "To be sent as `after` for those who follow; null at the end.",
  }),
});
