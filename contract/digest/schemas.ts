/** The digest, as JSON Schema. */
import Type from "typebox";
import { OutcomeCounts } from "../api/results.ts";
import { closedObject, Field, listOf, nullable, Parameter } from "../api/schema.ts";
import { callClasses } from "../call-list.ts";
import { destinationStates } from "../destinations/destinations.ts";
import { senderNames } from "../sources.ts";
import { digestLimits, digestPeriods, ownDigestPeriods } from "./digest.ts";

export const DigestParameters = closedObject({
  period: Parameter.Enum([...digestPeriods], {
    default: "weekly",
    description: "daily: changes since yesterday. weekly: changes of the last 7 days.",
  }),
});

const entity = {
  kind: Type.Enum(["user", "account"]),
  id: Field.text("userId or accountId."),
  label: Field.text("The name, else the id. It is never an e-mail address."),
  risk: nullable(Field.share("The churn risk now.")),
  riskBefore: nullable(Field.share("The churn risk on `sinceDay`. Null without a churn risk then.")),
  state: Field.text("The state now. Empty without a score."),
  expectedLoss: nullable(
    Field.expectedMoney("Churn risk × MRR a month, in minor units of the currency. Null without revenue."),
  ),
};
const moves = (description: string) =>
  Type.Object(
    {
      total: Field.count("Users or accounts."),
      named: listOf(
        `The ${digestLimits.moved} users or accounts with the highest expected loss, else with the highest risk. Users and accounts in a control group are not named until their churn horizon is over.`,
        entity,
      ),
    },
    { description },
  );

export const DigestAnswer = Type.Object({
  period: Field.oneOf(digestPeriods, "The period of the request."),
  day: Field.day("The day of the digest, in the organization's timezone."),
  kind: Field.oneOf(["user", "account"], "Accounts if any has a score, else users."),
  scoredDay: nullable(Field.day("The day of the scores. Null before the first.")),
  sinceDay: nullable(
    Field.day("The day of the earlier scores, for comparison. Null without earlier scores."),
  ),
  hasModel: Field.boolean(
    "Whether a model gives churn risks. Without a model nobody enters or leaves high risk.",
  ),
  lacksData: Field.boolean("Whether there is no model because there is too little data to train a model."),
  currency: Field.text("The currency of expected losses. Empty without revenue."),
  hasNews: Field.boolean("Whether the digest has anything to say. If not, it is not sent."),
  entered: moves("Users or accounts that entered high risk since `sinceDay`."),
  left: moves("Users or accounts that left high risk since `sinceDay`."),
  movedBySettings: Field.count(
    "Users or accounts that entered or left high risk only because of other settings or another model.",
  ),
  insideBySettings: Field.count(
    "Users or accounts that an alert rule took over as they were: the rule is new or was resumed, or settings, the model or imported data changed. They get no alert. Counted from 07:00 to 07:00 of `day`.",
  ),
  top: listOf(
    `The first ${digestLimits.top} of the call list, in its order: GET /api/call-list has all fields.`,
    {
      kind: entity.kind,
      id: entity.id,
      label: entity.label,
      mrr: nullable(Field.expectedMoney("MRR in minor units of the currency. Null without revenue.")),
      plan: Field.textOrNull("The plan of the subscription with the highest MRR."),
      class: Field.oneOf(callClasses, "Why it is on the list."),
      reason: Field.text("Why it is on the list, in one sentence."),
      rankValue: nullable(Field.number("The value in the call list.")),
      expectedLoss: nullable(Field.number("The value in the call list.")),
      owner: Field.textOrNull("The name of the owner, a team member. Null without an owner."),
    },
  ),
  alerts: Type.Object(
    {
      fired: Field.count("All alerts, without alerts of a control group."),
      handled: Field.count("Alerts with the verdict `handled`."),
      notUseful: Field.count("Alerts with the verdict `notUseful`."),
      withTask: Field.count("Alerts without a verdict, but with a task that was added since."),
      untouched: Field.count("Alerts without a verdict or a task."),
      churned: Field.count("Alerts that closed because the user or account churned."),
    },
    { description: `The alerts of the ${digestLimits.alertDays} days before.` },
  ),
  done: Type.Object(
    {
      customers: Field.count("Customers that were worked on: accounts, and users without an account."),
      mrrThen: Field.expectedMoney("Their MRR on the day of the first touch, in minor units."),
      mrrNow: Field.expectedMoney("Their MRR now, in minor units."),
      paying: Field.count("Customers that paid on the day of the first touch."),
      stillPaying: Field.count("Customers of `paying` that still pay."),
      outcomes: OutcomeCounts,
    },
    { description: "The work of the last 7 days, as in /api/results." },
  ),
  precision: Type.Object(
    {
      mature: Field.count("Alerts of the last 90 days whose churn horizon is over."),
      churned: Field.count("How many of these alerts were followed by churn."),
      rate: nullable(Field.share("churned ÷ mature. Null without a mature alert.")),
      interval: nullable(Type.Object({ low: Field.share("Lower end."), high: Field.share("Upper end.") }), {
        description: "The 95 % interval of `rate` (Wilson).",
      }),
    },
    { description: "The precision of alerts: of alerts without the verdict `handled`, a task or a contact." },
  ),
  changes: Type.Array(Type.String(), { description: "Changes of settings and models, as sentences." }),
  data: Type.Object(
    {
      silent: listOf("Sources that are silent.", {
        source: Field.oneOf(senderNames, "api is the write API itself."),
        since: Field.instant("When the source last sent something."),
      }),
      stoppedSince: nullable(Field.day("Since when scores wait for data. Null if they do not wait.")),
      rejectedEvents: Field.count("Rejected events that wait to be sent again or deleted."),
    },
    { description: "The state of the data." },
  ),
});

export const OwnDigestBody = closedObject({
  period: Type.Enum([...ownDigestPeriods], {
    description:
      "How often the digest is sent. The first time, and after unsubscribing, the team member has to agree by a link in a mail.",
    "x-send": `one of ${ownDigestPeriods.join(", ")}`,
  }),
});
export const OwnDigestAnswer = Type.Object({
  period: Field.oneOf(ownDigestPeriods, "How often the digest is sent."),
  address: Field.text("The team member's e-mail address."),
  state: nullable(
    Field.oneOf(
      destinationStates,
      "unconfirmed: the team member has not agreed by the link yet. disabled: the team member unsubscribed, or mails failed. Null if the digest is off.",
    ),
  ),
});
