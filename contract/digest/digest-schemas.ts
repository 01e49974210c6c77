/** The digest, as JSON Schema. */
import Type from "typebox";
import { callClasses } from "../actions/call-list.ts";
import { destinationStates } from "../actions/destinations.ts";
import { closedObject, Field, listOf, nullable, Parameter } from "../api/schema.ts";
import { senderNames } from "../sources.ts";
import { digestLimits, digestPeriods, ownDigestPeriods } from "./digest.ts";

export const DigestParameters = closedObject({
  period: Parameter.Enum([...digestPeriods], {
    default: "weekly",
    description: "daily: since yesterday. weekly: of the last 7 days.",
  }),
});

const entity = {
  kind: Type.Enum(["user", "account"]),
  id: Field.text("userId or accountId."),
  label: Field.text("The name, else the id. It is never an e-mail address."),
  risk: nullable(Field.share("The churn risk now.")),
  riskBefore: nullable(Field.share("The churn risk before. Null when there was none.")),
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
        `The ${digestLimits.moved} with the highest expected loss, else with the highest risk. Controls of a hold-out are not named before their churn horizon is over.`,
        entity,
      ),
    },
    { description },
  );

export const DigestAnswer = Type.Object({
  period: Field.oneOf(digestPeriods, "As it was asked for."),
  day: Field.day("The day of the digest, in the organization's timezone."),
  kind: Field.oneOf(["user", "account"], "Accounts if any has a score, else users."),
  scoredDay: nullable(Field.day("The day of the scores. Null before the first.")),
  sinceDay: nullable(Field.day("The day of the scores that they are compared with. Null without.")),
  hasModel: Field.boolean("Whether a model gives churn risks. Without one none enters or leaves high risk."),
  lacksData: Field.boolean("Whether there is no model because there is too little data for one."),
  currency: Field.text("Of expected losses. Empty without revenue."),
  hasNews: Field.boolean("Whether it would be sent."),
  entered: moves("In high risk now, and not before."),
  left: moves("In high risk before, and not now."),
  movedBySettings: Field.count("Those that entered or left only by other settings or another model."),
  insideBySettings: Field.count(
    "Users or accounts that meet an alert rule only because settings or the model changed. They have no alert. From 07:00 to 07:00 of the day.",
  ),
  top: listOf(
    `The first ${digestLimits.top} of the call list, in its order: GET /api/call-list has all fields.`,
    {
      kind: entity.kind,
      id: entity.id,
      label: entity.label,
      mrr: nullable(Field.expectedMoney("A month, in minor units of the currency. Null without revenue.")),
      plan: Field.textOrNull("Of the subscription with the highest MRR."),
      class: Field.oneOf(callClasses, "Why it is on the list."),
      reason: Field.text("Why, in one sentence."),
      rankValue: nullable(Field.number("As in the call list.")),
      expectedLoss: nullable(Field.number("As in the call list.")),
      owner: Field.textOrNull("The name of the team member who looks after it."),
    },
  ),
  alerts: Type.Object(
    {
      fired: Field.count("All of them, without controls of a hold-out."),
      handled: Field.count("With the verdict handled."),
      notUseful: Field.count("With the verdict notUseful."),
      withTask: Field.count("Without a verdict, and with a task that was added since."),
      untouched: Field.count("Without a verdict or a task."),
      churned: Field.count("Closed because the user or the account churned."),
    },
    { description: `The alerts of the ${digestLimits.alertDays} days before.` },
  ),
  precision: Type.Object(
    {
      mature: Field.count("Alerts of the last 90 days whose churn horizon is over."),
      churned: Field.count("Those of them that were followed by churn."),
      rate: nullable(Field.share("Their share. Null without an alert.")),
      interval: nullable(
        Type.Object({ low: Field.share("The lower end."), high: Field.share("The upper end.") }),
        { description: "Its 95 % interval (Wilson)." },
      ),
    },
    { description: "Of alerts without the verdict handled, a task or a contact." },
  ),
  changes: Type.Array(Type.String(), { description: "Settings and models that changed, as sentences." }),
  data: Type.Object(
    {
      silent: listOf("Sources that are silent.", {
        source: Field.oneOf(senderNames, "api is the write API itself."),
        since: Field.instant("When it was last heard of."),
      }),
      stoppedSince: nullable(Field.day("Since when scores wait for data. Null when they do not.")),
      rejectedEvents: Field.count("Events that the warehouse refused, and that wait."),
    },
    { description: "The state of the data." },
  ),
});

export const OwnDigestBody = closedObject({
  period: Type.Enum([...ownDigestPeriods], {
    description: "The first time, and after unsubscribing, a mail asks the member to agree by a link.",
    "x-send": `one of ${ownDigestPeriods.join(", ")}`,
  }),
});
export const OwnDigestAnswer = Type.Object({
  period: Field.oneOf(ownDigestPeriods, "How often it is sent."),
  address: Field.text("The member's e-mail address."),
  state: nullable(
    Field.oneOf(
      destinationStates,
      "unconfirmed: the member has not agreed by the link yet. disabled: the member unsubscribed, or mails failed. Null when it is off.",
    ),
  ),
});
