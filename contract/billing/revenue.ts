/** The figures of revenue as JSON Schema: parameters and answers. */
import Type from "typebox";
import { ChurnTarget } from "../api/churn-targets.ts";
import { closedObject, Field, inSegment, listOf, nullable, objectOrNull, Parameter } from "../api/schema.ts";
import { dataStoppedSince, scoredDay } from "../api/score-parts.ts";
import { callListLimits } from "../call-list.ts";

export const revenueLimits = { periods: 60, months: 120, cohorts: 24, splitCohorts: 12 } as const;

export const to = Parameter.optionalDay(
  "The last day that counts, not after today. Default: today in the organization's timezone.",
);
export const period = Parameter.Enum(["month", "quarter", "year"], {
  default: "month",
  description: "The calendar period, in the organization's timezone.",
});

const trait = Parameter.optionalName(
  "With split=trait: the account's attribute, `id` or `name`; for a user who pays without an account, the user's trait.",
);

const split = (asOf: string) =>
  Parameter.Enum(["none", "plan", "trait"], {
    default: "none",
    description: `Split by the plan of the payer's subscription, or by an attribute, ${asOf}. Each payer is in one group.`,
  });

const segment = inSegment("payers");

const minorUnits = "In minor units of the currency: cents of USD.";

/** The beginning of all answers about revenue. */
export const revenueHead = {
  settingsVersion: Field.count("The version of the settings that the currency and rates come from."),
  reportingCurrency: Field.text(
    "The currency of all sums: `reportingCurrency` of the settings, else the currency of most changes of subscriptions.",
  ),
  currencyDigits: Field.count("Digits of the currency's minor unit: 2 for USD, 0 for JPY."),
  hasSubscriptions: Field.boolean("Whether any subscription of the organization has or had MRR."),
};

const unratedCurrencies = listOf(
  "Payers that ever had MRR in a currency without a rate, by currency. They are in no other figure.",
  {
    currency: Type.String(),
    payers: Field.count("Payers with MRR in this currency at the end of the last period."),
    mrr: Field.money("The MRR of these payers, in minor units of this currency."),
  },
);

export const payerGroup = {
  kind: Field.oneOf(
    ["all", "value", "other", "none"],
    "all: not split. value: payers with this value. other: payers with one of the less frequent values. none: payers without a value.",
  ),
  value: Field.textOrNull("The plan or the value. Null for other kinds than `value`."),
};

const moved = (description: string) => ({
  mrr: Field.money(`${description} ${minorUnits}`),
  payers: Field.count("Number of payers with this movement."),
});
const newMoved = moved("MRR at the end, of payers that never had MRR before.");
const reactivated = moved("MRR at the end, of payers that had no MRR at the start, but had MRR earlier.");
const expansion = moved("The rise of MRR, of payers with MRR at the start.");
const contraction = moved("The fall of MRR, of payers that still have MRR at the end.");
const churned = moved("MRR at the start, of payers without MRR at the end.");
const transferredIn = moved(
  "MRR of subscriptions that were transferred from other payers. It is in no other movement. Only payers without MRR before the transfer are counted.",
);
const transferredOut = moved(
  "MRR of subscriptions that were transferred to other payers. It is in no other movement. Only payers without MRR after the transfer are counted.",
);
const involuntary = moved("The part of churned MRR that ended because payments failed.");

const ratio = (description: string) => nullable(Field.number(description));
const share = (description: string) => nullable(Field.share(description));

export const RevenueParameters = closedObject({
  period,
  periods: Parameter.positive(
    revenueLimits.periods,
    12,
    `This many periods, at most ${revenueLimits.months} months. The last period contains \`to\`.`,
  ),
  to,
  split: split("as it is now"),
  trait,
  segment,
});

export const RevenueAnswer = Type.Object({
  ...revenueHead,
  rates: listOf("The exchange rates of currencies, for all dates.", {
    currency: Type.String(),
    rate: Field.number("Units of the reporting currency for one unit of this currency."),
  }),
  periods: listOf(
    "By group, the oldest period first. startMrr + newMrr + reactivatedMrr + expansionMrr + transferredInMrr − contractionMrr − churnedMrr − transferredOutMrr is endMrr. Movements of a quarter or year are the sums of its months' movements; nrr, grr and logo churn compare its start and its end.",
    {
      ...payerGroup,
      fromDay: Field.day("The first day of the period."),
      toDay: Field.day("The last day of the period, or `to` if the period goes on after it."),
      isComplete: Field.boolean("Whether the whole period is counted: `to` is not before its last day."),
      startMrr: Field.money(`MRR just before the period. ${minorUnits}`),
      startPayers: Field.count("Payers with MRR at this time."),
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
      endMrr: Field.money(`MRR at the end of the period. ${minorUnits}`),
      endPayers: Field.count("Payers with MRR at this time."),
      nrr: ratio(
        "Net revenue retention: MRR at the end ÷ MRR at the start, of the payers with MRR at the start. Null if there were none.",
      ),
      grr: share(
        "Gross revenue retention: net revenue retention, with each payer's MRR at the end capped at the payer's MRR at the start. Null if there were no payers.",
      ),
      logoChurn: share(
        "The share of payers at the start that have no MRR at the end. Null if there were no payers.",
      ),
      voluntaryLogoChurn: share("The part of logo churn that is payers who decided to leave."),
      involuntaryLogoChurn: share("The part of logo churn that is payers whose payments failed."),
    },
  ),
  unrated: unratedCurrencies,
  unconfirmed: listOf(
    "Subscriptions that count as current although their period ended more than 30 days ago and no event came since, by currency.",
    {
      currency: Type.String(),
      subscriptions: Field.count("Number of these subscriptions."),
      mrr: Field.money("The current MRR of these subscriptions, in minor units of this currency."),
    },
  ),
  unpriced: Field.count(
    "Active and past due subscriptions without an amount in any event, e.g. tiered prices before the first invoice. Their MRR counts as 0.",
  ),
  paidByMembers: Field.count(
    "Subscriptions with MRR that are paid by a user who belongs to an account. Their MRR is the user's and not the account's, until an event names the account by `accountId`.",
  ),
  freeAfterPaid: Field.count(
    "Active subscriptions that cost nothing now and had MRR before. Their payers are in churned MRR, but have not churned by the churn target `subscription`.",
  ),
});

export const RevenueCohortsParameters = closedObject({
  period,
  periods: Parameter.positive(
    revenueLimits.cohorts,
    12,
    `This many cohorts, with a split at most ${revenueLimits.splitCohorts}. The last cohort contains \`to\`.`,
  ),
  to,
  split: split("as it was when the payer first had MRR, or within a day after"),
  trait,
  segment,
});

export const RevenueCohortsAnswer = Type.Object({
  ...revenueHead,
  cells: listOf("By group, cohort and period; a cohort without payers has no cells.", {
    ...payerGroup,
    cohortDay: Field.day("The first day of the period in which the payers first had MRR."),
    payers: Field.count("Payers of the cohort."),
    entryMrr: Field.money(`The first MRR of the cohort's payers. ${minorUnits}`),
    period: Field.count("Periods after the cohort's own."),
    mrr: Field.money(`MRR at the end of this period. ${minorUnits}`),
    ratio: Field.number("mrr ÷ entryMrr. Above 1 if MRR grew."),
    low: nullable(
      Field.number(
        "Lower end of the ratio's 95 % interval, by 1,000 resamples of the payers. Null for a single payer.",
      ),
    ),
    high: nullable(Field.number("Upper end of the ratio's 95 % interval. Null for a single payer.")),
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
  ...revenueHead,
  day: scoredDay,
  dataStoppedSince,
  churnTarget: nullable(ChurnTarget, {
    description: "The churn target of the churn risks. Null before the first scores.",
  }),
  horizonDays: nullable(Type.Integer(), {
    description: "The churn horizon of the churn risks, in days. Null before the first scores.",
  }),
  baseRate: objectOrNull(
    "With a declared churn target: the share of accounts or users that churned within the horizon after past cut-off dates, inside and outside the segment. Null until the outcomes of a first cut-off date are known.",
    {
      rate: Type.Number(),
      low: Field.number("Lower end of the rate's 95 % interval."),
      high: Type.Number(),
    },
  ),
  mrr: Field.money(`Current MRR of all payers of this kind. ${minorUnits}`),
  payers: Field.count("Payers of this kind with MRR."),
  mrrWithRisk: Field.money("The MRR of payers with a churn risk, in minor units."),
  payersWithRisk: Field.count("Payers with a churn risk."),
  withoutRisk: listOf("Payers without a churn risk, by reason. The reason with the highest MRR first.", {
    reason: Field.oneOf(
      ["no_model", "new", "churned", "unused"],
      "The first reason that applies. `no_model`: no model is good enough, or there are no scores yet. `new`: no MRR yet on the day of the scores. `churned`: the churn target was met on that day. `unused`: no activity in the 26 weeks before.",
    ),
    payers: Field.count("Number of payers."),
    mrr: Field.money(`Current MRR of these payers. ${minorUnits}`),
  }),
  highRiskMrr: Field.money("The MRR of payers whose risk band is high, in minor units."),
  highRiskPayers: Field.count("Payers whose risk band is high."),
  expectedLoss: objectOrNull(
    "Only with the churn target `subscription`: MRR that is scheduled to end, plus the sum of churn risk × the remaining MRR. With other targets the churn risk is not the probability that MRR is lost.",
    {
      mrr: Field.expectedMoney(`MRR that is expected to be lost within the horizon. ${minorUnits}`),
      payers: Field.count("Payers with a churn risk or a scheduled end."),
      scheduledMrr: Field.money(
        "The part of the expected loss that is scheduled to end, including payers without a churn risk.",
      ),
      low: Field.number(
        "Lower end of the 90 % interval of the expected loss, in minor units, by 1,000 draws of the payers that leave. Each draw corrects churn risks by a draw of the back-test's calibration.",
      ),
      high: Field.expectedMoney("Upper end of the 90 % interval of the expected loss."),
      laterMrr: Field.money(
        `MRR that is scheduled to end after the horizon, within ${callListLimits.endDays} days. It is in no other figure. ${minorUnits}`,
      ),
      laterPayers: Field.count("Payers of `laterMrr`."),
    },
  ),
  atRisk: listOf(
    "With `expectedLoss`: payers with a churn risk or a scheduled end, in the order of the call list: by expectedLoss, in which `laterMrr` counts in full. Without `expectedLoss`: payers with a high churn risk, the highest MRR first. Payers in a control group are left out of this list, but are in all sums.",
    {
      id: Field.text("The id of the account or the user."),
      name: Field.text("The account's name, or the user's e-mail address. It may be empty."),
      mrr: Field.money(`Current MRR. ${minorUnits}`),
      churnRisk: nullable(
        Field.share("The churn risk within the horizon. 1 if all MRR is scheduled to end."),
        {
          description: "Null without a churn risk.",
        },
      ),
      laterMrr: Field.money(
        `MRR that is scheduled to end after the horizon, within ${callListLimits.endDays} days. It is in no sum of expected losses.`,
      ),
      scheduledMrr: Field.money(
        "MRR that is scheduled to end within the horizon. 0 unless the churn target is `subscription`.",
      ),
      expectedLoss: nullable(
        Field.expectedMoney(
          "scheduledMrr + churnRisk × the remaining MRR. Without a churn risk: scheduledMrr.",
        ),
        {
          description: "Null unless the churn target is `subscription`.",
        },
      ),
    },
  ),
});
