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
        "Days from an alert on in which the rule does not fire again for the entity. Null: the churn horizon.",
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
  fromDay: nullable(
    Field.day(
      "The first scored day of the preview, which is taken over without alerts. With a condition on the churn risk: the first day that had one. Null without such a day.",
    ),
  ),
  toDay: nullable(Field.day("The last one.")),
  scoredDays: Field.count("Scored days between them. Days on which scores waited are none."),
  daysWithoutRisk: Field.count(
    "With a condition on the churn risk: scored days that had no churn risk. They are not judged, and no churn of these days counts as missed.",
  ),
  horizonDays: Field.integer("The churn horizon."),
  fired: Field.count("Alerts that would have fired."),
  entities: Field.count("Users, or accounts, with an alert."),
  open: Field.count("Alerts that would be open now. Those of a moment stay open."),
  insideNow: Field.count(
    "Users, or accounts, that are inside now: they fire with includeCurrent. Segments are as of the start of the last scored day.",
  ),
  insideBySettings: Field.count(
    "Times that an entity came inside only because the model, the bands or the settings changed: no alerts.",
  ),
  weeks: listOf("Weeks from Monday, the first one first.", {
    monday: Field.day("Its first day."),
    fired: Field.count("Alerts of the week."),
  }),
  precision: Type.Object(
    {
      steps: Field.oneOf(
        ["daily", "weekly"],
        "weekly: fewer than 20 alerts of the scored days are mature, so the rule was decided on the Mondays of a year.",
      ),
      mature: Field.count(
        "Alerts whose horizon is over, without an outage in it. One of an entity and horizon counts.",
      ),
      churned: Field.count("Those of them that had churned at the end of the horizon."),
      rate: share("The share of them. Null without a mature alert."),
      interval,
    },
    { description: "How many alerts were followed by churn." },
  ),
  baseRate: Type.Object(
    {
      count: Field.count("Users, or accounts, that could churn, on the Mondays of the same days."),
      churned: Field.count("Those of them that had churned at the end of the horizon."),
      rate: share("The share of them. Null without one."),
    },
    {
      description:
        "The same of all in the scope, with an alert or without. Members of a segment are those of each Monday.",
    },
  ),
  churnedEntities: Field.count(
    "Times that an entity churned, at least a horizon after the first day. With a segment as scope: that was in it within the horizon before.",
  ),
  missed: Field.count(
    "Those of them without an alert in the horizon before, and without an older one that was still open. Who was inside when the rule began, or came inside by settings, is not missed.",
  ),
  medianLeadDays: nullable(
    Field.number("From the alert to the day of churn, of mature alerts that churned. Null without one."),
  ),
  flapped: Field.count("Alerts whose condition ended within a week."),
});
