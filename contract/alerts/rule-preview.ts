/** The preview of an alert rule that is not saved. */
import Type from "typebox";
import { closedObject, Field, listOf, nullable, objectOrNull } from "../api/schema.ts";
import { RuleConditionBody, RuleScopeBody } from "./rule-condition.ts";
import { ruleLimits } from "./rules.ts";

export const RulePreviewBody = closedObject({
  scope: RuleScopeBody,
  condition: RuleConditionBody,
  cooldownDays: Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: ruleLimits.days }), {
      description:
        "Days after an alert in which the rule does not fire again for the same user or account. Null: the churn horizon.",
      "x-send": `1 to ${ruleLimits.days} days, or null`,
    }),
  ),
});

const interval = objectOrNull("95 % interval (Wilson). Null without a rate.", {
  low: Type.Number(),
  high: Type.Number(),
});

const share = (description: string) => nullable(Field.share(description));

export const RulePreviewAnswer = Type.Object({
  note: Field.textOrNull(
    "A sentence about a segment whose members were not recorded on all days of the preview: the preview then has fewer days, or is for all users or accounts. Null if all were recorded.",
  ),
  fromDay: nullable(
    Field.day(
      "The first scored day of the preview. Users and accounts that match on this day get no alert. With a condition on the churn risk: the first day that had a churn risk. Null if there is no such day.",
    ),
  ),
  toDay: nullable(Field.day("The last scored day of the preview. Null without a first day.")),
  scoredDays: Field.count(
    "Scored days of the preview. Days on which scores waited for data are not counted.",
  ),
  daysWithoutRisk: Field.count(
    "With a condition on the churn risk: scored days without a churn risk. On these days no alert fires, and churn does not count as missed.",
  ),
  horizonDays: Field.integer("The churn horizon."),
  fired: Field.count("Alerts that would have fired."),
  entities: Field.count("Users or accounts with an alert."),
  open: Field.count(
    "Alerts that would be open now. Alerts of `paymentFailed`, `cardExpires`, `cancellationScheduled` and `lastOwnerRemoved` stay open.",
  ),
  insideNow: Field.count(
    "Users or accounts that match now: with `includeCurrent` they get an alert. Segments have the members recorded on the last day of the preview.",
  ),
  insideBySettings: Field.count(
    "How often a user or account began to match on a day with other settings or another kind of model, or only because the model was fitted again. They get no alert.",
  ),
  weeks: listOf("Weeks from Monday, the oldest first.", {
    monday: Field.day("The first day of the week."),
    fired: Field.count("Alerts of the week."),
  }),
  precision: Type.Object(
    {
      steps: Field.oneOf(
        ["daily", "weekly"],
        "daily: every scored day was checked. weekly: fewer than 20 alerts of the scored days are mature, so the Mondays of a year were checked instead.",
      ),
      mature: Field.count(
        "Alerts whose churn horizon is over and had no outage. At most one alert per user (or account) and churn horizon is counted.",
      ),
      churned: Field.count("Users or accounts that had churned at the end of the horizon."),
      rate: share("churned ÷ mature. Null without a mature alert."),
      interval,
    },
    { description: "How many alerts were followed by churn." },
  ),
  baseRate: Type.Object(
    {
      count: Field.count("Users or accounts that could churn, counted on each Monday of the period."),
      churned: Field.count("Users or accounts that had churned at the end of the horizon."),
      rate: share("churned ÷ count. Null if count is 0."),
    },
    {
      description:
        "How many of all users or accounts in the scope churned, with or without an alert. A segment has the members recorded on each Monday.",
    },
  ),
  churnedEntities: Field.count(
    "How often a user or account churned, from a churn horizon after `fromDay` on. With a segment as scope: only users or accounts that were in the segment within the horizon before.",
  ),
  missed: Field.count(
    "How many of `churnedEntities` had no alert in the churn horizon before, and no older alert that was still open. Users and accounts that matched when the rule began, or because settings changed, are not counted as missed.",
  ),
  medianLeadDays: nullable(
    Field.number(
      "Median days from the alert to churn, of mature alerts that were followed by churn. Null if no alert was followed by churn.",
    ),
  ),
  flapped: Field.count("Alerts whose condition ended within a week."),
  controlGroups: listOf(
    "How long a control group would take to show that the rule saves 30 % of those who would leave. Empty for `usageUp` and `seatsAbove`, which have none.",
    {
      share: Field.share("The share of the control group."),
      entries: Field.count("Customers of both groups needed."),
      months: nullable(
        Field.number(
          "Months until so many customers have entered and their outcomes are known, at the pace of the preview. Null without an alert.",
        ),
      ),
    },
  ),
});
