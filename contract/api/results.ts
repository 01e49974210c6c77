/** Results, as JSON Schema: for whom something was done, what, by whom, and how they stand now. */
import Type from "typebox";
import { HoldOutResultFields } from "../alerts/rule-figures.ts";
import { workOutcomes } from "../alerts/rules.ts";
import { closedObject, Field, inSegment, listOf, nullable, objectOrNull, Parameter } from "./schema.ts";

/** The days of each period. They end today. */
export const resultDays = { week: 7, fourWeeks: 28, quarter: 91 } as const;
export type ResultPeriod = keyof typeof resultDays;

/** What counts as done for a customer. `message`: of a rule's later step. */
export const touchKinds = ["contact", "task", "handled", "message"] as const;
export type TouchKind = (typeof touchKinds)[number];

/** Days whose use is compared: before the first touch, and from it on. */
export const usageDays = 28;

export const ResultsParameters = closedObject({
  period: Parameter.Enum(Object.keys(resultDays) as ResultPeriod[], {
    default: "week",
    description: "week: the last 7 days, today among them. fourWeeks: 28 days. quarter: 91 days.",
  }),
  member: Type.Optional(
    Type.String({
      pattern: "^(me|[0-9]{1,15})$",
      "x-send": "me, or the id of a team member",
      description: "Only customers that this team member worked on; me: the signed-in team member.",
    }),
  ),
  rule: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: "Only customers that had an open alert of this rule at a touch.",
    }),
  ),
  segment: inSegment("entities"),
});

const Person = Type.Object({ id: Type.Integer({ minimum: 1 }), name: Type.String() });
const Rule = Type.Object({ id: Type.Integer({ minimum: 1 }), name: Type.String() });
const outcome = nullable(Type.Enum([...workOutcomes]), {
  description: "What came of the work, as a team member said at `handled`. Null without an outcome.",
});

const sums = {
  customers: Field.count(
    "Customers that were worked on: accounts, and users without an account. Each counts once.",
  ),
  mrrThen: Field.money("The sum of `mrrThen`, in minor units of the reporting currency."),
  mrrNow: Field.money("The sum of `mrrNow`."),
};

export const OutcomeCounts = Type.Object(
  {
    saved: Type.Integer({ minimum: 0 }),
    lost: Type.Integer({ minimum: 0 }),
    noAnswer: Type.Integer({ minimum: 0 }),
    wrongAlarm: Type.Integer({ minimum: 0 }),
    other: Type.Integer({ minimum: 0 }),
  },
  { description: "Customers by outcome. Customers without an outcome are not counted." },
);

export const ResultsAnswer = Type.Object({
  from: Field.day("The first day of the period, in the organization's timezone."),
  to: Field.day("The last day: today."),
  reportingCurrency: nullable(Type.String(), {
    description: "The currency of all amounts. Null without subscriptions.",
  }),
  totals: Type.Object({
    ...sums,
    paying: Field.count("Customers that paid on the day of the first touch."),
    stillPaying: Field.count("Customers of `paying` that still pay."),
    outcomes: OutcomeCounts,
  }),
  members: listOf("By team member. A customer of two members counts for each of them.", {
    member: Person,
    ...sums,
  }),
  rules: listOf("By rule. A customer of two rules counts for each of them.", { rule: Rule, ...sums }),
  hint: objectOrNull(
    "Of the customers whose churn horizon is over: how many were predicted to churn, and how many did. A hint, not proof: team members chose whom to work on. Null without such customers.",
    {
      customers: Field.count(
        "Customers that had a churn risk before the first touch, and whose churn horizon is over.",
      ),
      predicted: Field.number("The sum of the churn risks on the day before the first touch."),
      low: Field.number("Lower end of the 95 % interval of `predicted`."),
      high: Field.number("Upper end of the interval."),
      churned: Field.count("How many customers had churned at the end of the horizon."),
    },
  ),
  proof: listOf(
    "What the control groups of alert rules show, of deleted rules too. Unlike the hint, this is proof.",
    {
      rule: Field.text("The rule's name."),
      since: Field.day("When the experiment began."),
      ...HoldOutResultFields,
    },
  ),
  customers: listOf("The highest MRR first, then the latest touch.", {
    kind: Type.Enum(["user", "account"]),
    id: Field.text("userId or accountId."),
    label: Field.text("A name, else an e-mail address, else the id."),
    touches: listOf("What was done, the oldest first.", {
      what: Type.Enum([...touchKinds]),
      at: Field.instant("When."),
      person: nullable(Person, { description: "The team member. Null if it was somebody else." }),
      by: Field.textOrNull(
        "Who did it, if not a team member: an application, or the rule of a message. Null for a team member.",
      ),
      text: Field.textOrNull("The text of the contact, the task's title, or the note."),
    }),
    rules: Type.Array(Rule, {
      description: "Rules whose alert was open at a touch: why the customer was worked on.",
    }),
    outcome,
    mrrThen: nullable(Field.money("MRR at the start of the day of the first touch. Null without revenue.")),
    mrrNow: nullable(Field.money("MRR now. Null without revenue.")),
    useDays: Field.integer(
      `Use is counted on this many days before the first touch, and as many from it on: the days that are over, at most ${usageDays}.`,
    ),
    useBefore: Field.count("Engagement events in `useDays` days before the first touch."),
    useAfter: Field.count("Engagement events in `useDays` days from the first touch on."),
    state: nullable(Field.text("The state of the newest score. Null without a score.")),
    risk: nullable(Field.share("The churn risk now. Null without a churn risk.")),
  }),
});
