/** The call list, as JSON Schema. */
import Type from "typebox";
import { closedObject, Field, inSegment, listOf, nullable, Parameter } from "../api/schema.ts";
import { scoredDay } from "../api/score-parts.ts";
import { callClasses, callListLimits, callLists } from "./call-list.ts";
import { controlField, ownerFields } from "./work-schemas.ts";

const { endDays, leastPayers } = callListLimits;

export const CallListParameters = closedObject({
  list: Parameter.Enum([...callLists], {
    default: "call",
    description: `call: whom to call. With ${leastPayers} payers or more these are payers, else accounts, else users. non_payers: with ${leastPayers} payers or more, those that pay nothing. set_aside: those that are kept off the list for now, because they are controls of a hold-out, snoozed or handled.`,
  }),
  segment: inSegment("entities"),
  limit: Parameter.positive(callListLimits.rows, callListLimits.byDefault, "At most this many."),
});

const minorUnits = "In minor units of the currency: cents of USD.";

export const CallListAnswer = Type.Object({
  day: scoredDay,
  currency: Field.text("Of all amounts: the reporting currency."),
  rows: listOf(
    "The highest rankValue first. Rows without one follow: by class, then by MRR. Those who have been silent for three quarters of the horizon of a silence target come last.",
    {
      kind: Type.Enum(["user", "account"]),
      accountId: Field.textOrNull("Null for a user."),
      userId: Field.textOrNull("Null for an account."),
      name: Field.text("The name, else the e-mail address, else the id."),
      mrr: nullable(
        Field.money(
          `MRR now; contractValue ÷ 12 for a payer without a subscription, whose plan is "by contract". ${minorUnits}`,
        ),
        { description: "Null without revenue, and for a payer whose currency has no rate." },
      ),
      plan: Field.textOrNull('Of the subscription with the highest MRR; "by contract" by contractValue.'),
      class: Field.oneOf(
        callClasses,
        `The first that holds. end_scheduled: an end is scheduled within ${endDays} days. payment_overdue: a payment is overdue. high_risk: the churn risk is high. unused: it pays, and was not active for a churn horizon. falling: use fell by half or more in 28 days, from at least 20 events, or health fell by 15 points within a week.`,
      ),
      reason: Field.text("Why, in one sentence."),
      rankValue: nullable(
        Field.expectedMoney(
          `MRR that ends within ${endDays} days as scheduled, and churn risk × the other MRR. ${minorUnits}`,
        ),
        {
          description:
            "Null unless the churn target is `subscription` and a model serves, and without a churn risk or a scheduled end.",
        },
      ),
      expectedLoss: nullable(
        Field.expectedMoney(
          `MRR that ends within the churn horizon as scheduled, and churn risk × the other MRR. ${minorUnits}`,
        ),
        { description: "Null as rankValue." },
      ),
      endsOn: nullable(Field.day("The first day on which a subscription ends as scheduled.")),
      renewsOn: nullable(Field.day("The attribute renewsAt, else the next end of a period.")),
      owner: ownerFields.owner,
      lastContactDays: nullable(Field.count("Days since the last contact. Null without one.")),
      openTask: Field.textOrNull("The title of the open task that is due first."),
      ...controlField,
      snoozedUntil: nullable(Field.day("The day on which it is on the list again. Null for others.")),
    },
  ),
  note: Field.textOrNull("Why rows have no rankValue. Null where they have."),
});
