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
  Field.day("The day of the scores that changes are told against; null without earlier ones."),
);

export const HealthByWeekParameters = closedObject({
  kind: kindParameter,
  weeks: Parameter.positive(
    104,
    13,
    "Scores are shown as of the newest day, 7 days before it, and so on: so many times.",
  ),
  segment: inSegment("entities"),
});

export const HealthByWeekAnswer = Type.Object({
  kind: Kind,
  day: scoredDay,
  dataStoppedSince,
  horizonDays: Field.integer("Churn risk is that of churning within so many days."),
  ...churnDefinition,
  baseRate: nullable(Field.number("The share that churned in the back-test of the newest model.")),
  leadsWithRisk,
  weeks: listOf("The oldest first.", {
    day: Field.day("As of its start. A week without any scores is left out."),
    healthy: Field.count("Health of 70 and more."),
    watch: Field.count("From 40."),
    atRisk: Field.count("Below 40."),
    onboarding: Field.count("In their first 14 days."),
    churned: Field.count("Those that meet the churn target."),
    none: Field.count("Without a score."),
    inactive: Field.count(
      "Idle for the churn horizon, while the churn target is not met. They are in the health bands, too. 0 with the churn target `silence`: then they have churned.",
    ),
    withRisk: Field.count("Those who have a churn risk: they are there, so they can leave."),
    expectedChurn: nullable(
      Field.number("The sum of their churn risks: so many of them are expected to churn."),
    ),
    meanRisk: nullable(Field.number("expectedChurn / withRisk.")),
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
    "Whether only accounts with MRR count here: they do with 10 of them or more. Others are in /api/accounts.",
  ),
  total: Field.count("Accounts whose health is at risk, below 40."),
  scored: Field.count("Accounts that are there and have a score: neither churned nor without data."),
  members: Field.count("Members of all accounts at risk, without those who are excluded from figures."),
  accounts: listOf(
    "Of payers those with the highest MRR first, else those with the most members. Without controls of a hold-out.",
    {
      id: Type.String(),
      label: Field.text("The account's name."),
      mrr: nullable(Field.money("Now, in minor units of the reporting currency. Null unless `payersOnly`.")),
      members: Field.count("Users who belong to it now, without those who are excluded from figures."),
      activeMembers: Field.count(
        "Users with an engagement event that carries the account in the 28 days before the day of the scores.",
      ),
      health: nullable(Type.Number()),
      risk: nullable(Field.number("Of no engagement event of any member within the horizon.")),
      riskBand: nullable(RiskBand),
      ratioToBaseRate,
      change: nullable(Field.number("Of health, since the earlier scores.")),
    },
  ),
});

const Part = Type.Object(
  {
    form: Field.oneOf(
      ["words", "count", "change", "share", "day", "user", "account"],
      "Type of the value, so that a page can format numbers and days.",
    ),
    text: Field.text("In English."),
    value: nullable(Type.Union([Type.Number(), Type.String()]), {
      description: "The number, the share of 1, the day, or the id; null for words.",
    }),
    list: Type.Optional(
      Type.Object(
        { page: Type.Enum(["users", "accounts"]), query: Type.Record(Type.String(), Type.String()) },
        {
          description:
            "Of a count: the list of those who are counted, by the parameters of /api/users or /api/accounts.",
        },
      ),
    ),
  },
  { description: "The texts of all parts, one after the other, are the sentence." },
);

export const WeekSummaryParameters = closedObject({ segment: inSegment("entities") });

export const WeekSummaryAnswer = Type.Object({
  fromDay: Field.day("The first of the last seven whole days."),
  toDay: Field.day("The last of them: yesterday in the organization's timezone."),
  day: scoredDay,
  sinceDay,
  dataStoppedSince,
  sentences: listOf("The weightiest first.", {
    about: Type.Enum(["data", "active", "lifecycle", "health", "risk", "call"]),
    tone: Field.oneOf(["good", "bad", "neutral"], "Whether it is good news."),
    text: Type.String(),
    parts: Type.Array(Part),
    usual: objectOrNull(
      "Where 19 of 20 changes lie. Null when nothing is compared, or with fewer than 8 weeks.",
      {
        low: Field.number("Of the change from one week to the next."),
        high: Type.Number(),
        weeks: Field.count("Weeks before from whose changes it was worked out."),
      },
    ),
    isUnusual: nullable(Field.boolean("Whether the change lies beyond `usual`.")),
  }),
});
