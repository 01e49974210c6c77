/** The win-back list, as JSON Schema: users or accounts that churned lately, by the money that they paid. */
import Type from "typebox";
import { closedObject, Field, inSegment, listOf, nullable, Parameter } from "../api/schema.ts";
import { kindParameter, scoredDay } from "../api/score-parts.ts";
import { ownerFields, ownerFilter } from "./work-schemas.ts";

/** Most days that are looked back. */
export const winBackDays = 90;

export const WinBackParameters = closedObject({
  kind: kindParameter,
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: winBackDays,
      description:
        "Churned within so many days before the newest scores. Default: the churn horizon, at most 90.",
    }),
  ),
  owner: ownerFilter,
  segment: inSegment("entities"),
  ...Parameter.page,
});

export const WinBackAnswer = Type.Object({
  day: scoredDay,
  days: Type.Integer({ description: "The days that were looked back." }),
  reportingCurrency: nullable(Type.String(), { description: "Of `lastMrr`. Null without subscriptions." }),
  total: Field.count("On all pages together."),
  lastMrr: nullable(
    Field.money("Of all together, without those in a currency without a rate. Null without subscriptions."),
  ),
  churned: listOf("The highest `lastMrr` first, then the one that churned last.", {
    id: Field.text("userId or accountId."),
    label: Field.text("A name, else an e-mail address, else the id."),
    churnedDay: Field.day(
      "The day on which it left, as `churnedDay` of its score: of the event, of the trait's value or of the subscription's end; by silence the day on which the churn horizon was over.",
    ),
    lastSeenDay: nullable(Field.day("Of the last engagement event.")),
    lastMrr: nullable(
      Field.money(
        "The last MRR, in minor units: of subscriptions that go on, or ended within these days and a churn horizon before. Null if it never paid, or in a currency without a rate.",
      ),
    ),
    plan: Field.textOrNull("Of the subscription with the highest MRR."),
    reason: Field.textOrNull(
      "The newer one of the trait or attribute `churnReason` and of what the billing tool said. Reasons of before the last return are left out.",
    ),
    reasonFrom: nullable(Type.Enum(["team", "billing"]), {
      description: "team: the trait or attribute, which an application may send as well.",
    }),
    ...ownerFields,
  }),
});
