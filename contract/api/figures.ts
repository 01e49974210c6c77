/** The JSON API's figures of engagement as JSON Schema: parameters and answers. */
import Type from "typebox";
import { closed, count, day, eventLabel, nullable, Parameter, share } from "./api.ts";

const to = Type.Optional(
  Type.String({
    format: "date",
    description: "The last day that counts, not after today. Default: today in the organization's timezone.",
  }),
);

const days = (value: number) =>
  Parameter.Integer({
    minimum: 1,
    maximum: 800,
    default: value,
    description: "This many days, the last of them `to`.",
  });

const limit = (what: string, value = 1_000) =>
  Parameter.Integer({
    minimum: 1,
    maximum: 1_000,
    default: value,
    description: `At most this many ${what}.`,
  });

const periodParameters = {
  period: Parameter.Enum(["day", "week", "month"], {
    default: "week",
    description: "Subject of one row.",
  }),
  periods: Parameter.Integer({
    minimum: 1,
    maximum: 800,
    default: 12,
    description: "This many calendar periods, the last of them that of `to`.",
  }),
  weekStart: Type.Optional(
    Type.Enum([1, 7], {
      description:
        "With which day a week begins: 1 Monday, 7 Sunday. Default: as the organization has set it.",
    }),
  ),
  to,
};

const periodColumns = {
  fromDay: day("The first day of the period."),
  toDay: day("Its last day, or `to` when the period goes on after it."),
  isComplete: Type.Boolean({ description: "Whether all days of the period count." }),
};

export const ActiveUsersParameters = Type.Object({ days: days(30), to }, closed);

export const ActiveUsersAnswer = Type.Object({
  days: Type.Array(
    Type.Object({
      day: day("In the organization's timezone."),
      daily: count("Users with an engagement event on this day (DAU). Passive events make nobody active."),
      weekly: count("Users who were active within the 7 days that end with this one (WAU)."),
      monthly: count("Users who were active within the 30 days that end with this one (MAU)."),
      stickiness: nullable(
        share(
          "The mean of daily over the 28 days that end with this one, from the first active day of the 30, ÷ monthly; null when nobody was active.",
        ),
      ),
    }),
  ),
});

export const ActiveDaysParameters = Type.Object(
  {
    to: Type.Optional(
      Type.String({
        format: "date",
        description:
          "The last of the 28 days, not after today. Default: yesterday, because today is not over.",
      }),
    ),
  },
  closed,
);

export const ActiveDaysAnswer = Type.Object({
  users: count("Users who were active within the 28 days."),
  activeDays: Type.Array(
    Type.Object({
      activeDays: Type.Integer({ minimum: 1, maximum: 28 }),
      users: count("Users who were active on exactly this many of the 28 days."),
      share: nullable(share("Of all users who were active within them; null when there is none.")),
    }),
    { description: "28 rows." },
  ),
});

export const LifecycleParameters = Type.Object(periodParameters, closed);

export const LifecycleAnswer = Type.Object({
  periods: Type.Array(
    Type.Object({
      ...periodColumns,
      active: count("Users who were active in the period: new, returning and resurrected ones together."),
      new: count("Their first activity ever lies in the period."),
      returning: count("They were active in the period before, too."),
      resurrected: count("They were active before, but not in the period before."),
      dormant: count("They were active in the period before, and not in this one (so far)."),
    }),
    { description: "The oldest first." },
  ),
});

export const AdoptionParameters = Type.Object({ days: days(28), to, limit: limit("events") }, closed);

export const AdoptionAnswer = Type.Object({
  activeUsers: count("Users who were active within the days: shares are of them."),
  events: Type.Array(
    Type.Object({
      event: Type.String(),
      label: eventLabel,
      users: count("Users who did it within the days."),
      share: share("Of the users who were active within them."),
      firstTimeUsers: count("Users who did it within the days and never before."),
      medianDaysToFirstUse: nullable(
        Type.Number({
          minimum: 0,
          description:
            "Of the first-time users: from the day of their first activity to that of the first use.",
        }),
      ),
    }),
    { description: "Those of the most users first." },
  ),
});

export const EventNamesParameters = Type.Object(
  {
    search: Parameter.String({
      maxLength: 256,
      default: "",
      description: "Only names that hold this text, whatever the case.",
    }),
    sort: Parameter.Enum(["count", "users", "event", "firstDay", "lastDay"], { default: "count" }),
    order: Parameter.Enum(["ascending", "descending"], { default: "descending" }),
    limit: limit("events"),
  },
  closed,
);

export const EventNamesAnswer = Type.Object({
  total: count("Names that were looked for, whatever the limit."),
  events: Type.Array(
    Type.Object({
      event: Type.String(),
      label: eventLabel,
      count: count("How often it was done."),
      users: count("By how many people."),
      firstDay: day("When it was done first."),
      lastDay: day("When it was done last."),
    }),
    { description: "As they are sorted; by default those done most often first." },
  ),
});

export const EventsOverTimeParameters = Type.Object(
  {
    event: Parameter.String({
      maxLength: 256,
      default: "",
      description: "One event's name; empty for all events.",
    }),
    breakdown: Parameter.Enum(["none", "event", "property", "trait"], {
      default: "none",
      description:
        "Split by the event's name, by the value of a property, or by the value that a trait of the user has now.",
    }),
    key: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "The property or trait to split by." }),
    ),
    top: Parameter.Integer({
      minimum: 1,
      maximum: 50,
      default: 20,
      description: "So many of the largest groups are shown by themselves.",
    }),
    ...periodParameters,
  },
  closed,
);

export const EventsOverTimeAnswer = Type.Object({
  periods: Type.Array(
    Type.Object({
      ...periodColumns,
      value: nullable(Type.String(), {
        description:
          "The event's name, or the value, cut off after 256 characters; what is no string as its JSON. Null where there is none.",
      }),
      label: eventLabel,
      isRest: Type.Boolean({ description: "Everything that is not among the largest groups." }),
      count: count("How often events were done."),
      users: count("By how many people."),
    }),
    { description: "A row for every period and group: the oldest first, in it the largest group first." },
  ),
});

/** So many events are looked at for the names of their properties. */
export const maxLookedAtEvents = 100_000;

export const PropertyNamesParameters = Type.Object(
  {
    event: Parameter.String({
      maxLength: 256,
      default: "",
      description: "One event's name; empty for all events.",
    }),
    days: days(91),
    to,
    limit: Parameter.Integer({
      minimum: 1,
      maximum: 200,
      default: 100,
      description: "At most this many properties, those of the most events.",
    }),
  },
  closed,
);

export const PropertyNamesAnswer = Type.Object({
  properties: Type.Array(
    Type.Object({
      property: Type.String(),
      events: count(
        `Events that have it, of those that were looked at: at most ${maxLookedAtEvents.toLocaleString("en")}.`,
      ),
    }),
    { description: "Those of the most events first." },
  ),
});

export const UsageIntervalsParameters = Type.Object({ to }, closed);

const gapDays = (description: string) => nullable(Type.Integer({ minimum: 1, description }));

export const UsageIntervalsAnswer = Type.Object({
  gaps: count("Gaps between active days of the same user within 26 weeks."),
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
  intervals: Type.Array(
    Type.Object({
      days: Type.Integer({
        minimum: 1,
        description: "From one active day to the next; 1 is the very next day.",
      }),
      gaps: count("Gaps of this length."),
      share: share("Of all gaps."),
      cumulativeShare: share("Of all gaps, those of this length and the shorter ones."),
    }),
    { description: "The shortest first; lengths without a gap are left out." },
  ),
});

/** Traits with more values than this are not told value by value: they name users and split nobody. */
export const maxCountedValues = 100;

export const TraitsParameters = Type.Object(
  {
    limit: Parameter.Integer({
      minimum: 1,
      maximum: 200,
      default: 100,
      description: "At most this many traits, those of the most users.",
    }),
  },
  closed,
);

export const TraitsAnswer = Type.Object({
  traits: Type.Array(
    Type.Object({
      trait: Type.String(),
      users: count("Users who have it now; null is no value."),
      distinctValues: nullable(Type.Integer(), {
        description: `How many different values it has now; null when they are more than ${maxCountedValues}.`,
      }),
      values: Type.Array(Type.Object({ value: Type.String(), users: count("Users with this value now.") }), {
        description: `The 20 values that most users have, as text; none when they are more than ${maxCountedValues}.`,
      }),
    }),
    { description: "Those of the most users first." },
  ),
});

export const DeparturesAnswer = Type.Object({
  events: Type.Array(
    Type.Object({
      event: Type.String(),
      label: eventLabel,
      users: count("Users who sent it, without those who are excluded from figures."),
      isPassive: Type.Boolean({
        description:
          "Whether it counts as no activity until there is an answer: its name is that of a departure, as `subscription_canceled`. Other names with `cancel` are only asked about.",
      }),
    }),
    {
      description:
        "Events that no setting explains yet. Answer with `churnEvent`, `passiveEvents` or `ordinaryEvents`. Most users first, at most 20.",
    },
  ),
});
