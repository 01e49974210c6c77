/** Messages that webhooks get, as JSON Schema. Fields may be added to them. */
import Type from "typebox";
import { alertClosings } from "../alerts/rules.ts";
import { riskModels } from "../api/model-names.ts";
import { Field, nullable } from "../api/schema.ts";
import { digestPeriods } from "../digest/digest.ts";
import { senderNames } from "../sources.ts";
import type { MessageType } from "./destinations.ts";

const entityKind = Field.oneOf(["user", "account"], "Whether the message is about users or accounts.");
const source = Field.oneOf(senderNames, "api is the write API itself.");

/** @param facts the fields of `data` beside the text and the link */
function message(type: MessageType, summary: string, facts: Type.TProperties = {}) {
  const schema = Type.Object({
    type: Type.Literal(type),
    timestamp: Field.instant("When the message was made. Every attempt to send it has the same timestamp."),
    data: Type.Object({
      text: Field.text("The message as a sentence."),
      link: Field.text("The address of the page with the details."),
      ...facts,
    }),
  });
  return { summary, schema };
}

const aboutAlert = {
  rule: Type.Object({
    id: Type.Integer({ minimum: 1 }),
    name: Type.String(),
    version: Field.integer("Grows with each change of condition or scope."),
  }),
  entity: Type.Union([
    Type.Object({
      kind: Type.Enum(["user", "account"]),
      id: Field.textOrNull("userId or accountId."),
      name: Field.text("The name, else the id. It is never an e-mail address."),
      email: Type.Optional(
        Field.textOrNull(
          "The user's e-mail address, if the destination asks for e-mail addresses. Otherwise left out.",
        ),
      ),
    }),
    Type.Object({ kind: Type.Literal("source"), source: Type.String() }),
  ]),
};

/** The messages that are sent, by their types. */
export const messages = {
  "alert.fired": message("alert.fired", "A rule fired for a user, an account or a source.", {
    ...aboutAlert,
    day: Field.day("The day that the alert is about."),
    before: nullable(
      Field.number(
        "The value before: a churn risk, a health score or a number of events. Null without a value.",
      ),
    ),
    after: nullable(Field.number("The value on `day`. Null without a value.")),
    risk: nullable(Field.number("The churn risk on `day`.")),
    expectedLoss: nullable(Field.expectedMoney("Churn risk × MRR, in minor units. Null without revenue.")),
    reasons: Type.Array(Type.String(), { description: "The most important first." }),
  }),
  "alert.resolved": message("alert.resolved", "An alert closed.", {
    ...aboutAlert,
    firedDay: Field.day("The day of the alert."),
    day: Field.day("The day on which the alert closed."),
    why: Type.Enum([...alertClosings].filter((why) => why !== "excluded" && why !== "ruleChanged")),
  }),
  "scores.completed": message("scores.completed", "The scores of a day are ready. Sent once a day.", {
    day: Field.day("The day, in the organization's timezone."),
    scores: Type.Array(
      Type.Object({
        kind: entityKind,
        scored: Field.count("Users or accounts with a score."),
        highRisk: nullable(
          Field.count("Users or accounts at high risk. Null when no model gives a churn risk."),
        ),
      }),
    ),
  }),
  "source.silent": message("source.silent", "A source that usually sends has sent nothing for too long.", {
    source,
    since: Field.instant("When the source last sent something."),
  }),
  "source.resumed": message(
    "source.resumed",
    "A source sends again. Sent to destinations that got `source.silent`.",
    { source, since: Field.instant("The same time as in the message `source.silent`.") },
  ),
  "model.changed": message("model.changed", "Churn risks come from another model than the day before.", {
    kind: entityKind,
    from: nullable(Type.Enum([...riskModels]), {
      description: "The model before. Null if no model gave churn risks.",
    }),
    to: nullable(Type.Enum([...riskModels]), {
      description: "The model now. Null if no model gives churn risks.",
    }),
  }),
  digest: message("digest", "The digest of a day or a week. Sent at 07:00 if there is anything to say.", {
    period: Field.oneOf(digestPeriods, "Daily, or weekly on Mondays."),
    day: Field.day("The day of the digest, in the organization's timezone."),
    scoredDay: nullable(Field.day("The day of the scores. Null before the first.")),
    entered: nullable(
      Field.count(
        "Users or accounts that entered high risk. Null without churn risks, or without earlier scores.",
      ),
    ),
    left: nullable(Field.count("Users or accounts that left high risk. Null whenever `entered` is null.")),
    rows: Type.Array(
      Type.Object({
        name: Field.text(
          "The name of a user or an account, or what the line is about. It is never an e-mail address.",
        ),
        text: Field.text("The line."),
        link: Field.text("The address of the page with the details."),
      }),
      { description: "The most important first." },
    ),
  }),
  test: message("test", "A test message, sent by hand."),
} satisfies Record<MessageType, DescribedMessage>;

export type DescribedMessage = ReturnType<typeof message>;
