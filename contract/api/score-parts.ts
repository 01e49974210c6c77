/** Parts of the answers about scores, as JSON Schema. */
import Type from "typebox";
import { SettingChange } from "../settings.ts";
import { ChurnTarget } from "./churn-targets.ts";
import { Field, listOf, nullable, objectOrNull, Parameter } from "./schema.ts";

/** The state of a user or an account. */
export const State = Field.oneOf(
  ["no_data", "churned", "canceling", "inactive", "new", "active"],
  "The first state that applies. `churned`: the churn target is met. `canceling`: with the churn target `subscription` or the event `subscription_canceled`, every remaining subscription has a scheduled end. `no_data`: no engagement event yet, with or without a subscription. `inactive`: idle for the churn horizon, with a churn target other than silence. `new`: first seen under 14 days ago. `active`: everybody else.",
);
/** A verdict on a user or an account, in one word. */
export const Verdict = Field.oneOf(
  ["churned", "account_churned", "high_risk", "at_risk", "new", "watch", "healthy", "no_score"],
  "The first verdict that applies. `churned`: the user or account has churned. `account_churned`: the account of this user has churned. `high_risk`: the risk band is high. `at_risk`: health below 40. `new`: first seen under 14 days ago. `watch`: health below 70, or the risk band is medium. `healthy`: health of 70 or more. `no_score`: no health score.",
);
/** Of health. */
export const HealthBand = Type.Enum(["healthy", "watch", "at_risk", "onboarding", "churned", "none"]);
export const RiskBand = Type.Union([Type.Literal("low"), Type.Literal("medium"), Type.Literal("high")], {
  description:
    "The band of the churn risk, by `riskBands` of the settings. Without `riskBands`, `high` begins at 5 times the odds of the base rate and `medium` at 2 times; before a back-test has 30 departures, at churn risks of 0.5 and 0.2.",
});

/** Beside a risk band. */
export const ratioToBaseRate = nullable(
  Field.number("The churn risk as a multiple of the base rate, the share that churned in the back-test."),
);
/** The limits of the bands, fixed with the scores. */
export const RiskLimits = Type.Object({
  medium: Field.number("The lowest churn risk of the band `medium`."),
  high: Field.number("The lowest churn risk of the band `high`."),
  byBaseRate: Type.Object(
    { medium: Type.Number(), high: Type.Number() },
    { description: "The limits that hold without `riskBands` in the settings." },
  ),
  cap: Field.number("The churn risk from which health is at most 39: 7 times the odds of the base rate."),
});

const kinds = [Type.Literal("user"), Type.Literal("account")] as const;
export const Kind = Type.Union([...kinds]);
export const kindParameter = Parameter.Union([...kinds], { default: "user" });

/** The day of the scores. */
export const scoredDay = nullable(
  Field.day(
    "The day of the scores. They are as of the start of this day: only what happened before counts. Null before the first scores.",
  ),
);
export const dataStoppedSince = nullable(
  Field.day(
    "The last day with data, while data collection has stopped: no events at all, or none from a larger source. Scores wait. Null while data comes in, even if there are few events.",
  ),
);

const sinceText = "The comparison date: changes are measured from the newest scores of this day or before.";

/** The comparison date, whose scores the newest are compared with. @param days before the newest scores, by
 * default */
export const since = (days: number) =>
  Parameter.optionalDay(`${sinceText} Default: ${days} days before the newest scores.`);
/** The comparison date of a route that compares only if it is sent. */
export const sinceIfSent = Parameter.optionalDay(sinceText);

const Change = Type.Object({
  total: Type.Number(),
  behaviour: Field.number("The part that comes from more or less use. Silence is less use."),
  time: Field.number("The part that comes from time alone: with unchanged use, only tenure grows."),
  settings: Field.number(
    "The part that comes from other settings, other exclusions, the month's scale, or another model.",
  ),
});

export const ScoreChange = nullable(
  Type.Object({
    sinceDay: Field.day("The day of the earlier scores."),
    health: nullable(Change),
    engagement: nullable(Change),
    risk: nullable(Change),
    text: Field.textOrNull(
      "The change of health in words, e.g. Down 13: active on 1 day of 28, was 6; silent for 24 days.",
    ),
  }),
);

/** The meaning of churn, in answers about a model. */
export const churnDefinition = {
  churnTarget: ChurnTarget,
  churnMeans: Field.text(
    "The churn target in words, e.g. subscription_canceled, not undone by subscription_resumed.",
  ),
};

/** Fields about the churn of one user or account. */
export const churnFields = {
  returnProbability: nullable(
    Field.number(
      "For users or accounts that churned by silence: the probability of coming back within the horizon, by BG/BB. Null for others, and beyond 26 weeks of silence.",
    ),
  ),
  churnedDay: nullable(
    Field.day(
      "The day on which the churn target was met; for `silence`, the day on which the horizon was over. Null if not churned.",
    ),
  ),
  endsAt: nullable(
    Field.instant("For the state `canceling`: when the last subscription will have ended. Otherwise null."),
  ),
  churnCause: objectOrNull("Why the user or account churned. Null if not churned.", {
    by: Type.Enum(["event", "silence", "trait", "subscription"]),
    event: Field.textOrNull("The event of the churn target. Null for other targets."),
    trait: Field.textOrNull("The trait of the churn target. Null for other targets."),
    isInvoluntary: nullable(
      Field.boolean(
        "For the churn target `subscription`: whether a failed payment ended the subscription, and not the customer. Null for other targets.",
      ),
    ),
    member: objectOrNull(
      "For an account: the account member who sent the churn event. Null if the user was erased or excluded since.",
      {
        userId: Type.String(),
        label: Field.text("The name, else the e-mail address, else the id."),
      },
    ),
  }),
};

/** Days of a history on which settings or exclusions changed. */
export const Marks = listOf(
  "Days from which scores follow other settings or exclusions than on the scored day before, the oldest first.",
  {
    day: Field.day("The first day whose scores follow the change."),
    changes: Type.Array(SettingChange, { description: "Changes of settings that scores depend on." }),
    exclusionsChanged: Field.boolean("Whether exclusion rules leave out other users than before."),
  },
);

/** Fields of lists that compare scores with earlier scores. */
export const sinceThen = {
  sinceDay: Type.Union([Field.day("The day of the earlier scores."), Type.Null()]),
  rulesChanged: Field.boolean(
    "Whether settings or exclusions have changed since that day, so that a part of the change comes from them.",
  ),
};

const haveAndNeed = (description: string) =>
  Type.Object({ have: Type.Integer(), need: Type.Integer() }, { description });

export const Proof = Type.Object(
  {
    cutoffs: haveAndNeed("Cut-off dates at which models could be trained and judged."),
    rarerLabels: haveAndNeed("Judged outcomes of the rarer kind: churned or stayed, whichever are fewer."),
  },
  { description: "Data that a back-test needs before a model may count as proven." },
);

export const TrainedOn = Type.Object(
  {
    entities: Field.count("Users or accounts that were seen within 26 weeks before the day of the scores."),
    churnedLabels: Field.count(
      "Departures. Each departure counts once; a user who came back may leave again.",
    ),
    retainedLabels: Field.count(
      "Users or accounts that stayed at one cut-off date or more. Each user or account counts once.",
    ),
    controlGroups: objectOrNull(
      "Outcomes of users or accounts in experiments with a control group: the treated are left out of training, and controls weigh more instead. Null without such outcomes.",
      {
        treated: Field.count("Outcomes that were left out."),
        control: Field.count("Outcomes of controls, which weigh 1 ÷ share each."),
        exempt: Field.count("Outcomes of exempt users or accounts, which weigh 1."),
      },
    ),
  },
  { description: "Outcomes to train on." },
);

export const BgbbParameters = Type.Object({
  alpha: Type.Number(),
  beta: Type.Number(),
  gamma: Type.Number(),
  delta: Type.Number(),
});
