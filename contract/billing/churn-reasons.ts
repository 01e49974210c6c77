/** Churn reasons as JSON Schema: parameters and answer. */
import Type from "typebox";
import { reasonFrom } from "../api/list-fields.ts";
import { closedObject, Field, inSegment, listOf, Parameter } from "../api/schema.ts";
import { billingReasons, churnReasonLimits, failedPaymentReason } from "../churn-reasons.ts";
import { payerGroup, period, revenueHead, revenueLimits, to } from "./revenue.ts";

export const ChurnReasonsParameters = closedObject({
  period,
  periods: Parameter.positive(
    revenueLimits.periods,
    12,
    `This many periods, at most ${revenueLimits.months} months. The last period contains \`to\`.`,
  ),
  to,
  split: Parameter.Enum(["none", "plan", "owner", "mrr", "ending"], {
    default: "none",
    description:
      "Split by the plan of the payer's newest MRR, by the owner (the attribute or trait `owner`, as it is now), by a band of the MRR that left, or by whether failed payments ended it.",
  }),
  segment: inSegment("payers"),
  comments: Parameter.Integer({
    minimum: 0,
    maximum: churnReasonLimits.comments,
    default: 20,
    description: "At most this many comments.",
  }),
});

export const ChurnReasonsAnswer = Type.Object({
  ...revenueHead,
  reasons: listOf(
    "By group and period, the oldest period first, and within a period the highest MRR first. Over all reasons `mrr` is `churnedMrr`, and `payers` is `churnedPayers`, of `/api/revenue` in the same period. Periods without a departure have no rows. Payers that ever had MRR in a currency without a rate are left out, as in `/api/revenue`.",
    {
      kind: payerGroup.kind,
      value: Field.textOrNull(
        "The plan or the owner; with split=mrr a band in units of the currency, whose upper end is exclusive; with split=ending `voluntary` or `payment_failed`. Null for other kinds than `value`.",
      ),
      fromDay: Field.day("The first day of the period."),
      toDay: Field.day("The last day of the period, or `to` if the period goes on after it."),
      isComplete: Field.boolean("Whether the whole period is counted: `to` is not before its last day."),
      reason: Field.textOrNull(
        `One of ${billingReasons.join(", ")}, or ${failedPaymentReason}, or the words of a team or an application. Beyond the ${churnReasonLimits.ownReasons} most frequent, such words count as \`other\`. Null: no reason given.`,
      ),
      mrr: Field.money("The MRR that left. In minor units of the currency: cents of USD."),
      payers: Field.count("Payers that left."),
      involuntaryMrr: Field.money("The part of `mrr` that ended because payments failed."),
      involuntaryPayers: Field.count("The payers of `involuntaryMrr`."),
      fromTeam: Field.count(
        "Payers whose reason is from the team, or from the application by the trait or attribute `churnReason`.",
      ),
      fromBilling: Field.count("Payers whose reason is from a billing event."),
      fromEvent: Field.count("Payers whose reason is from the event of the churn target."),
    },
  ),
  commentTotal: Field.count("Departures of the periods with a comment."),
  comments: listOf(
    "What customers and team members said about these departures, the newest departure first.",
    {
      kind: Field.oneOf(["account", "user"], "user: a user who paid without an account."),
      id: Field.text("The id of the account or the user."),
      label: Field.text("The account's name, or the user's e-mail address, else the id."),
      day: Field.day("The day of the departure, in the organization's timezone."),
      mrr: Field.money("The MRR that left, in minor units."),
      isInvoluntary: Field.boolean("Whether payments failed."),
      reason: Field.textOrNull("As above, in the words in which it was said."),
      reasonFrom,
      comment: Field.text(
        `At most ${churnReasonLimits.commentCharacters} characters; a longer comment ends with “…”.`,
      ),
    },
  ),
});
