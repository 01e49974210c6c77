/** The win-back list, as JSON Schema: users or accounts that churned lately, by the money that they paid. */
import Type from "typebox";
import { ownerFields, ownerFilter, reasonFrom } from "./list-fields.ts";
import { closedObject, Field, inSegment, listOf, nullable, Parameter } from "./schema.ts";
import { kindParameter, scoredDay } from "./score-parts.ts";

/** The most days that the list looks back. */
export const winBackDays = 90;

export const WinBackParameters = closedObject({
  kind: kindParameter,
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: winBackDays,
      description:
        "Lists churn of the last N days before the newest scores. Default: the churn horizon, at most 90.",
    }),
  ),
  owner: ownerFilter,
  segment: inSegment("entities"),
  ...Parameter.page,
});

export const WinBackAnswer = Type.Object({
  day: scoredDay,
  days: Type.Integer({ description: "How many days the list looks back." }),
  reportingCurrency: nullable(Type.String(), {
    description: "The currency of `lastMrr`. Null without subscriptions.",
  }),
  total: Field.count("On all pages together."),
  lastMrr: nullable(
    Field.money(
      "The sum of `lastMrr` on all pages, in minor units, without MRR in a currency that has no rate. Null without subscriptions.",
    ),
  ),
  churned: listOf("The highest `lastMrr` first, then the latest churn.", {
    id: Field.text("userId or accountId."),
    label: Field.text("A name, else an e-mail address, else the id."),
    churnedDay: Field.day(
      "The day of churn, as `churnedDay` of the score: the day of the churn event, of the trait's value or of the subscription's end. With the churn target `silence`: the day on which the churn horizon was over.",
    ),
    lastSeenDay: nullable(
      Field.day("The day of the last engagement event. Null without an engagement event."),
    ),
    lastMrr: nullable(
      Field.money(
        "The last MRR, in minor units: of current subscriptions, and of subscriptions that ended within `days` plus a churn horizon. Null if it never paid, or paid in a currency that has no rate.",
      ),
    ),
    plan: Field.textOrNull("The plan of the subscription with the highest MRR."),
    reason: Field.textOrNull(
      "Why it churned: the trait or attribute `churnReason`, else the newest comment or reason of billing events and of the churn target's event. Reasons from before the last return are left out.",
    ),
    reasonFrom,
    ...ownerFields,
  }),
});
