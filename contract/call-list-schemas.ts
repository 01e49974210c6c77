/** The call list, as JSON Schema. */
import Type from "typebox";
import { controlField, ownerFields } from "./api/list-fields.ts";
import { closedObject, Field, inSegment, listOf, nullable, Parameter } from "./api/schema.ts";
import { scoredDay } from "./api/score-parts.ts";
import { callClasses, callListLimits, callLists } from "./call-list.ts";

const { endDays, leastPayers } = callListLimits;

export const CallListParameters = closedObject({
  list: Parameter.Enum([...callLists], {
    default: "call",
    description: `call: whom to call: payers if there are at least ${leastPayers}, else accounts, else users. non_payers: users or accounts that pay nothing; empty below ${leastPayers} payers. set_aside: users or accounts that are off the list for now, because they are in a control group, snoozed or handled.`,
  }),
  segment: inSegment("entities"),
  limit: Parameter.positive(callListLimits.rows, callListLimits.byDefault, "At most this many rows."),
});

const minorUnits = "In minor units of the currency: cents of USD.";

export const CallListAnswer = Type.Object({
  day: scoredDay,
  currency: Field.text("The currency of all amounts: the reporting currency."),
  rows: listOf(
    "The highest rankValue first. Rows without a rankValue follow, by class and then by MRR. With the churn target `silence`, users and accounts that were idle for three quarters of the churn horizon come last.",
    {
      kind: Type.Enum(["user", "account"]),
      accountId: Field.textOrNull("Null for a user."),
      userId: Field.textOrNull("Null for an account."),
      name: Field.text("The name, else the e-mail address, else the id."),
      mrr: nullable(
        Field.money(
          `Current MRR. For a payer without a subscription it is contractValue ÷ 12. ${minorUnits}`,
        ),
        { description: "Null without revenue, and for a payer whose currency has no rate." },
      ),
      plan: Field.textOrNull(
        'The plan of the subscription with the highest MRR; "by contract" if MRR comes from contractValue.',
      ),
      class: Field.oneOf(
        callClasses,
        `The first class that applies. end_scheduled: a subscription is scheduled to end within ${endDays} days. payment_overdue: a payment is overdue. high_risk: the risk band is high. unused: pays, but was not active for a churn horizon. falling: use fell by half or more in 28 days, from at least 20 events, or health fell by 15 points within a week.`,
      ),
      reason: Field.text("Why it is on the list, in one sentence."),
      rankValue: nullable(
        Field.expectedMoney(
          `MRR that is scheduled to end within ${endDays} days, plus churn risk × the remaining MRR. ${minorUnits}`,
        ),
        {
          description:
            "Null unless the churn target is `subscription`, a model serves, and there is a churn risk or a scheduled end.",
        },
      ),
      expectedLoss: nullable(
        Field.expectedMoney(
          `MRR that is scheduled to end within the churn horizon, plus churn risk × the remaining MRR. ${minorUnits}`,
        ),
        { description: "Null whenever rankValue is null." },
      ),
      endsOn: nullable(
        Field.day("The day of the first scheduled end of a subscription. Null without a scheduled end."),
      ),
      renewsOn: nullable(Field.day("The attribute `renewsAt`, else the next end of a billing period.")),
      owner: ownerFields.owner,
      lastContactDays: nullable(Field.count("Days since the last contact. Null without a contact.")),
      openTask: Field.textOrNull("The title of the open task that is due first. Null without an open task."),
      ...controlField,
      snoozedUntil: nullable(
        Field.day("The day on which the row is on the list again. Null if it is not snoozed."),
      ),
    },
  ),
  note: Field.textOrNull("Why rows have no rankValue. Null if they have rankValues."),
});
