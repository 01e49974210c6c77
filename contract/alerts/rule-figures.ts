/** How alert rules perform: alerts by week, and how many alerts were followed by churn within the churn
 * horizon. */
import Type from "typebox";
import { Field, listOf, nullable, objectOrNull } from "../api/schema.ts";

const outcomes = (description: string) =>
  Type.Object(
    {
      mature: Field.count(
        "Alerts whose churn horizon is over and had no outage. At most one alert per user (or account) and churn horizon is counted, of the newest 2,000 alerts of the last 90 days.",
      ),
      churned: Field.count("Mature alerts whose user or account had churned at the end of the horizon."),
      rate: nullable(Field.share("churned ÷ mature. Null without a mature alert.")),
      interval: objectOrNull("95 % interval (Wilson). Null without a rate.", {
        low: Type.Number(),
        high: Type.Number(),
      }),
      medianLeadDays: nullable(
        Field.number(
          "Median days from the alert to the first scored day after churn. Null if no alert was followed by churn.",
        ),
      ),
    },
    { description },
  );

export const RuleFiguresAnswer = Type.Object({
  horizonDays: Field.integer("The churn horizon."),
  rules: listOf("By name.", {
    id: Field.integer("The rule's id."),
    name: Field.text("The rule's name."),
    fired: Field.count("Alerts since the day `since`, including alerts of the control group."),
    since: Field.day("The first day that is counted: 90 days ago, or the first day of a newer rule."),
    perWeek: nullable(Field.number("Alerts a week since `since`. Null until a whole week is over.")),
    weeks: listOf("Weeks from Monday, of the last 90 days. The first and the last week may be incomplete.", {
      monday: Field.day("The first day of the week."),
      fired: Field.count("Alerts of the week, including alerts of the control group."),
    }),
    untouched: outcomes(
      "Alerts without a contact, a task or the verdict `handled` within their churn horizon. Their rate is the precision of the rule.",
    ),
    touched: outcomes(
      "Alerts with a contact, a task or the verdict `handled`. They do not count in the precision, because customers who were saved would lower it.",
    ),
    baseRate: Type.Object(
      {
        count: Field.count("Users or accounts that could churn, counted on each Monday of the period."),
        churned: Field.count("Mature alerts whose user or account had churned at the end of the horizon."),
        rate: nullable(Field.share("churned ÷ count. Null if count is 0.")),
      },
      { description: "How many of all users or accounts churned, with or without an alert." },
    ),
    holdOut: objectOrNull("The current hold-out experiment. Null without a hold-out.", {
      share: nullable(Field.share("The share of the control group.")),
      horizonDays: nullable(
        Field.integer("The churn horizon of the experiment, in days. Null before the first alert."),
      ),
      since: Field.day(
        "The day on which the experiment began. A change of condition, scope, share or churn horizon begins a new experiment.",
      ),
      treated: Field.count("Users or accounts whose alerts are sent. An account counts once."),
      controls: Field.count("Users or accounts in the control group: their alerts are not sent."),
    }),
  }),
});
