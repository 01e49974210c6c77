/** The figures of revenue as JSON Schema: parameters and answers. */
import Type from "typebox";
import { callListLimits } from "../actions/call-list.ts";
import { ChurnTarget } from "../api/churn-targets.ts";
import { closedObject, Field, inSegment, listOf, nullable, objectOrNull, Parameter } from "../api/schema.ts";
import { dataStoppedSince, scoredDay } from "../api/score-parts.ts";

export const revenueLimits = { periods: 60, months: 120, cohorts: 24, splitCohorts: 12 } as const;

const to = Parameter.optionalDay(
  "The last day that counts, not after today. Default: today in the organization's timezone.",
);
const period = Parameter.Enum(["month", "quarter", "year"], {
  default: "month",
  description: "Of the calendar, in the organization's timezone.",
});

const trait = Parameter.optionalName(
  "With split=trait, the attribute: `id`, `name` or any other of the account; the user's trait for a user who pays without an account.",
);

const split = (asOf: string) =>
  Parameter.Enum(["none", "plan", "trait"], {
    default: "none",
    description: `Groups of payers: by the plan of their subscription, or by an attribute, ${asOf}. Each payer is in one group.`,
  });

const segment = inSegment("payers");

const minorUnits = "In minor units of the currency: cents of USD.";

/** The beginning of all answers about revenue. */
const head = {
  settingsVersion: Field.count("The version of the settings whose currency and rates these figures have."),
  reportingCurrency: Field.text(
    "Of all sums: `reportingCurrency` of the settings, else the one that most changes have.",
  ),
  currencyDigits: Field.count("Digits of its minor unit: 2 for USD, 0 for JPY."),
  hasSubscriptions: Field.boolean("Whether any subscription of the organization has or had MRR."),
};

const unratedCurrencies = listOf(
  "Payers that ever had MRR in a currency without a rate, in each of their currencies. They are in no other figure.",
  {
    currency: Type.String(),
    payers: Field.count("With MRR in this currency at the end of the last period."),
    mrr: Field.money("Theirs, in minor units of this currency."),
  },
);

const group = {
  kind: Field.oneOf(
    ["all", "value", "other", "none"],
    "all: not split; value: payers with this value; other: with one of the values that few have; none: with none.",
  ),
  value: Field.textOrNull("The plan or the value; null but for the kind value."),
};

const moved = (description: string) => ({
  mrr: Field.money(`${description} ${minorUnits}`),
  payers: Field.count("How many payers."),
});
const newMoved = moved("MRR of payers that never had any before.");
const reactivated = moved("MRR of payers that had none at the start, and had some before.");
const expansion = moved("The rise of MRR of payers that had some at the start.");
const contraction = moved("The fall of MRR of payers that have some left.");
const churned = moved("MRR at the start of payers that have none at the end.");
const transferredIn = moved(
  "MRR of subscriptions that other payers passed to these. It is in no other movement; payers are those who pay only since then.",
);
const transferredOut = moved(
  "MRR of subscriptions that these passed to other payers. It is in no other movement; payers are those who pay no more.",
);
const involuntary = moved("The part of it that ended because payments failed.");

const ratio = (description: string) => nullable(Field.number(description));
const share = (description: string) => nullable(Field.share(description));

export const RevenueParameters = closedObject({
  period,
  periods: Parameter.positive(
    revenueLimits.periods,
    12,
    `This many periods, the last of them that of \`to\`. At most ${revenueLimits.months} months.`,
  ),
  to,
  split: split("as it is now"),
  trait,
  segment,
});

export const RevenueAnswer = Type.Object({
  ...head,
  rates: listOf("The rates that currencies have, for all dates.", {
    currency: Type.String(),
    rate: Field.number("Units of the reporting currency for one unit."),
  }),
  periods: listOf(
    "By group, the oldest period first. startMrr + newMrr + reactivatedMrr + expansionMrr + transferredInMrr − contractionMrr − churnedMrr − transferredOutMrr is endMrr. Movements of a quarter or year are the sums of its months'; nrr, grr and logo churn compare its two ends.",
    {
      ...group,
      fromDay: Field.day("The first day of the period."),
      toDay: Field.day("Its last day, or `to` when the period goes on after it."),
      isComplete: Field.boolean("Whether all of the period counts."),
      startMrr: Field.money(`MRR just before the period. ${minorUnits}`),
      startPayers: Field.count("Payers with MRR then."),
      newMrr: newMoved.mrr,
      newPayers: newMoved.payers,
      reactivatedMrr: reactivated.mrr,
      reactivatedPayers: reactivated.payers,
      expansionMrr: expansion.mrr,
      expansionPayers: expansion.payers,
      transferredInMrr: transferredIn.mrr,
      transferredInPayers: transferredIn.payers,
      contractionMrr: contraction.mrr,
      contractionPayers: contraction.payers,
      churnedMrr: churned.mrr,
      churnedPayers: churned.payers,
      transferredOutMrr: transferredOut.mrr,
      transferredOutPayers: transferredOut.payers,
      churnedInvoluntarilyMrr: involuntary.mrr,
      churnedInvoluntarilyPayers: involuntary.payers,
      endMrr: Field.money(`At the end of the period. ${minorUnits}`),
      endPayers: Field.count("Payers with MRR then."),
      nrr: ratio(
        "Net revenue retention: MRR at the end ÷ at the start, of the payers with MRR at the start; null without any.",
      ),
      grr: share("Gross revenue retention: the same with at most each payer's MRR at the start."),
      logoChurn: share("Of the payers at the start, those without MRR at the end."),
      voluntaryLogoChurn: share("Those of them who decided to leave."),
      involuntaryLogoChurn: share("Those of them whose payments failed."),
    },
  ),
  unrated: unratedCurrencies,
  unconfirmed: listOf(
    "Subscriptions that count although their period ended more than 30 days ago and no event came since, by currency.",
    {
      currency: Type.String(),
      subscriptions: Field.count("How many."),
      mrr: Field.money("Theirs now, in minor units of this currency."),
    },
  ),
  unpriced: Field.count(
    "Active and past due subscriptions of which no event said an amount, such as prices in tiers before their first invoice. Their MRR counts 0.",
  ),
  paidByMembers: Field.count(
    "Subscriptions with MRR that are paid by a user who belongs to an account. Their MRR is the user's and not the account's, until an event names the account by `accountId`.",
  ),
  freeAfterPaid: Field.count(
    "Active subscriptions that cost nothing now and had MRR before. Their payer churned in MRR, and is no departure for the churn target `subscription`.",
  ),
});

export const RevenueCohortsParameters = closedObject({
  period,
  periods: Parameter.positive(
    revenueLimits.cohorts,
    12,
    `This many cohorts, the last of them that of \`to\`. With a split at most ${revenueLimits.splitCohorts}.`,
  ),
  to,
  split: split("as it was when the payer first had MRR, or within a day after"),
  trait,
  segment,
});

export const RevenueCohortsAnswer = Type.Object({
  ...head,
  cells: listOf("By group, cohort and period; a cohort without payers has no cells.", {
    ...group,
    cohortDay: Field.day("The first day of the period in which the payers first had MRR."),
    payers: Field.count("Payers of the cohort."),
    entryMrr: Field.money(`Their first MRR. ${minorUnits}`),
    period: Field.count("Periods after the cohort's own."),
    mrr: Field.money(`At the end of this period. ${minorUnits}`),
    ratio: Field.number("mrr ÷ entryMrr; above 1 when payers grew."),
    low: nullable(
      Field.number("Of the ratio's 95 % interval, by 1,000 resamples of the payers; null for one payer."),
    ),
    high: nullable(Field.number("Of the ratio's 95 % interval.")),
    isComplete: Field.boolean("Whether the period is over."),
  }),
});

export const RevenueAtRiskParameters = closedObject({
  kind: Parameter.Enum(["account", "user"], {
    default: "account",
    description: "Accounts, or users who pay without an account.",
  }),
  limit: Parameter.positive(1_000, 100, "At most this many payers."),
  segment,
});

export const RevenueAtRiskAnswer = Type.Object({
  ...head,
  day: scoredDay,
  dataStoppedSince,
  churnTarget: nullable(ChurnTarget, { description: "Of the churn risks; null before the first scores." }),
  horizonDays: nullable(Type.Integer(), { description: "Churn risks are about so many days." }),
  baseRate: objectOrNull(
    "With a declared churn target: the share of accounts or users that churned within the horizon, of those that could at past cut-off dates, also outside of the segment. Null before the first one whose outcomes are known.",
    {
      rate: Type.Number(),
      low: Field.number("Of its 95 % interval."),
      high: Type.Number(),
    },
  ),
  mrr: Field.money(`Of all payers of this kind, now. ${minorUnits}`),
  payers: Field.count("Payers of this kind with MRR."),
  mrrWithRisk: Field.money("The MRR of those that have a churn risk."),
  payersWithRisk: Field.count("Those that have a churn risk."),
  withoutRisk: listOf(
    "The payers without a churn risk, by the reason. The reason with the highest MRR comes first.",
    {
      reason: Field.oneOf(
        ["no_model", "new", "churned", "unused"],
        "The first that holds. `no_model`: no model is good enough, or there are no scores yet. `new`: no MRR at the time of the scores. `churned`: the churn target was met by then. `unused`: no activity in the 26 weeks before.",
      ),
      payers: Field.count("How many."),
      mrr: Field.money(`Their MRR now. ${minorUnits}`),
    },
  ),
  highRiskMrr: Field.money("The MRR of those whose risk band is high."),
  highRiskPayers: Field.count("Those whose risk band is high."),
  expectedLoss: objectOrNull(
    "Only with the churn target `subscription`: the MRR that ends as scheduled, and the sum of churn risk × other MRR. With any other target a churn risk is no probability that MRR is lost.",
    {
      mrr: Field.expectedMoney(`Expected to be lost within the horizon. ${minorUnits}`),
      payers: Field.count("Those with a churn risk or a scheduled end."),
      scheduledMrr: Field.money(
        "The part of it that ends as scheduled, also of payers without a churn risk.",
      ),
      low: Field.number(
        "Of its 90 % interval, by 1,000 draws of the payers that leave. Each draw corrects churn risks by a draw of the back-test's calibration.",
      ),
      high: Field.expectedMoney("Of its 90 % interval."),
      laterMrr: Field.money(
        `MRR that ends as scheduled after the horizon, within ${callListLimits.endDays} days. It is in no other figure. ${minorUnits}`,
      ),
      laterPayers: Field.count("Payers with such an end."),
    },
  ),
  atRisk: listOf(
    "With expectedLoss the payers with a churn risk or a scheduled end in the order of the call list: by expectedLoss, where what ends after the horizon counts in full. Else those with a high risk, the highest MRR first. Controls of a hold-out are left out here, and are in all sums.",
    {
      id: Field.text("The id of the account or the user."),
      name: Field.text("Of an account its name; of a user the e-mail address. It may be empty."),
      mrr: Field.money(`Now. ${minorUnits}`),
      churnRisk: nullable(Field.share("Within the horizon; 1 when all MRR ends as scheduled."), {
        description: "Null without a churn risk.",
      }),
      laterMrr: Field.money(
        `MRR that ends as scheduled after the horizon, within ${callListLimits.endDays} days. It is in no sum of expected losses.`,
      ),
      scheduledMrr: Field.money(
        "MRR that ends within the horizon as scheduled; 0 unless the churn target is `subscription`.",
      ),
      expectedLoss: nullable(
        Field.expectedMoney("scheduledMrr + churnRisk × other MRR. Without a churn risk it is scheduledMrr."),
        {
          description: "Null unless the churn target is `subscription`.",
        },
      ),
    },
  ),
});
