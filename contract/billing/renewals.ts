/** Renewals by month, and the payers behind a month, as JSON Schema: parameters and answers. */
import Type from "typebox";
import { ChurnTarget } from "../api/churn-targets.ts";
import { ownerFields, ownerFilter } from "../api/list-fields.ts";
import { closedObject, Field, inSegment, listOf, nullable, Parameter } from "../api/schema.ts";
import { dataStoppedSince, scoredDay } from "../api/score-parts.ts";

export const renewalLimits = {
  /** Months before the current one. */
  past: 12,
  coming: 12,
  /** Past months in which the expected MRR and the outcome are both known, before "expected" is called a
   * forecast. */
  compared: 3,
} as const;

const minorUnits = "In minor units of the reporting currency.";

const filters = {
  kind: Parameter.Enum(["account", "user"], {
    default: "account",
    description: "Accounts, or users who pay without an account.",
  }),
  interval: Parameter.Enum(["all", "yearly", "shorter"], {
    default: "all",
    description:
      "`yearly`: billed for a year or longer, and accounts that renew by their attribute `renewsAt`. `shorter`: all other subscriptions.",
  }),
  plan: Parameter.optionalName("Only subscriptions of this plan, as it was on `asOf`."),
  owner: ownerFilter,
  segment: inSegment("payers"),
};

export const RenewalsParameters = closedObject({
  coming: Parameter.positive(
    renewalLimits.coming,
    6,
    `This many months after the current one. The ${renewalLimits.past} months before are always included.`,
  ),
  ...filters,
});

export const RenewalPayersParameters = closedObject({
  month: Parameter.optionalDay(
    `A day of the month, at most ${renewalLimits.past} months before or after the current one. Default: the current month.`,
  ),
  ...filters,
  ...Parameter.page,
});

/** Fields that both answers have. */
const head = {
  settingsVersion: Field.count("The version of the settings that the currency and rates come from."),
  reportingCurrency: Field.text(
    "The currency of all sums: `reportingCurrency` of the settings, else the currency of most changes of subscriptions.",
  ),
  currencyDigits: Field.count("Digits of the currency's minor unit: 2 for USD, 0 for JPY."),
  hasSubscriptions: Field.boolean("Whether any subscription of the organization has or had MRR."),
  day: scoredDay,
  dataStoppedSince,
  churnTarget: nullable(ChurnTarget, {
    description: "The churn target of the newest churn risks. Null before the first scores.",
  }),
  horizonDays: nullable(Type.Integer(), {
    description: "The churn horizon of the newest churn risks, in days. Null before the first scores.",
  }),
};

const phase = Field.oneOf(
  ["past", "current", "coming"],
  "Past and current months are as of the start of the month, coming months as of now.",
);
const asOf = Field.day("The day on which MRR, plan and renewal are as the month has them.");
const outcome = "Null for coming months.";
const noChurnRisk =
  "Null without churn risks: the churn target has to be `subscription`, and a model has to serve.";

export const RenewalsAnswer = Type.Object({
  ...head,
  isForecast: Field.boolean(
    `Whether ${renewalLimits.compared} past months or more can be compared with their outcome. Until then \`expectedMrr\` is called expected, and not a forecast.`,
  ),
  comparedMonths: Field.count(
    "Past months whose expected MRR and outcome are both known: at most a tenth of the MRR is still open.",
  ),
  neededMonths: Field.count("How many months have to be compared for a forecast."),
  undatedPayers: Field.count("Payers with MRR now whose next renewal is unknown. They are in no month."),
  undatedMrr: Field.money(`The MRR of \`undatedPayers\`. ${minorUnits}`),
  months: listOf(
    "The oldest month first. A subscription counts once a month, on its first renewal in it: dueMrr = renewedMrr + lostMrr + openMrr.",
    {
      month: Field.day("The first day of the month."),
      phase,
      asOf,
      scoredDay: nullable(Field.day("The day of the churn risks, never after `asOf`."), {
        description: noChurnRisk,
      }),
      duePayers: Field.count("Payers of `dueMrr`."),
      dueMrr: Field.money(`MRR that renews in the month. Scheduled ends are not in it. ${minorUnits}`),
      expectedMrr: nullable(
        Field.expectedMoney(
          "MRR that is expected to renew, of payers with a churn risk: the sum of MRR × (1 − p), with p = 1 − (1 − churn risk)^(max(days, H) ÷ H), for the days from the scores to the renewal and the churn horizon H.",
        ),
        { description: noChurnRisk },
      ),
      low: nullable(
        Field.expectedMoney(
          "Lower end of the 90 % interval of `expectedMrr`, by 1,000 draws as for the expected loss.",
        ),
      ),
      high: nullable(Field.expectedMoney("Upper end of the 90 % interval of `expectedMrr`.")),
      withoutRiskPayers: Field.count(
        "Payers of `dueMrr` without a churn risk. `expectedMrr` has no part of them.",
      ),
      withoutRiskMrr: Field.money("The part of `dueMrr` of payers without a churn risk."),
      scheduledPayers: Field.count("Payers of `scheduledMrr`."),
      scheduledMrr: Field.money("MRR that ends in the month as scheduled on `asOf`."),
      renewedMrr: nullable(
        Field.money(
          "The part of `dueMrr` that renewed: the subscription is active, and its paid period ends after the renewal.",
        ),
        { description: outcome },
      ),
      lostMrr: nullable(
        Field.money(
          "The part of `dueMrr` that was lost: the subscription had no MRR 28 days after the renewal, or before the next renewal if that is earlier.",
        ),
        { description: outcome },
      ),
      openMrr: nullable(Field.money("The part of `dueMrr` that is neither renewed nor lost yet."), {
        description: outcome,
      }),
      renewedWithRiskMrr: nullable(
        Field.money("The part of `renewedMrr` of payers with a churn risk, to compare with `expectedMrr`."),
        { description: outcome },
      ),
      isCompared: Field.boolean("Whether the month is one of `comparedMonths`."),
    },
  ),
});

export const RenewalPayersAnswer = Type.Object({
  ...head,
  month: Field.day("The first day of the month."),
  phase,
  asOf,
  total: Field.count("Payers on all pages together."),
  payers: listOf("The earliest renewal first, then the highest MRR.", {
    id: Field.text("The id of the account or the user."),
    name: Field.text("The name, else a user's e-mail address, else the id."),
    renewsOn: Field.day("The day of the first renewal or scheduled end in the month."),
    isByAttribute: Field.boolean("Whether the day comes from the account's attribute `renewsAt`."),
    mrr: Field.money(`MRR that renews in the month, as of \`asOf\`. ${minorUnits}`),
    scheduledMrr: Field.money("MRR that ends in the month as scheduled."),
    plan: Field.textOrNull("The plan of the renewal with the highest MRR."),
    interval: Field.textOrNull("Its billing interval, e.g. `1 year`."),
    ...ownerFields,
    churnRisk: nullable(
      Field.share(
        "The churn risk within the horizon: of the start of a past month, of the newest scores for other months.",
      ),
      { description: noChurnRisk },
    ),
    renewalChance: nullable(Field.share("The probability to renew: 1 − p, as in `expectedMrr`."), {
      description: noChurnRisk,
    }),
    renewedMrr: nullable(Field.money("The part of `mrr` that renewed."), { description: outcome }),
    lostMrr: nullable(Field.money("The part of `mrr` that was lost."), { description: outcome }),
    openMrr: nullable(Field.money("The part of `mrr` that is neither yet."), { description: outcome }),
    reason: Field.textOrNull(
      "Why it may not renew, in the words of the call list. Null where no class of the call list holds, and for past months.",
    ),
  }),
});
