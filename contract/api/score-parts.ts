/** Parts of the answers about scores, as JSON Schema. */
import Type from "typebox";
import { SettingChange } from "../settings.ts";
import { ChurnTarget } from "./churn-targets.ts";
import { Field, listOf, nullable, objectOrNull, Parameter } from "./schema.ts";

/** The state of a user or an account. */
export const State = Field.oneOf(
  ["no_data", "churned", "canceling", "inactive", "new", "active"],
  "The first that holds. `churned`: the churn target is met. `canceling`: with the churn target `subscription` or the event `subscription_canceled`, every remaining subscription has a scheduled end. `no_data`: no engagement event yet, with or without a subscription. `inactive`: idle for the churn horizon, with a churn target other than silence. `new`: first seen under 14 days ago. `active`.",
);
/** A verdict on a user or an account, in one word. */
export const Verdict = Field.oneOf(
  ["churned", "account_churned", "high_risk", "at_risk", "new", "watch", "healthy", "no_score"],
  "The first that holds. `churned`. `account_churned`: the account of this user has churned. `high_risk`: the risk band is high. `at_risk`: health below 40. `new`: first seen under 14 days ago. `watch`: health below 70, or the risk band is medium. `healthy`. `no_score`.",
);
/** Of health. */
export const HealthBand = Type.Enum(["healthy", "watch", "at_risk", "onboarding", "churned", "none"]);
export const RiskBand = Type.Union([Type.Literal("low"), Type.Literal("medium"), Type.Literal("high")], {
  description:
    "Of the churn risk. By `riskBands` of the settings. Without these, `high`: from 5 times the odds of the base rate. `medium`: from 2 times. Before a back-test has 30 departures: from .5 and .2.",
});

/** Beside a risk band. */
export const ratioToBaseRate = nullable(
  Field.number("The churn risk as a multiple of the base rate, the share that churned in the back-test."),
);
/** The limits of the bands, fixed with the scores. */
export const RiskLimits = Type.Object({
  medium: Field.number("Churn risks from here on are medium."),
  high: Field.number("Churn risks from here on are high."),
  byBaseRate: Type.Object(
    { medium: Type.Number(), high: Type.Number() },
    { description: "The limits without `riskBands` of the settings." },
  ),
  cap: Field.number("From this churn risk on health is at most 39: 7 times the odds of the base rate."),
});

const kinds = [Type.Literal("user"), Type.Literal("account")] as const;
export const Kind = Type.Union([...kinds]);
export const kindParameter = Parameter.Union([...kinds], { default: "user" });

/** The day of the scores. */
export const scoredDay = nullable(
  Field.day(
    "Scores are as of the start of this day: only what happened before it counts. Null before the first.",
  ),
);
export const dataStoppedSince = nullable(
  Field.day(
    "The day on which data was received last, while data collection has stopped: nothing comes at all, or nothing from a larger source. Scores wait. Few events that keep coming are no stop.",
  ),
);

const sinceText = "Changes are told since the newest scores of this day or an earlier one.";

/** The day of the scores that others are compared with. @param days before the newest, by default */
export const since = (days: number) =>
  Parameter.optionalDay(`${sinceText} Without it, of ${days} days before.`);
/** The same of a question that compares only when it is sent. */
export const sinceIfSent = Parameter.optionalDay(sinceText);

const Change = Type.Object({
  total: Type.Number(),
  behaviour: Field.number("More or less use than on the earlier day. Silence is less use."),
  time: Field.number("The change of an entity that goes on as before: only its tenure grows."),
  settings: Field.number("Settings, who is excluded, the month's scale, or the model."),
});

export const ScoreChange = nullable(
  Type.Object({
    sinceDay: Field.day("The day of the earlier scores."),
    health: nullable(Change),
    engagement: nullable(Change),
    risk: nullable(Change),
    text: Field.textOrNull(
      "The change of health in words: Down 13: active on 1 day of 28, was 6; silent for 24 days.",
    ),
  }),
);

/** The meaning of churn, in answers about a model. */
export const churnDefinition = {
  churnTarget: ChurnTarget,
  churnMeans: Field.text(
    "The churn target in words: subscription_canceled, not undone by subscription_resumed.",
  ),
};

/** Of one user or account. */
export const churnFields = {
  returnProbability: nullable(
    Field.number(
      "For entities that churned by silence: of coming back within the horizon, by BG/BB. Null beyond 26 weeks of silence.",
    ),
  ),
  churnedDay: nullable(
    Field.day(
      "For the churned: the day on which the churn target was met. By silence it is the day on which the horizon was over.",
    ),
  ),
  endsAt: nullable(
    Field.instant(
      "For the state `canceling`: when the last of the subscriptions will have ended. Else null.",
    ),
  ),
  churnCause: objectOrNull("For the churned: why.", {
    by: Type.Enum(["event", "silence", "trait", "subscription"]),
    event: Field.textOrNull("The event of the churn target; null without one."),
    trait: Field.textOrNull("The trait of the churn target; null without one."),
    isInvoluntary: nullable(
      Field.boolean(
        "Of a subscription: whether a failed payment ended it, and no decision of the customer. Null for other targets.",
      ),
    ),
    member: objectOrNull(
      "Of an account: the member who sent the churn event, unless erased or excluded since.",
      {
        userId: Type.String(),
        label: Field.text("The name, else the e-mail address, else the id."),
      },
    ),
  }),
};

/** Of a history. */
export const Marks = listOf(
  "Where scores begin to follow other rules than on the scored day before, the oldest first.",
  {
    day: Field.day("The first day whose scores follow the change."),
    changes: Type.Array(SettingChange, { description: "Of the settings that scores depend on." }),
    exclusionsChanged: Field.boolean("Whether others were left out of all figures."),
  },
);

/** Of lists that hold scores against earlier ones. */
export const sinceThen = {
  sinceDay: Type.Union([Field.day("The day of the earlier scores."), Type.Null()]),
  rulesChanged: Field.boolean(
    "Whether settings or exclusions are others than then: a part of the change is theirs.",
  ),
};

const haveAndNeed = (description: string) =>
  Type.Object({ have: Type.Integer(), need: Type.Integer() }, { description });

export const Proof = Type.Object(
  {
    cutoffs: haveAndNeed("Past days as of which models could be trained and judged."),
    rarerLabels: haveAndNeed("Of those judged, who churned or who stayed, whichever are fewer."),
  },
  { description: "Data that a back-test needs before a model may count as proven." },
);

export const TrainedOn = Type.Object(
  {
    entities: Field.count("Seen within 26 weeks before the day of the scores."),
    churnedLabels: Field.count("Departures. Each counts once, and a user who came back may leave again."),
    retainedLabels: Field.count("Users or accounts that stayed at one cut-off or more. Each counts once."),
  },
  { description: "Outcomes to train on." },
);

export const BgbbParameters = Type.Object({
  alpha: Type.Number(),
  beta: Type.Number(),
  gamma: Type.Number(),
  delta: Type.Number(),
});
