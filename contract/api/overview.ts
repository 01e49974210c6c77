/** The part of the JSON API that a morning begins with, as JSON Schema: health by week, accounts at risk, the week. */
import Type from "typebox";
import { closed, count, day, nullable, Parameter } from "./api.ts";
import { toCallText } from "./lists.ts";

const number = (description: string) => Type.Number({ description });
const Kind = Type.Union([Type.Literal("user"), Type.Literal("account")]);
const RiskBand = Type.Union([Type.Literal("low"), Type.Literal("medium"), Type.Literal("high")]);
const scoredDay = nullable(
  day("Scores are as of the start of this day: only what happened before it counts. Null before the first."),
);
const sinceDay = nullable(
  day("The day of the scores that changes are told against; null without earlier ones."),
);
const dataStoppedSince = nullable(
  day("Far fewer users than usual are active since this day: a source has stopped, and scores wait for it."),
);

export const HealthByWeekParameters = Type.Object(
  {
    kind: Parameter.Union([Type.Literal("user"), Type.Literal("account")], { default: "user" }),
    weeks: Parameter.Integer({
      minimum: 1,
      maximum: 104,
      default: 13,
      description: "Scores are shown as of the newest day, 7 days before it, and so on: so many times.",
    }),
  },
  closed,
);

export const HealthByWeekAnswer = Type.Object({
  kind: Kind,
  day: scoredDay,
  dataStoppedSince,
  horizonDays: Type.Integer({
    description: "Churn risk is that of no engagement event within so many days.",
  }),
  baseRate: nullable(number("The share that churned in the back-test of the newest model.")),
  weeks: Type.Array(
    Type.Object({
      day: day("As of its start. A week without any scores is left out."),
      healthy: count("Health of 70 and more."),
      watch: count("From 40."),
      atRisk: count("Below 40."),
      onboarding: count("In their first 14 days."),
      churned: count("Silent for the horizon, or gone with the churn event."),
      none: count("Without a score."),
      withRisk: count("Those who have a churn risk: they are there, so they can leave."),
      expectedChurn: nullable(number("The sum of their churn risks: so many of them are expected to churn.")),
      meanRisk: nullable(number("expectedChurn / withRisk.")),
    }),
    { description: "The oldest first." },
  ),
});

export const AccountsAtRiskParameters = Type.Object(
  {
    since: Type.Optional(
      day(
        "Changes are told since the newest scores of this day or an earlier one. Without it, of 7 days before.",
      ),
    ),
    limit: Parameter.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 10,
      description: "At most this many accounts.",
    }),
  },
  closed,
);

export const AccountsAtRiskAnswer = Type.Object({
  day: scoredDay,
  sinceDay,
  dataStoppedSince,
  total: count("Accounts whose health is at risk, below 40."),
  scored: count("Accounts that are there and have a score: neither churned nor without data."),
  members: count("Members of all accounts at risk, without those who are excluded from figures."),
  accounts: Type.Array(
    Type.Object({
      id: Type.String(),
      label: Type.String({ description: "The account's name." }),
      members: count("Users who belong to it now, without those who are excluded from figures."),
      activeMembers: count(
        "Users with an engagement event that carries the account in the 28 days before the day of the scores.",
      ),
      health: nullable(Type.Number()),
      risk: nullable(number("Of no engagement event of any member within the horizon.")),
      riskBand: nullable(RiskBand),
      change: nullable(number("Of health, since the earlier scores.")),
    }),
    { description: "Those with the most members first." },
  ),
});

const Part = Type.Object(
  {
    form: Type.Enum(["words", "count", "change", "share", "day", "user", "account"], {
      description: "Type of the value, so that a page can format numbers and days.",
    }),
    text: Type.String({ description: "In English." }),
    value: nullable(Type.Union([Type.Number(), Type.String()]), {
      description: "The number, the share of 1, the day, or the id; null for words.",
    }),
    list: Type.Optional(
      Type.Object(
        {
          page: Type.Enum(["users", "accounts"]),
          query: Type.Record(Type.String(), Type.String()),
        },
        {
          description:
            "Of a count: the list of those who are counted, by the parameters of /api/users or /api/accounts.",
        },
      ),
    ),
  },
  { description: "The texts of all parts, one after the other, are the sentence." },
);

export const WeekSummaryAnswer = Type.Object({
  fromDay: day("The first of the last seven whole days."),
  toDay: day("The last of them: yesterday in the organization's timezone."),
  day: scoredDay,
  sinceDay,
  dataStoppedSince,
  sentences: Type.Array(
    Type.Object({
      about: Type.Enum(["data", "active", "lifecycle", "health", "risk", "call"]),
      tone: Type.Enum(["good", "bad", "neutral"], { description: "Whether it is good news." }),
      text: Type.String(),
      parts: Type.Array(Part),
      usual: nullable(
        Type.Object({
          low: number("Of the change from one week to the next."),
          high: Type.Number(),
          weeks: count("Weeks before from whose changes it was worked out."),
        }),
        {
          description:
            "Where 19 of 20 changes lie. Null when nothing is compared, or with fewer than 8 weeks.",
        },
      ),
      isUnusual: nullable(Type.Boolean({ description: "Whether the change lies beyond `usual`." })),
    }),
    { description: "The weightiest first." },
  ),
  callNote: nullable(
    Type.String({ description: "Why users are to be called and no accounts; null when it needs no word." }),
  ),
  callFirst: Type.Array(
    Type.Object({
      kind: Kind,
      id: Type.String(),
      label: Type.String({
        description: "An account's name; a user's name, else their e-mail address, else their id.",
      }),
      members: nullable(count("Of an account: those active in the last 90 days; null for a user.")),
      health: nullable(Type.Number()),
      risk: nullable(Type.Number()),
      riskBand: nullable(RiskBand),
      change: nullable(number("Of health, against the scores of 7 days before.")),
      reason: nullable(Type.String({ description: "The weightiest reason of the churn risk." })),
      why: Type.String({ description: "Why it is to be called, in words." }),
      parts: Type.Array(Part, { description: "The parts of `why`." }),
    }),
    {
      description: `The first three of the accounts that are to be called; of the users where no account is. ${toCallText} Their order is churn risk × members active in the last 90 days, a user being one member; without churn risks the fall of health × these members.`,
    },
  ),
  callTotal: count(
    "How many are to be called: the list of accounts, or of users, with toCall=true has exactly these.",
  ),
});
