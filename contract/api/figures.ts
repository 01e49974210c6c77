/** The JSON API's figures of engagement as JSON Schema: parameters and answers. */
import Type from "typebox";
import { eventLabel } from "./api.ts";
import { closedObject, Field, inSegment, listOf, nullable, objects, Parameter } from "./schema.ts";
import { kindParameter } from "./score-parts.ts";

const to = Parameter.optionalDay(
  "The last day that counts, not after today. Default: today in the organization's timezone.",
);
const days = (byDefault: number) =>
  Parameter.positive(800, byDefault, "This many days, which end with `to`.");
const limit = Parameter.positive(1_000, 1_000, "At most this many events.");
const segment = inSegment("users");
const event = Parameter.anyText("One event's name; empty for all events.");

const periodParameters = {
  period: Parameter.Enum(["day", "week", "month"], {
    default: "week",
    description: "The period of one row.",
  }),
  periods: Parameter.positive(800, 12, "This many calendar periods. The last period contains `to`."),
  weekStart: Parameter.weekStart,
  to,
};

const periodColumns = {
  fromDay: Field.day("The first day of the period."),
  toDay: Field.day("The last day of the period, or `to` if the period goes on after it."),
  isComplete: Field.boolean("Whether the whole period is counted: `to` is not before its last day."),
};

export const ActiveUsersParameters = closedObject({ days: days(30), to, segment });

export const ActiveUsersAnswer = Type.Object({
  days: objects({
    day: Field.day("The day in the organization's timezone."),
    daily: Field.count(
      "Users with an engagement event on this day (DAU). Passive events make nobody active.",
    ),
    weekly: Field.count("Users who were active within the 7 days that end with this day (WAU)."),
    monthly: Field.count("Users who were active within the 30 days that end with this day (MAU)."),
    stickiness: nullable(
      Field.share(
        "The mean of `daily` over the 28 days that end with this day, but from the first active day of the 30, ÷ `monthly`. Null if nobody was active.",
      ),
    ),
  }),
});

export const ActiveDaysParameters = closedObject({
  to: Parameter.optionalDay(
    "The last of the 28 days, not after today. Default: yesterday, because today is not over.",
  ),
  segment,
});

export const ActiveDaysAnswer = Type.Object({
  users: Field.count("Users who were active within the 28 days."),
  activeDays: listOf("28 rows, one for each number of active days.", {
    activeDays: Type.Integer({ minimum: 1, maximum: 28 }),
    users: Field.count("Users who were active on exactly this many of the 28 days."),
    share: nullable(
      Field.share("The share of all users who were active within the 28 days. Null if nobody was active."),
    ),
  }),
});

export const LifecycleParameters = closedObject({ ...periodParameters, segment });

export const LifecycleAnswer = Type.Object({
  periods: listOf("The oldest first.", {
    ...periodColumns,
    active: Field.count(
      "Users who were active in the period: new, returning and resurrected users together.",
    ),
    new: Field.count("Users whose first activity ever is in the period."),
    returning: Field.count("Users who were also active in the period before."),
    resurrected: Field.count("Users who were active earlier, but not in the period before."),
    dormant: Field.count("Users who were active in the period before, and not in this period (so far)."),
  }),
});

export const AdoptionParameters = closedObject({ days: days(28), to, limit, segment });

export const AdoptionAnswer = Type.Object({
  activeUsers: Field.count("Users who were active within the days. Shares are shares of these users."),
  events: listOf("The event of the most users first.", {
    event: Type.String(),
    label: eventLabel,
    users: Field.count("Users who did the event within the days."),
    share: Field.share("users ÷ activeUsers."),
    firstTimeUsers: Field.count("Users who did the event within the days and never before."),
    medianDaysToFirstUse: nullable(
      Type.Number({
        minimum: 0,
        description:
          "Median days of first-time users from their first activity to the first time they did the event. Null without first-time users.",
      }),
    ),
  }),
});

export const EventNamesParameters = closedObject({
  search: Parameter.anyText("Only names that contain this text, in upper or lower case."),
  sort: Parameter.Enum(["count", "users", "event", "firstDay", "lastDay"], { default: "count" }),
  order: Parameter.order,
  limit,
  segment,
});

export const EventNamesAnswer = Type.Object({
  total: Field.count("Names that match, whatever the limit."),
  events: listOf("In the order of `sort`; by default the most frequent event first.", {
    event: Type.String(),
    label: eventLabel,
    count: Field.count("How often the event was done."),
    users: Field.count("Number of users who did it."),
    firstDay: Field.day("The first day of the event."),
    lastDay: Field.day("The last day of the event."),
  }),
});

export const EventsOverTimeParameters = closedObject({
  event,
  breakdown: Parameter.Enum(["none", "event", "property", "trait"], {
    default: "none",
    description:
      "Split by the event's name, by the value of a property, or by the current value of the user's trait.",
  }),
  key: Parameter.optionalName("The property or trait to split by."),
  top: Parameter.positive(
    50,
    20,
    "This many of the largest groups have rows of their own; all other groups share one row.",
  ),
  ...periodParameters,
  segment,
});

export const EventsOverTimeAnswer = Type.Object({
  periods: listOf(
    "A row for every period and group: the oldest period first, and in each period the largest group first.",
    {
      ...periodColumns,
      value: Field.textOrNull(
        "The group: the event's name or the value, cut off after 256 characters. Values that are no strings are shown as JSON. Null for users or events without a value.",
      ),
      label: eventLabel,
      isRest: Field.boolean("Whether the row is of all groups that are not among the largest."),
      count: Field.count("How often events were done."),
      users: Field.count("Number of users who did it."),
    },
  ),
});

/** The most events that are read for the names of their properties. */
export const maxLookedAtEvents = 100_000;

export const PropertyNamesParameters = closedObject({
  event,
  days: days(91),
  to,
  limit: Parameter.positive(200, 100, "At most this many properties, the most frequent first."),
});

export const PropertyNamesAnswer = Type.Object({
  properties: listOf("The most frequent property first.", {
    property: Type.String(),
    events: Field.count(
      `Events with the property, of the events that were read: at most ${maxLookedAtEvents.toLocaleString("en")}.`,
    ),
  }),
});

export const UsageIntervalsParameters = closedObject({ to, segment });

const gapDays = (description: string) => nullable(Type.Integer({ minimum: 1, description }));

export const UsageIntervalsAnswer = Type.Object({
  gaps: Field.count("Gaps between active days of the same user within 26 weeks."),
  percentiles: Type.Object({
    p10: gapDays("A tenth of the gaps is at most this many days long."),
    p25: gapDays("A quarter of the gaps is at most this long."),
    p50: gapDays("Half of the gaps are at most this long."),
    p75: gapDays("Three quarters of the gaps are at most this long."),
    p90: gapDays("90 % of the gaps are at most this long."),
    p95: gapDays("95 % of the gaps are at most this long."),
    p99: gapDays("99 % of the gaps are at most this long."),
  }),
  advisedChurnHorizonDays: nullable(
    Type.Enum([7, 14, 28, 56, 84], {
      description:
        "The recommended churn horizon: p90, rounded up to a horizon that can be set. Null with fewer than 100 gaps.",
    }),
  ),
  intervals: listOf("The shortest first; lengths without a gap are left out.", {
    days: Type.Integer({
      minimum: 1,
      description: "Days from one active day to the next. 1: the very next day.",
    }),
    gaps: Field.count("Gaps of this length."),
    share: Field.share("The share of all gaps."),
    cumulativeShare: Field.share("The share of all gaps that are this long or shorter."),
  }),
});

/** Traits with more values than this are not listed value by value: they name users and split nobody. */
export const maxCountedValues = 100;

export const TraitsParameters = closedObject({
  kind: kindParameter,
  limit: Parameter.positive(
    200,
    100,
    "At most this many traits, the traits of the most users or accounts first.",
  ),
});

export const TraitsAnswer = Type.Object({
  traits: listOf(
    "The trait of the most users first. With kind=account: attributes and accounts, in place of traits and users.",
    {
      trait: Type.String(),
      users: Field.count("Users who have a value of the trait now. Null does not count as a value."),
      distinctValues: nullable(Type.Integer(), {
        description: `Number of different values now. Null with more than ${maxCountedValues} values.`,
      }),
      values: listOf(
        `The 20 most frequent values, as text. Empty with more than ${maxCountedValues} values.`,
        { value: Type.String(), users: Field.count("Users with this value now.") },
      ),
    },
  ),
});

export const DeparturesAnswer = Type.Object({
  events: listOf(
    "Events that may mean churn and that no setting explains yet. Answer with `churnTargets`, `passiveEvents` or `ordinaryEvents`. At most 20, the event of the most users first.",
    {
      event: Type.String(),
      label: eventLabel,
      users: Field.count("Users who sent the event, without excluded users."),
      isPassive: Field.boolean(
        "Whether the event counts as no activity until it is answered, because its name means a departure, such as `subscription_canceled`. Other names with `cancel` count as activity meanwhile.",
      ),
    },
  ),
  subscriptions: nullable(
    Field.count(
      "The number of known subscriptions, if the churn target `subscription` is suggested for accounts: with 10 subscriptions or more, while the target is silence or a billing event. Otherwise null.",
    ),
  ),
});
