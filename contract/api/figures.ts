/** The JSON API's figures of engagement as JSON Schema: parameters and answers. */
import Type from "typebox";
import { eventLabel } from "./api.ts";
import { closedObject, Field, inSegment, listOf, nullable, objects, Parameter } from "./schema.ts";
import { kindParameter } from "./score-parts.ts";

const to = Parameter.optionalDay(
  "The last day that counts, not after today. Default: today in the organization's timezone.",
);
const days = (byDefault: number) =>
  Parameter.positive(800, byDefault, "This many days, the last of them `to`.");
const limit = Parameter.positive(1_000, 1_000, "At most this many events.");
const segment = inSegment("users");
const event = Parameter.anyText("One event's name; empty for all events.");

const periodParameters = {
  period: Parameter.Enum(["day", "week", "month"], { default: "week", description: "Subject of one row." }),
  periods: Parameter.positive(800, 12, "This many calendar periods, the last of them that of `to`."),
  weekStart: Parameter.weekStart,
  to,
};

const periodColumns = {
  fromDay: Field.day("The first day of the period."),
  toDay: Field.day("Its last day, or `to` when the period goes on after it."),
  isComplete: Field.boolean("Whether all days of the period count."),
};

export const ActiveUsersParameters = closedObject({ days: days(30), to, segment });

export const ActiveUsersAnswer = Type.Object({
  days: objects({
    day: Field.day("In the organization's timezone."),
    daily: Field.count(
      "Users with an engagement event on this day (DAU). Passive events make nobody active.",
    ),
    weekly: Field.count("Users who were active within the 7 days that end with this one (WAU)."),
    monthly: Field.count("Users who were active within the 30 days that end with this one (MAU)."),
    stickiness: nullable(
      Field.share(
        "The mean of daily over the 28 days that end with this one, from the first active day of the 30, ÷ monthly; null when nobody was active.",
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
  activeDays: listOf("28 rows.", {
    activeDays: Type.Integer({ minimum: 1, maximum: 28 }),
    users: Field.count("Users who were active on exactly this many of the 28 days."),
    share: nullable(Field.share("Of all users who were active within them; null when there is none.")),
  }),
});

export const LifecycleParameters = closedObject({ ...periodParameters, segment });

export const LifecycleAnswer = Type.Object({
  periods: listOf("The oldest first.", {
    ...periodColumns,
    active: Field.count("Users who were active in the period: new, returning and resurrected ones together."),
    new: Field.count("Their first activity ever lies in the period."),
    returning: Field.count("They were active in the period before, too."),
    resurrected: Field.count("They were active before, but not in the period before."),
    dormant: Field.count("They were active in the period before, and not in this one (so far)."),
  }),
});

export const AdoptionParameters = closedObject({ days: days(28), to, limit, segment });

export const AdoptionAnswer = Type.Object({
  activeUsers: Field.count("Users who were active within the days: shares are of them."),
  events: listOf("Those of the most users first.", {
    event: Type.String(),
    label: eventLabel,
    users: Field.count("Users who did it within the days."),
    share: Field.share("Of the users who were active within them."),
    firstTimeUsers: Field.count("Users who did it within the days and never before."),
    medianDaysToFirstUse: nullable(
      Type.Number({
        minimum: 0,
        description:
          "Of the first-time users: from the day of their first activity to that of the first use.",
      }),
    ),
  }),
});

export const EventNamesParameters = closedObject({
  search: Parameter.anyText("Only names that hold this text, whatever the case."),
  sort: Parameter.Enum(["count", "users", "event", "firstDay", "lastDay"], { default: "count" }),
  order: Parameter.order,
  limit,
  segment,
});

export const EventNamesAnswer = Type.Object({
  total: Field.count("Names that were looked for, whatever the limit."),
  events: listOf("As they are sorted; by default those done most often first.", {
    event: Type.String(),
    label: eventLabel,
    count: Field.count("How often it was done."),
    users: Field.count("By how many people."),
    firstDay: Field.day("When it was done first."),
    lastDay: Field.day("When it was done last."),
  }),
});

export const EventsOverTimeParameters = closedObject({
  event,
  breakdown: Parameter.Enum(["none", "event", "property", "trait"], {
    default: "none",
    description:
      "Split by the event's name, by the value of a property, or by the value that a trait of the user has now.",
  }),
  key: Parameter.optionalName("The property or trait to split by."),
  top: Parameter.positive(50, 20, "So many of the largest groups are shown by themselves."),
  ...periodParameters,
  segment,
});

export const EventsOverTimeAnswer = Type.Object({
  periods: listOf("A row for every period and group: the oldest first, in it the largest group first.", {
    ...periodColumns,
    value: Field.textOrNull(
      "The event's name, or the value, cut off after 256 characters; what is no string as its JSON. Null where there is none.",
    ),
    label: eventLabel,
    isRest: Field.boolean("Everything that is not among the largest groups."),
    count: Field.count("How often events were done."),
    users: Field.count("By how many people."),
  }),
});

/** So many events are looked at for the names of their properties. */
export const maxLookedAtEvents = 100_000;

export const PropertyNamesParameters = closedObject({
  event,
  days: days(91),
  to,
  limit: Parameter.positive(200, 100, "At most this many properties, those of the most events."),
});

export const PropertyNamesAnswer = Type.Object({
  properties: listOf("Those of the most events first.", {
    property: Type.String(),
    events: Field.count(
      `Events that have it, of those that were looked at: at most ${maxLookedAtEvents.toLocaleString("en")}.`,
    ),
  }),
});

export const UsageIntervalsParameters = closedObject({ to, segment });

const gapDays = (description: string) => nullable(Type.Integer({ minimum: 1, description }));

export const UsageIntervalsAnswer = Type.Object({
  gaps: Field.count("Gaps between active days of the same user within 26 weeks."),
  percentiles: Type.Object({
    p10: gapDays("A tenth of the gaps is at most this many days long."),
    p25: gapDays("A quarter."),
    p50: gapDays("Half of them."),
    p75: gapDays("Three quarters."),
    p90: gapDays("Nine tenths."),
    p95: gapDays("All but one of twenty."),
    p99: gapDays("All but one of a hundred."),
  }),
  advisedChurnHorizonDays: nullable(
    Type.Enum([7, 14, 28, 56, 84], {
      description: "p90 rounded up to a horizon that can be set; null with fewer than 100 gaps.",
    }),
  ),
  intervals: listOf("The shortest first; lengths without a gap are left out.", {
    days: Type.Integer({
      minimum: 1,
      description: "From one active day to the next; 1 is the very next day.",
    }),
    gaps: Field.count("Gaps of this length."),
    share: Field.share("Of all gaps."),
    cumulativeShare: Field.share("Of all gaps, those of this length and the shorter ones."),
  }),
});

/** Traits with more values than this are not told value by value: they name users and split nobody. */
export const maxCountedValues = 100;

export const TraitsParameters = closedObject({
  kind: kindParameter,
  limit: Parameter.positive(200, 100, "At most this many traits, those of the most users or accounts."),
});

export const TraitsAnswer = Type.Object({
  traits: listOf(
    "Those of the most users first. With kind=account: attributes, and accounts instead of users.",
    {
      trait: Type.String(),
      users: Field.count("Users who have it now; null is no value."),
      distinctValues: nullable(Type.Integer(), {
        description: `How many different values it has now; null when they are more than ${maxCountedValues}.`,
      }),
      values: listOf(
        `The 20 values that most users have, as text; none when they are more than ${maxCountedValues}.`,
        { value: Type.String(), users: Field.count("Users with this value now.") },
      ),
    },
  ),
});

export const DeparturesAnswer = Type.Object({
  events: listOf(
    "Events that no setting explains yet. Answer with `churnTargets`, `passiveEvents` or `ordinaryEvents`. Most users first, at most 20.",
    {
      event: Type.String(),
      label: eventLabel,
      users: Field.count("Users who sent it, without those who are excluded from figures."),
      isPassive: Field.boolean(
        "Whether it counts as no activity until there is an answer: its name is that of a departure, as `subscription_canceled`. Other names with `cancel` are only asked about.",
      ),
    },
  ),
  subscriptions: nullable(
    Field.count(
      "How many subscriptions billing events have told of, when the churn target `subscription` is suggested for accounts: from 10 on, until another one than silence or a billing event is set. Else null.",
    ),
  ),
});
