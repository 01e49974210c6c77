/** The figures of alert rules that are on: alerts by week, and the outcomes of those whose churn horizon is
 * over. */
import Type from "typebox";
import { Field, listOf, nullable, objectOrNull } from "../api/schema.ts";

const outcomes = (description: string) =>
  Type.Object(
    {
      mature: Field.count(
        "Alerts whose churn horizon is over, without an outage in it. One of a user or account and horizon counts, and at most the newest 2,000 alerts of the last 90 days.",
      ),
      churned: Field.count("Those of them that had churned at the end of the horizon."),
      rate: nullable(Field.share("The share of them. Null without a mature alert.")),
      interval: objectOrNull("95 % interval (Wilson). Null without a rate.", {
        low: Type.Number(),
        high: Type.Number(),
      }),
      medianLeadDays: nullable(
        Field.number(
          "From the alert to the first scored day after churn. Null without an alert that churned.",
        ),
      ),
    },
    { description },
  );

export const RuleFiguresAnswer = Type.Object({
  horizonDays: Field.integer("The churn horizon."),
  rules: listOf("By name.", {
    id: Field.integer("Of the rule."),
    name: Field.text("Its name."),
    fired: Field.count("Alerts since the day `since`, those of controls among them."),
    since: Field.day("90 days ago, or the first day of a newer rule."),
    perWeek: nullable(Field.number("Alerts a week since then. Null before a whole week is over.")),
    weeks: listOf("Weeks from Monday, of the last 90 days. The first and the last are parts of a week.", {
      monday: Field.day("Its first day."),
      fired: Field.count("Alerts of the week, those of controls among them."),
    }),
    untouched: outcomes(
      "Alerts with no contact, no task and no verdict `handled` in their horizon: the precision of the rule.",
    ),
    touched: outcomes(
      "The other alerts. They do not count in the precision: customers who were saved would lower it.",
    ),
    baseRate: Type.Object(
      {
        count: Field.count("Users, or accounts, that could churn, on the Mondays of the same days."),
        churned: Field.count("Those of them that had churned at the end of the horizon."),
        rate: nullable(Field.share("The share of them. Null without one.")),
      },
      { description: "The same of all users, or accounts, with an alert or without." },
    ),
    holdOut: objectOrNull("The present experiment. Null without a hold-out.", {
      share: nullable(Field.share("The share of controls.")),
      horizonDays: nullable(Field.integer("Its churn horizon. Null before the first entry.")),
      since: Field.day("When it began: with another condition, scope, share or churn horizon."),
      treated: Field.count("Entries with messages. An account counts once."),
      controls: Field.count("Entries without."),
    }),
  }),
});
