/** Subscriptions and MRR of payers, in lists and on their pages, as JSON Schema: parameters and answers. */
import Type from "typebox";
import { reasonFrom } from "../api/list-fields.ts";
import { closedObject, Field, listOf, nullable, objectOrNull, Parameter } from "../api/schema.ts";

export const subscriptionStatuses = [
  "active",
  "trialing",
  "past_due",
  "paused",
  "canceling",
  "canceled",
  "trial_lost",
] as const;

const minorUnits = "In minor units: cents of USD.";

const SubscriptionStatus = Field.oneOf(
  [...subscriptionStatuses],
  "The status of all subscriptions of a payer together: the first that applies. `trial_lost`: all subscriptions have ended, and none was ever paid. That is no churn. `canceled`: all subscriptions have ended. `canceling`: a subscription is paid, and all current subscriptions have a scheduled end. `past_due`: the last payment of a subscription failed. `active`, `trialing`, `paused`: at least one subscription has this status.",
);

/** The orders of lists by MRR and renewal. */
export const billingSorts = ["mrr", "renewsAt", "expectedLoss"] as const;

const largestMrr = Number.MAX_SAFE_INTEGER;
const mrrBound = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: largestMrr, description }));

/** Filters of lists by subscriptions. A row without subscriptions never matches. */
export const billingFilters = {
  mrrFrom: mrrBound("Only payers with at least this MRR, in minor units of the reporting currency."),
  mrrTo: mrrBound("Only payers with at most this MRR, in minor units of the reporting currency."),
  subscriptionPlan: Parameter.optionalName("Only payers with a current subscription of this plan."),
  subscriptionStatus: Type.Optional(SubscriptionStatus),
  renewsWithinDays: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3_650,
      description: "Only payers that renew today or in this many days.",
    }),
  ),
} as const;

const inCurrency = {
  currency: Type.String(),
  mrr: Field.money("In minor units of this currency."),
};

const payer = {
  mrr: nullable(
    Field.money(
      "Current MRR, in minor units of the reporting currency. Null without a subscription, for a payer that ever had MRR in a currency without a rate, and in lists for excluded payers.",
    ),
  ),
  unratedMrr: listOf(
    "For a payer that ever had MRR in a currency without a rate: the MRR in each currency. Otherwise empty.",
    inCurrency,
  ),
  plan: Field.textOrNull("The plan of the current subscription with the highest MRR."),
  subscriptions: nullable(Field.count("Current subscriptions: subscriptions that have not ended."), {
    description: "Null if there never was a subscription.",
  }),
  subscriptionStatus: nullable(SubscriptionStatus),
  renewsAt: nullable(
    Field.day(
      "When a subscription renews: the next end of a billing period after which a subscription goes on, or else the latest past end. For an account, its attribute `renewsAt` comes first.",
    ),
  ),
  subscriptionEndsAt: nullable(
    Field.instant(
      "When the last subscription will have ended. Null unless all current subscriptions have a scheduled end.",
    ),
  ),
};

const expectedLoss = nullable(
  Field.expectedMoney(
    "MRR that is scheduled to end within the horizon, plus churn risk × the remaining MRR, in minor units of the reporting currency, as in `/api/revenue/at-risk`. Without a churn risk, only the scheduled part; null if no end is scheduled. Only with the churn target `subscription`, because with other targets the churn risk is not the probability that MRR is lost.",
  ),
);

/** Fields of a row of a list. They are absent without subscriptions of accounts, or of users. */
export const billingFields = {
  mrr: Type.Optional(payer.mrr),
  unratedMrr: Type.Optional(payer.unratedMrr),
  plan: Type.Optional(payer.plan),
  subscriptions: Type.Optional(payer.subscriptions),
  subscriptionStatus: Type.Optional(payer.subscriptionStatus),
  renewsAt: Type.Optional(payer.renewsAt),
  subscriptionEndsAt: Type.Optional(payer.subscriptionEndsAt),
  expectedLoss: Type.Optional(expectedLoss),
};

/** About the MRR of rows. */
export const billingHead = objectOrNull(
  "About the MRR of the rows. Null without subscriptions of accounts (or, for users, of users who pay without an account): then rows have no billing fields.",
  {
    settingsVersion: Field.count("The version of the settings that the currency and rates come from."),
    reportingCurrency: Field.text(
      "The currency of MRR: `reportingCurrency` of the settings, else the currency of most changes of subscriptions.",
    ),
    currencyDigits: Field.count("Digits of the currency's minor unit: 2 for USD, 0 for JPY."),
    hasExpectedLoss: Field.boolean(
      "Whether the churn target is `subscription`: then rows have `expectedLoss`.",
    ),
  },
);

const kind = Parameter.Enum(["account", "user"], {
  default: "account",
  description: "Subscriptions of accounts, or of users who pay without an account.",
});

export const PlansParameters = closedObject({
  kind,
  limit: Parameter.positive(1_000, 100, "At most this many plans."),
});

export const PlansAnswer = Type.Object({
  plans: listOf("Plans of current subscriptions. The plan of the most subscriptions first.", {
    plan: Type.String(),
    subscriptions: Field.count("Current subscriptions of this plan."),
  }),
});

export const SubscriptionsParameters = closedObject({
  limit: Parameter.positive(1_000, 100, "At most this many subscriptions, the latest change first."),
  history: Parameter.positive(1_000, 50, "At most this many entries of the history."),
});

/** Kinds of entries in the history of a subscription. */
export const historyKinds = [
  "started",
  "started_again",
  "trial_started",
  "trial_converted",
  "upgraded",
  "downgraded",
  "plan_changed",
  "paused",
  "resumed",
  "payment_failed",
  "payment_recovered",
  "end_scheduled",
  "end_withdrawn",
  "ended",
] as const;

export const SubscriptionsAnswer = Type.Object({
  billing: billingHead,
  payer: objectOrNull("Current MRR and subscriptions, as in lists. Null if there never was a subscription.", {
    ...payer,
    expectedLoss: Type.Optional(expectedLoss),
  }),
  total: Field.count("Subscriptions of this payer, including subscriptions that have ended."),
  subscriptions: listOf("Current subscriptions first, then by the latest change.", {
    subscriptionId: Type.String(),
    plan: Field.textOrNull("As the billing tool calls it."),
    status: Field.oneOf(
      ["active", "trialing", "past_due", "paused", "canceled"],
      "The status of this subscription alone. `past_due`: its billing tool says so, or the last payment failed.",
    ),
    mrr: Field.money(`Current MRR. ${minorUnits}`),
    currency: Field.textOrNull("Null until an amount is known."),
    currencyDigits: Field.count("Digits of the currency's minor unit."),
    quantity: nullable(Field.number("The quantity, e.g. of seats. Null if unknown.")),
    startedAt: Field.instant("When the subscription started, or started again."),
    currentPeriodEnd: nullable(
      Field.instant("The end of the current billing period, as last reported. Null if unknown."),
    ),
    pastDueSince: nullable(Field.instant("Since when the subscription is past due. Null if it is not.")),
    endsAt: nullable(
      Field.instant("When the subscription is scheduled to end, or ended. Null without an end."),
    ),
    isInvoluntary: Field.boolean(
      "Whether a failed payment ended the subscription. False while it has not ended.",
    ),
    isUnconfirmed: Field.boolean(
      "Whether the subscription counts as current although its period ended more than 30 days ago and no event came since.",
    ),
  }),
  history: listOf("The history of these subscriptions, the newest entry first.", {
    subscriptionId: Type.String(),
    at: Field.instant("When it happened."),
    what: Field.oneOf(
      [...historyKinds],
      "What happened. `upgraded`, `downgraded`: MRR rose or fell. `plan_changed`: another plan, or another currency, whose amounts cannot be compared. `payment_failed`: the subscription became past due. `payment_recovered`: a payment succeeded again.",
    ),
    plan: Field.textOrNull("The plan from then on."),
    planBefore: Field.textOrNull("The plan before. Null at the start."),
    mrr: Field.money(`MRR from then on. ${minorUnits}`),
    mrrBefore: Field.money("MRR before, in minor units. 0 at the start."),
    currency: Field.textOrNull("The currency of `mrr`."),
    currencyDigits: Field.count("Digits of the currency's minor unit."),
    currencyBefore: Field.textOrNull("The currency of `mrrBefore`. Null at the start."),
    currencyDigitsBefore: Field.count("Digits of the currency's minor unit."),
    endsAt: nullable(Field.instant("For `end_scheduled`: when the subscription will end. Otherwise null.")),
    isInvoluntary: Field.boolean(
      "For `ended`: whether a failed payment ended the subscription. Otherwise false.",
    ),
    reason: Field.textOrNull(
      "For `ended` and `end_scheduled`: why the payer left, as in `/api/churn-reasons`. Null without a reason.",
    ),
    reasonFrom,
    comment: Field.textOrNull("What was said beside the reason. Null without a comment."),
  }),
});
