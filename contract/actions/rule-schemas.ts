/** Alert rules and alerts, as JSON Schema. */
import Type, { type TProperties } from "typebox";
import { closedObject, Field, inSegment, listOf, nullable, Parameter } from "../api/schema.ts";
import { nameRules } from "../names.ts";
import { RuleConditionBody, RuleScopeBody } from "./rule-condition.ts";
import { alertArms, alertClosings, alertStates, alertVerdicts, ruleLimits, ruleTimes } from "./rules.ts";

const days = (most: number) =>
  Type.Integer({ minimum: 1, maximum: most, "x-send": `a whole number from 1 to ${most}` });
const id = Type.Integer({ minimum: 1 });

const name = Type.String({
  ...nameRules,
  maxLength: ruleLimits.nameCharacters,
  description: "One rule of the organization has it.",
  "x-send": `1 to ${ruleLimits.nameCharacters} characters and no control character`,
});

const exemptMrr = Type.Number({ minimum: 0, "x-send": "a number from 0 on, in minor units" });
const exemptions = <Mrr extends TProperties>(mrr: Mrr) =>
  closedObject(
    { segment: Type.Optional(id), ...mrr },
    {
      description:
        "Left out before the draw of the hold-out: a segment, and accounts with a higher MRR in minor units. They get their messages.",
      "x-send": "an object with segment, mrrAbove, both or none",
    },
  );

const settings = {
  name,
  scope: RuleScopeBody,
  condition: RuleConditionBody,
  cooldownDays: nullable(days(ruleLimits.days), {
    description:
      "Days from an alert on in which the rule does not fire again for the same user or account, and in which the alert stays open. Null: the churn horizon. An alert about a source ends when the source sends again; null is a day.",
    "x-send": `a whole number from 1 to ${ruleLimits.days}, or null`,
  }),
  cap: Type.Integer({
    minimum: 0,
    maximum: ruleLimits.maxCap,
    description:
      "Alerts a day that are in messages, those with the highest expected loss first. All alerts are in the list.",
    "x-send": `a whole number from 0 to ${ruleLimits.maxCap}`,
  }),
  when: Type.Enum([...ruleTimes], {
    description:
      "When Slack and e-mail get their message: at 08:00 in the organization's timezone, or at once. Webhooks get theirs at once.",
    "x-send": `one of ${ruleTimes.join(", ")}`,
  }),
  destinations: Type.Array(id, {
    uniqueItems: true,
    maxItems: ruleLimits.destinations,
    "x-send": "a list of ids of destinations",
  }),
  holdOutShare: Type.Number({
    minimum: 0,
    maximum: ruleLimits.maxHoldOutShare,
    description:
      "The share of entries without messages. They are in no list before the churn horizon is over. 0: no hold-out.",
    "x-send": `a number from 0 to ${ruleLimits.maxHoldOutShare}`,
  }),
  exemptions: exemptions({ mrrAbove: Type.Optional(exemptMrr) }),
  includeCurrent: Type.Boolean({
    description: "Whether users or accounts that are inside when the rule is saved fire.",
    "x-send": "true or false",
  }),
};

export const AlertRuleBody = closedObject({
  name,
  scope: settings.scope,
  condition: settings.condition,
  cooldownDays: Type.Optional(settings.cooldownDays),
  cap: Type.Optional(settings.cap),
  when: Type.Optional(settings.when),
  destinations: Type.Optional(settings.destinations),
  holdOutShare: Type.Optional(settings.holdOutShare),
  exemptions: Type.Optional(
    exemptions({
      mrrAbove: Type.Optional(
        nullable(exemptMrr, {
          description:
            "Null exempts no MRR. Left out: a hold-out that begins exempts the MRR that at most the highest tenth of paying accounts exceed (`GET /api/alert-rules/default-exemption`), and a change keeps the MRR of a hold-out that goes on.",
          "x-send": "a number from 0 on, in minor units, or null",
        }),
      ),
    }),
  ),
  includeCurrent: Type.Optional(settings.includeCurrent),
});

const ruleFields = {
  id,
  ...settings,
  isPaused: Field.boolean("A paused rule is not decided."),
  version: Field.integer(
    "Grows with each change of condition or scope. Open alerts stay with the older version.",
  ),
  decidedThrough: nullable(Field.day("The last day that was decided. Null before the first.")),
  openAlerts: Field.count("Alerts that are open."),
  createdAt: Field.instant("When it was made."),
  updatedAt: Field.instant("When it was changed last."),
};
export const AlertRuleAnswer = Type.Object(ruleFields);
export const DefaultExemptionAnswer = Type.Object({
  mrrAbove: nullable(
    Field.money(
      "In minor units of the reporting currency. Of paying users where no account pays. Null without payers.",
    ),
  ),
});
export const AlertRulesAnswer = Type.Object({ rules: listOf("By name.", ruleFields) });

const Person = Type.Object({ id, name: Type.String() });
const alertFields = {
  id,
  rule: Type.Object({ id, name: Type.String() }, { description: "The rule that fired." }),
  version: Field.integer("Of the rule."),
  entityKind: Type.Enum(["user", "account", "source"]),
  entityId: Field.text("userId or accountId, or the name of the source."),
  entityLabel: Field.text("The name, else the e-mail address, else the id."),
  firedDay: Field.day("The day that it is about, in the organization's timezone."),
  firedAt: Field.instant("When it was decided."),
  before: nullable(Field.number("The value before: a risk, a health or a number of events.")),
  after: nullable(Field.number("The value of the day.")),
  reasons: Type.Array(Type.String(), { description: "The most important first." }),
  risk: nullable(
    Field.number(
      "The churn risk of the day; in lists of open alerts that of a payer now. 1 of a scheduled end.",
    ),
  ),
  expectedLoss: nullable(
    Field.expectedMoney(
      "Churn risk × MRR, in minor units; in lists of open alerts that of a payer now, where MRR counts in full that ends as scheduled. Of a scheduled end the MRR that ends. Null without revenue.",
    ),
  ),
  arm: nullable(Type.Enum([...alertArms]), {
    description: "Of the hold-out. A control had no message. Null without a hold-out.",
  }),
  isSent: Field.boolean("Whether it was in a message to the destinations of the rule."),
  closedDay: nullable(Field.day("When it closed. Null while it is open.")),
  closedWhy: nullable(Type.Enum([...alertClosings]), { description: "Why it closed." }),
  assignee: nullable(Person, {
    description: "The team member who looks after it: first the owner of the user or the account.",
  }),
  snoozedUntil: nullable(Field.day("The day on which it is open again.")),
  verdict: nullable(Type.Enum([...alertVerdicts]), { description: "The word of a team member about it." }),
  verdictBy: nullable(Person, { description: "Null when that was not a team member." }),
  verdictAt: nullable(Field.instant("When that was said.")),
  note: Field.textOrNull("A text of a team member."),
};
export const AlertAnswer = Type.Object(alertFields);

export const AlertsParameters = closedObject({
  state: Parameter.Enum([...alertStates], {
    default: "open",
    description: "open: not closed, not snoozed, and not judged yet. handled: judged.",
  }),
  rule: Type.Optional(Type.Integer({ minimum: 1, description: "Only alerts of this rule." })),
  user: Parameter.optionalName("Only alerts about the user with this id."),
  account: Parameter.optionalName("Only alerts about the account with this id."),
  segment: inSegment("alerts"),
  assignee: Type.Optional(
    Type.String({
      pattern: "^(me|nobody|[0-9]{1,15})$",
      "x-send": "me, nobody, or the id of a team member",
      description: "Only alerts of the team member with this id; me: one's own; nobody: those without.",
    }),
  ),
  ...Parameter.page,
});
export const AlertsAnswer = Type.Object({
  total: Field.count("Alerts on all pages together."),
  alerts: listOf(
    "The highest expected loss first, then the highest risk. Controls are not among them before the churn horizon is over.",
    alertFields,
  ),
});

const snoozedUntil = nullable(Field.day("The day on which it is open again."), {
  "x-send": "a date, 2027-03-31 say, or null",
});
const verdict = nullable(Type.Enum([...alertVerdicts]), {
  "x-send": `one of ${alertVerdicts.join(", ")}, or null`,
});

export const CallChangeBody = closedObject(
  { snoozedUntil: Type.Optional(snoozedUntil), verdict: Type.Optional(verdict) },
  { minProperties: 1, "x-send": "a JSON object with at least one of snoozedUntil, verdict" },
);

const sent = "a JSON object with at least one of assignee, snoozedUntil, verdict, note";
export const AlertChangeBody = closedObject(
  {
    assignee: Type.Optional(nullable(id, { "x-send": "the id of a team member, or null" })),
    snoozedUntil: Type.Optional(snoozedUntil),
    verdict: Type.Optional(verdict),
    note: Type.Optional(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: ruleLimits.alertNoteCharacters,
          pattern: "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$",
        }),
        { "x-send": `1 to ${ruleLimits.alertNoteCharacters} characters, or null` },
      ),
    ),
  },
  { minProperties: 1, "x-send": sent },
);
