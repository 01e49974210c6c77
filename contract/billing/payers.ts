/** Subscriptions and MRR of payers, in lists and on their pages, as JSON Schema: parameters and answers. */
import Type from "typebox";
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
  "Of all subscriptions of a payer together, the first that holds. `trial_lost`: all have ended, and none was ever paid. That is no churn. `canceled`: all have ended. `canceling`: one is paid, and an end is scheduled for all that go on. `past_due`: the last payment of one failed. `active`, `trialing`, `paused`: one of them is.",
);

/** The orders of lists by MRR and renewal. */
export const billingSorts = ["mrr", "renewsAt", "expectedLoss"] as const;

const largestMrr = Number.MAX_SAFE_INTEGER;
const mrrBound = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: largestMrr, description }));

/** Filters of lists by subscriptions. Without subscriptions no row matches. */
export const billingFilters = {
  mrrFrom: mrrBound("Only payers with at least this MRR, in minor units of the reporting currency."),
  mrrTo: mrrBound("Only payers with at most this MRR."),
  subscriptionPlan: Parameter.optionalName("Only payers of whom a subscription that goes on has this plan."),
  subscriptionStatus: Type.Optional(SubscriptionStatus),
  renewsWithinDays: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3_650,
      description: "Only payers that renew today or within so many days after.",
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
      "MRR now, in minor units of the reporting currency. Null without a subscription, for a payer that ever had MRR in a currency without a rate, and in lists for excluded payers.",
    ),
  ),
  unratedMrr: listOf(
    "The MRR of a payer that ever had some in a currency without a rate, in each of its currencies.",
    inCurrency,
  ),
  plan: Field.textOrNull("Of the subscription with the highest MRR, of those that go on."),
  subscriptions: nullable(Field.count("Subscriptions that go on."), {
    description: "Null without any subscription ever.",
  }),
  subscriptionStatus: nullable(SubscriptionStatus),
  renewsAt: nullable(
    Field.day(
      "The next end of a period after which a subscription goes on; without a later one, the last. For an account, its attribute `renewsAt` overrides this.",
    ),
  ),
  subscriptionEndsAt: nullable(
    Field.instant(
      "When the last subscription will have ended. Null unless all that go on have a scheduled end.",
    ),
  ),
};

const expectedLoss = nullable(
  Field.expectedMoney(
    "The MRR that ends within the horizon as scheduled, and churn risk × other MRR, in minor units of the reporting currency: as in `/api/revenue/at-risk`. Without a churn risk it is the scheduled part, and null if nothing is scheduled. Only with the churn target `subscription`, because no other churn risk is the probability that MRR is lost.",
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
  "About the MRR of the rows. Null without subscriptions of accounts, or of users who pay without an account: then rows have no such field.",
  {
    settingsVersion: Field.count("The version of the settings whose currency and rates these figures have."),
    reportingCurrency: Field.text(
      "Of MRR: `reportingCurrency` of the settings, else the one that most changes have.",
    ),
    currencyDigits: Field.count("Digits of its minor unit: 2 for USD, 0 for JPY."),
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
  plans: listOf("Of subscriptions that go on. The plan of the most subscriptions first.", {
    plan: Type.String(),
    subscriptions: Field.count("Subscriptions of this plan that go on."),
  }),
});

export const SubscriptionsParameters = closedObject({
  limit: Parameter.positive(1_000, 100, "At most this many subscriptions, the one that changed last first."),
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
  payer: objectOrNull("MRR and subscriptions now, as in lists. Null without any subscription ever.", {
    ...payer,
    expectedLoss: Type.Optional(expectedLoss),
  }),
  total: Field.count("Subscriptions of this payer, those that have ended among them."),
  subscriptions: listOf("Those that go on first, then the one that changed last.", {
    subscriptionId: Type.String(),
    plan: Field.textOrNull("As the billing tool calls it."),
    status: Field.oneOf(
      ["active", "trialing", "past_due", "paused", "canceled"],
      "Of this subscription alone. `past_due`: its billing tool says so, or the last payment failed.",
    ),
    mrr: Field.money(`Now. ${minorUnits}`),
    currency: Field.textOrNull("Null until an amount is known."),
    currencyDigits: Field.count("Digits of the minor unit of this currency."),
    quantity: nullable(Field.number("Seats, say.")),
    startedAt: Field.instant("When it started, or started again."),
    currentPeriodEnd: nullable(Field.instant("The end of the current period, as it was reported last.")),
    pastDueSince: nullable(Field.instant("Since when it is past due; null unless it is.")),
    endsAt: nullable(Field.instant("When a scheduled end takes effect, or when it ended.")),
    isInvoluntary: Field.boolean("Of one that has ended: whether a failed payment ended it."),
    isUnconfirmed: Field.boolean(
      "Whether it counts although its period ended more than 30 days ago and no event came since.",
    ),
  }),
  history: listOf("The history of these subscriptions, the newest entry first.", {
    subscriptionId: Type.String(),
    at: Field.instant("When."),
    what: Field.oneOf(
      [...historyKinds],
      "`upgraded`, `downgraded`: MRR rose or fell. `plan_changed`: the plan, or the currency, whose amounts are not compared. `payment_failed`: it became past due. `payment_recovered`: a payment succeeded again.",
    ),
    plan: Field.textOrNull("From then on."),
    planBefore: Field.textOrNull("Before. Null at the start."),
    mrr: Field.money(`From then on. ${minorUnits}`),
    mrrBefore: Field.money("Before; 0 at the start."),
    currency: Field.textOrNull("Of `mrr`."),
    currencyDigits: Field.count("Digits of its minor unit."),
    currencyBefore: Field.textOrNull("Of `mrrBefore`. Null at the start."),
    currencyDigitsBefore: Field.count("Digits of its minor unit."),
    endsAt: nullable(Field.instant("Of `end_scheduled`: when it takes effect.")),
    isInvoluntary: Field.boolean("Of `ended`: whether a failed payment caused it."),
  }),
});
