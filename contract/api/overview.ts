/** The part of the JSON API that a morning begins with, as JSON Schema: health by week, accounts at risk, the
 * week. */
import Type from "typebox";
import { closedObject, Field, inSegment, listOf, nullable, objectOrNull, Parameter } from "./schema.ts";
import {
  churnDefinition,
  dataStoppedSince,
  Kind,
  kindParameter,
  RiskBand,
  ratioToBaseRate,
  scoredDay,
  since,
} from "./score-parts.ts";
import { leadsWithRisk } from "./scores.ts";

const sinceDay = nullable(
  Field.day("The comparison date: the day of the earlier scores. Null without earlier scores."),
);

export const HealthByWeekParameters = closedObject({
  kind: kindParameter,
  weeks: Parameter.positive(
    104,
    13,
    "How many weeks to show: scores of the newest day, of 7 days before, and so on.",
  ),
  segment: inSegment("entities"),
});

export const HealthByWeekAnswer = Type.Object({
  kind: Kind,
  day: scoredDay,
  dataStoppedSince,
  horizonDays: Field.integer("The churn horizon in days: churn risk is the probability of churn within it."),
  ...churnDefinition,
  baseRate: nullable(Field.number("The share that churned in the back-test of the newest model.")),
  leadsWithRisk,
  weeks: listOf("The oldest first.", {
    day: Field.day("Scores are as of the start of this day. Weeks without scores are left out."),
    healthy: Field.count("Users or accounts with health of 70 or more."),
    watch: Field.count("Health from 40 to below 70."),
    atRisk: Field.count("Health below 40."),
    onboarding: Field.count("First seen under 14 days ago."),
    churned: Field.count("Users or accounts that meet the churn target."),
    none: Field.count("Users or accounts without a health score."),
    inactive: Field.count(
      "Users or accounts that are idle for the churn horizon, while the churn target is not met. They also count in the health bands. 0 with the churn target `silence`, with which they have churned.",
    ),
    withRisk: Field.count("Users or accounts with a churn risk: they have not churned, so they can churn."),
    expectedChurn: nullable(
      Field.number(
        "The sum of their churn risks: how many of them are expected to churn. Null without churn risks.",
      ),
    ),
    meanRisk: nullable(Field.number("expectedChurn ÷ withRisk. Null without churn risks.")),
  }),
});

export const AccountsAtRiskParameters = closedObject({
  since: since(7),
  segment: inSegment("accounts"),
  limit: Parameter.positive(1_000, 10, "At most this many accounts."),
});

export const AccountsAtRiskAnswer = Type.Object({
  day: scoredDay,
  sinceDay,
  dataStoppedSince,
  payersOnly: Field.boolean(
    "Whether only accounts with MRR count here, because there are at least 10 of them. /api/accounts also lists accounts without MRR.",
  ),
  total: Field.count("Accounts whose health is at risk, below 40."),
  scored: Field.count("Accounts with a health score: neither churned nor without data."),
  members: Field.count("Account members of all accounts at risk, without excluded users."),
  accounts: listOf(
    "With `payersOnly` the highest MRR first, else the most members first. Accounts of a control group are left out.",
    {
      id: Type.String(),
      label: Field.text("The account's name."),
      mrr: nullable(
        Field.money("Current MRR, in minor units of the reporting currency. Null unless `payersOnly`."),
      ),
      members: Field.count("Users who belong to the account now, without excluded users."),
      activeMembers: Field.count(
        "Users with an engagement event in the account in the 28 days before the day of the scores.",
      ),
      health: nullable(Type.Number()),
      risk: nullable(Field.number("The churn risk, 0 to 1. Null without a churn risk.")),
      riskBand: nullable(RiskBand),
      ratioToBaseRate,
      change: nullable(Field.number("The change of health since `sinceDay`. Null without earlier scores.")),
    },
  ),
});

const Part = Type.Object(
  {
    form: Field.oneOf(
      ["words", "count", "change", "share", "day", "user", "account"],
      "Type of the value, so that a page can format numbers and days.",
    ),
    text: Field.text("The text of this part, in English."),
    value: nullable(Type.Union([Type.Number(), Type.String()]), {
      description: "The number, the share of 1, the day, or the id; null for words.",
    }),
    list: Type.Optional(
      Type.Object(
        { page: Type.Enum(["users", "accounts"]), query: Type.Record(Type.String(), Type.String()) },
        {
          description:
            "For a count: the list of the users or accounts that are counted, as parameters of /api/users or /api/accounts.",
        },
      ),
    ),
  },
  { description: "A part of the sentence. The texts of all parts, joined, are the sentence." },
);

export const WeekSummaryParameters = closedObject({ segment: inSegment("entities") });

export const WeekSummaryAnswer = Type.Object({
  fromDay: Field.day("The first of the last seven whole days."),
  toDay: Field.day("The last of the seven days: yesterday in the organization's timezone."),
  day: scoredDay,
  sinceDay,
  dataStoppedSince,
  sentences: listOf("The most important first.", {
    about: Type.Enum(["data", "active", "lifecycle", "health", "risk", "call"]),
    tone: Field.oneOf(["good", "bad", "neutral"], "Whether the sentence is good news."),
    text: Type.String(),
    parts: Type.Array(Part),
    usual: objectOrNull(
      "The range of usual changes, which 19 of 20 changes stay in. Null if the sentence compares nothing, or with fewer than 8 weeks.",
      {
        low: Field.number("Lower end of the usual change from one week to the next."),
        high: Type.Number(),
        weeks: Field.count("Number of earlier weeks that the range was computed from."),
      },
    ),
    isUnusual: nullable(Field.boolean("Whether the change is outside `usual`. Null if `usual` is null.")),
  }),
});
