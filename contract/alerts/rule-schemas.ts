/** Alert rules and alerts, as JSON Schema. */
import Type, { type TProperties } from "typebox";
import { closedObject, Field, inSegment, listOf, nullable, Parameter } from "../api/schema.ts";
import { nameRules } from "../names.ts";
import { workLimits } from "../notes-and-tasks.ts";
import { RuleConditionBody, RuleScopeBody } from "./rule-condition.ts";
import {
  alertArms,
  alertClosings,
  alertStates,
  alertVerdicts,
  ruleLimits,
  ruleTimes,
  stepKinds,
  workOutcomes,
} from "./rules.ts";

const days = (most: number) =>
  Type.Integer({ minimum: 1, maximum: most, "x-send": `a whole number from 1 to ${most}` });
const id = Type.Integer({ minimum: 1 });

const name = Type.String({
  ...nameRules,
  maxLength: ruleLimits.nameCharacters,
  description: "Unique among the organization's alert rules.",
  "x-send": `1 to ${ruleLimits.nameCharacters} characters and no control character`,
});

const exemptMrr = Type.Number({ minimum: 0, "x-send": "a number from 0, in minor units" });
const exemptions = <Mrr extends TProperties>(mrr: Mrr) =>
  closedObject(
    { segment: Type.Optional(id), ...mrr },
    {
      description:
        "Who never gets into the control group: the members of a segment, and accounts with an MRR above `mrrAbove`, in minor units. Their alerts are always sent.",
      "x-send": "an object with segment, mrrAbove, both or none",
    },
  );

const stepDays = Type.Integer({
  minimum: 0,
  maximum: ruleLimits.days,
  description: "Days after the alert fired. 0: with the alert. A message has at least 1.",
  "x-send": `a whole number from 0 to ${ruleLimits.days}`,
});
const stepFields = {
  title: nullable(
    Type.String({
      ...nameRules,
      maxLength: workLimits.taskTitleCharacters,
      description: "The title of the task.",
    }),
    { "x-send": `1 to ${workLimits.taskTitleCharacters} characters and no control character, or null` },
  ),
  dueDays: nullable(Type.Integer({ minimum: 0, maximum: ruleLimits.days }), {
    description: "Days from the step to the due day of the task. Null: no due day.",
    "x-send": `a whole number from 0 to ${ruleLimits.days}, or null`,
  }),
  assignee: nullable(id, {
    description: "The team member who gets the task. Null: the assignee of the alert, at first the owner.",
    "x-send": "the id of a team member, or null",
  }),
};
const stepKind = Type.Enum([...stepKinds], {
  description: "task: a task for the user or account. message: one more message to the rule's destinations.",
  "x-send": `one of ${stepKinds.join(", ")}`,
});
const stepsText = "Tasks and later messages while an alert is open. Controls get no steps.";
const StepsBody = Type.Array(
  closedObject({
    kind: stepKind,
    afterDays: stepDays,
    title: Type.Optional(stepFields.title),
    dueDays: Type.Optional(stepFields.dueDays),
    assignee: Type.Optional(stepFields.assignee),
  }),
  {
    maxItems: ruleLimits.steps,
    description: stepsText,
    "x-send": `a list of at most ${ruleLimits.steps} steps`,
  },
);
const StepsAnswer = listOf(stepsText, { kind: stepKind, afterDays: stepDays, ...stepFields });

const settings = {
  name,
  scope: RuleScopeBody,
  condition: RuleConditionBody,
  cooldownDays: nullable(days(ruleLimits.days), {
    description:
      "Days after an alert in which the rule does not fire again for the same user or account, and in which the alert stays open. Null: the churn horizon. For `sourceSilent`: an alert closes when the source sends again, and null means one day.",
    "x-send": `a whole number from 1 to ${ruleLimits.days}, or null`,
  }),
  cap: Type.Integer({
    minimum: 0,
    maximum: ruleLimits.maxCap,
    description:
      "At most this many alerts a day are sent in messages, the highest expected loss first. The list has all alerts.",
    "x-send": `a whole number from 0 to ${ruleLimits.maxCap}`,
  }),
  when: Type.Enum([...ruleTimes], {
    description:
      "When messages go to Slack and e-mail: at 08:00 in the organization's timezone, or at once. Messages to webhooks always go at once.",
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
      "This share of alerts is held back as a control group: no message, and in no list until the churn horizon is over. 0: no control group. `usageUp` and `seatsAbove` have none.",
    "x-send": `a number from 0 to ${ruleLimits.maxHoldOutShare}`,
  }),
  exemptions: exemptions({ mrrAbove: Type.Optional(exemptMrr) }),
  includeCurrent: Type.Boolean({
    description: "Whether users and accounts that already match when the rule is saved get an alert.",
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
            "Null: no account is exempt because of its MRR. If left out, a new control group exempts at most a tenth of paying accounts (`GET /api/alert-rules/default-exemption`), and a change keeps the MRR of a running control group.",
          "x-send": "a number from 0, in minor units, or null",
        }),
      ),
    }),
  ),
  steps: Type.Optional(StepsBody),
  includeCurrent: Type.Optional(settings.includeCurrent),
});

const ruleFields = {
  id,
  ...settings,
  steps: StepsAnswer,
  isPaused: Field.boolean("A paused rule makes no alerts."),
  version: Field.integer(
    "Grows with each change of condition or scope. Open alerts keep the version that they fired with.",
  ),
  decidedThrough: nullable(
    Field.day("The last day that the rule has been checked for. Null before the first."),
  ),
  openAlerts: Field.count("Open alerts of the rule."),
  createdAt: Field.instant("When it was made."),
  updatedAt: Field.instant("When it was changed last."),
};
export const AlertRuleAnswer = Type.Object(ruleFields);
export const DefaultExemptionAnswer = Type.Object({
  mrrAbove: nullable(
    Field.money(
      "In minor units of the reporting currency. If no account pays, it is computed from paying users. Null without payers.",
    ),
  ),
});
export const AlertRulesAnswer = Type.Object({ rules: listOf("By name.", ruleFields) });

const Person = Type.Object({ id, name: Type.String() });
const alertFields = {
  id,
  rule: Type.Object({ id, name: Type.String() }, { description: "The rule that fired." }),
  version: Field.integer("The version of the rule."),
  entityKind: Type.Enum(["user", "account", "source"]),
  entityId: Field.text("userId or accountId, or the name of the source."),
  entityLabel: Field.text("The name, else the e-mail address, else the id."),
  firedDay: Field.day("The day that the alert is about, in the organization's timezone."),
  firedAt: Field.instant("When the alert was made."),
  before: nullable(
    Field.number(
      "The value before: a churn risk, a health score, a number of events, a part of the seats or a pulse. Null without a value.",
    ),
  ),
  after: nullable(Field.number("The value on `firedDay`. Null without a value.")),
  reasons: Type.Array(Type.String(), { description: "The most important first." }),
  risk: nullable(
    Field.number(
      "The churn risk on `firedDay`. In lists of open alerts, a payer's current churn risk. 1 for a scheduled end. Null for `usageUp` and `seatsAbove`: nothing is at risk.",
    ),
  ),
  expectedLoss: nullable(
    Field.expectedMoney(
      "Churn risk × MRR, in minor units. In lists of open alerts, a payer's current value, in which MRR that is scheduled to end counts in full. For a scheduled end: the MRR that ends. Null without revenue.",
    ),
  ),
  arm: nullable(Type.Enum([...alertArms]), {
    description:
      "The arm of the experiment. `control`: no message was sent. `exempt`: never in the control group. Null without a control group.",
  }),
  isSent: Field.boolean("Whether the alert was in a message to the rule's destinations."),
  closedDay: nullable(Field.day("The day on which the alert closed. Null while it is open.")),
  closedWhy: nullable(Type.Enum([...alertClosings]), {
    description: "Why the alert closed. Null while it is open.",
  }),
  assignee: nullable(Person, {
    description: "The team member who looks after the alert: at first the owner of the user or account.",
  }),
  snoozedUntil: nullable(Field.day("The day on which the snooze ends. Null: not snoozed.")),
  verdict: nullable(Type.Enum([...alertVerdicts]), {
    description: "What a team member said about the alert. Null without a verdict.",
  }),
  outcome: nullable(Type.Enum([...workOutcomes]), {
    description: "What came of the work on a handled alert. Null without an outcome.",
  }),
  verdictBy: nullable(Person, {
    description: "The team member who gave the verdict. Null if it was not a team member.",
  }),
  verdictAt: nullable(Field.instant("When the verdict was given.")),
  note: Field.textOrNull("A note of a team member."),
};
export const AlertAnswer = Type.Object(alertFields);

export const AlertsParameters = closedObject({
  state: Parameter.Enum([...alertStates], {
    default: "open",
    description: "open: not closed, not snoozed and without a verdict. handled: with a verdict.",
  }),
  rule: Type.Optional(Type.Integer({ minimum: 1, description: "Only alerts of this rule." })),
  user: Parameter.optionalName("Only alerts about the user with this id."),
  account: Parameter.optionalName("Only alerts about the account with this id."),
  segment: inSegment("alerts"),
  assignee: Type.Optional(
    Type.String({
      pattern: "^(me|nobody|[0-9]{1,15})$",
      "x-send": "me, nobody, or the id of a team member",
      description:
        "Only alerts that are assigned to the team member with this id; me: to the signed-in team member; nobody: to nobody.",
    }),
  ),
  ...Parameter.page,
});
export const AlertsAnswer = Type.Object({
  total: Field.count("Alerts on all pages together."),
  alerts: listOf(
    "The highest expected loss first, then the highest risk. Alerts of the control group are left out until the churn horizon is over.",
    alertFields,
  ),
});

const snoozedUntil = nullable(Field.day("The day on which the snooze ends. Null: not snoozed."), {
  "x-send": "a date such as 2027-03-31, or null",
});
const verdict = nullable(Type.Enum([...alertVerdicts]), {
  "x-send": `one of ${alertVerdicts.join(", ")}, or null`,
});

const outcome = nullable(
  Type.Enum([...workOutcomes], {
    description: "What came of the work. Setting an outcome also marks the alert or call as handled.",
  }),
  { "x-send": `one of ${workOutcomes.join(", ")}, or null` },
);
const note = nullable(
  Type.String({
    minLength: 1,
    maxLength: ruleLimits.alertNoteCharacters,
    pattern: "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$",
  }),
  { "x-send": `1 to ${ruleLimits.alertNoteCharacters} characters, or null` },
);

export const CallChangeBody = closedObject(
  {
    snoozedUntil: Type.Optional(snoozedUntil),
    verdict: Type.Optional(verdict),
    outcome: Type.Optional(outcome),
    note: Type.Optional(note),
  },
  {
    minProperties: 1,
    "x-send":
      "a JSON object with at least one of snoozedUntil, verdict, outcome; a note goes with an outcome",
  },
);

const sent = "a JSON object with at least one of assignee, snoozedUntil, verdict, outcome, note";
export const AlertChangeBody = closedObject(
  {
    assignee: Type.Optional(nullable(id, { "x-send": "the id of a team member, or null" })),
    snoozedUntil: Type.Optional(snoozedUntil),
    verdict: Type.Optional(verdict),
    outcome: Type.Optional(outcome),
    note: Type.Optional(note),
  },
  { minProperties: 1, "x-send": sent },
);
