/** The columns of the ridge regression: how it sees an entity, and which reason each column belongs to. Each
 * is written in TypeScript and in SQL over the columns of `scoresQuery`. A test compares the two. */

import { billingFactSql } from "../scores/billing.ts";
import { daysPerPeriod } from "../scores/features.ts";
import type { ScoredFeatures } from "../scores/state.ts";
import type { Column, ReasonGroup } from "../statistics/logistic.ts";
import { logit } from "../statistics/special.ts";
import { clamp } from "../statistics/vectors.ts";

export interface DesignInput {
  readonly features: ScoredFeatures;
  /** BG/BB's churn risk, by the fit of the row's own cut-off. */
  readonly bgbbRisk: number;
}

export interface TraitValue {
  readonly trait: string;
  readonly value: string;
}

/** Groups of the entity's own activity, and of an account's members. A model always has them. */
export const activityGroups = [
  "silence-frequency",
  "trend",
  "breadth-volume",
  "tenure",
  "bgbb",
  "members",
] as const;
/** All groups of features. A back-test can leave each out, to see its worth. */
export const featureGroups = [
  ...activityGroups,
  "billing",
  "mix",
  "traits",
  "account",
  "seats",
  "pulse",
] as const;
export type FeatureGroup = (typeof featureGroups)[number];

export interface DesignColumn extends Column {
  readonly featureGroup: FeatureGroup;
  /** Null when it is unknown of the entity. */
  readonly of: (input: DesignInput) => number | null;
  readonly sql: string;
  /** The event that it counts. */
  readonly event?: string;
}

/** The column that carries BG/BB's verdict. */
const bgbbColumn = "bgbb";

const riskClippedTo = 1e-4;
/** BG/BB's risk as log-odds, clipped so that a certainty of 1e-9 is no outlier among the features. */
export function clippedLogOdds(risk: number): number {
  return logit(clamp(risk, riskClippedTo, 1 - riskClippedTo));
}

/** Names a column, the group of features that it belongs to, and the reason that it speaks for. */
function column(
  name: string,
  [featureGroup, group]: readonly [FeatureGroup, ReasonGroup],
  of: DesignColumn["of"],
  sql: string,
): DesignColumn {
  return { name, featureGroup, group, of, sql };
}

/** A column of a value that is unknown of some entities, and a column that tells whether it is known. */
function columnWithUnknown(...[name, groups, of, sql]: Parameters<typeof column>): DesignColumn[] {
  return [column(name, groups, of, sql), unknownColumn(`${name}, unknown`, groups, of, sql)];
}

function unknownColumn(...[name, groups, of, sql]: Parameters<typeof column>): DesignColumn {
  return column(name, groups, (input) => Number(of(input) === null), `toFloat64(isNull(${sql}))`);
}

const clippedRiskSql = `least(greatest(bgbbRisk, ${riskClippedTo}), 1 - ${riskClippedTo})`;

const silence = ["silence-frequency", "use"] as const;
const trend = ["trend", "use"] as const;
const breadth = ["breadth-volume", "use"] as const;

/** Weeks since the first activity, of the twelve. */
const weeksSql = `least(toInt32(length(activeDaysByWeek)), intDiv(toInt32(tenureDays) + ${daysPerPeriod - 1}, ${daysPerPeriod}))`;
const leastWeeksOfSlope = 3;

/** The least-squares slope of the weekly active days since the first activity; null with fewer than three
 * weeks. */
function weeklySlope({ activeDaysByWeek, tenureDays }: ScoredFeatures): number | null {
  const weeks = Math.min(activeDaysByWeek.length, Math.ceil(tenureDays / daysPerPeriod));
  if (weeks < leastWeeksOfSlope) return null;
  const sum = activeDaysByWeek
    .slice(0, weeks)
    .reduce((total, days, week) => total + ((weeks - 1) / 2 - week) * days, 0);
  return sum / ((weeks * (weeks * weeks - 1)) / 12);
}

function slopeSql(): string {
  return `if(${weeksSql} < ${leastWeeksOfSlope}, NULL,
    arraySum((days, week) -> ((${weeksSql} - 1) / 2 - week) * days, arraySlice(activeDaysByWeek, 1, ${weeksSql}), range(toUInt8(greatest(${weeksSql}, 0))))
    / (${weeksSql} * (${weeksSql} * ${weeksSql} - 1) / 12))`;
}

export const activityColumns: readonly DesignColumn[] = [
  column("idle", silence, ({ features }) => Math.log1p(features.idleDays), "log1p(idleDays)"),
  column(
    "active days in 28",
    silence,
    ({ features }) => Math.log1p(features.activeDays28),
    "log1p(activeDays28)",
  ),
  column(
    "active days in 84",
    silence,
    ({ features }) => Math.log1p(features.activeDays84),
    "log1p(activeDays84)",
  ),
  column(
    "active days against the 28 before",
    trend,
    ({ features }) => Math.log((features.activeDays28 + 1) / (features.activeDaysPrevious28 + 1)),
    "log((activeDays28 + 1) / (activeDaysPrevious28 + 1))",
  ),
  column(
    "event names in 28",
    breadth,
    ({ features }) => Math.log1p(features.eventNames28),
    "log1p(eventNames28)",
  ),
  column(
    "tenure",
    ["tenure", "tenure"],
    ({ features }) => Math.log1p(features.tenureDays),
    "log1p(tenureDays)",
  ),
  column("mean gap", silence, ({ features }) => Math.log1p(features.meanGapDays), "log1p(meanGapDays)"),
  column(
    "idle against the mean gap",
    silence,
    ({ features }) => Math.log((features.idleDays + 1) / (features.meanGapDays + 1)),
    "log((idleDays + 1) / (meanGapDays + 1))",
  ),
  column(
    "single active day",
    silence,
    ({ features }) => Number(features.hasSingleActiveDay),
    "toFloat64(hasSingleActiveDay)",
  ),
  column(
    bgbbColumn,
    ["bgbb", "use"],
    ({ bgbbRisk }) => clippedLogOdds(bgbbRisk),
    `log(${clippedRiskSql}) - log1p(-(${clippedRiskSql}))`,
  ),
  ...columnWithUnknown(
    "variability of gaps",
    silence,
    ({ features }) => features.gapVariability,
    "gapVariability",
  ),
  ...columnWithUnknown("slope of active days", trend, ({ features }) => weeklySlope(features), slopeSql()),
  column("volume in 28", breadth, ({ features }) => Math.log1p(features.volume28), "log1p(volume28)"),
];

export const memberColumns: readonly DesignColumn[] = [
  column(
    "active members",
    ["members", "use"],
    ({ features }) => Math.log1p(features.members?.active28 ?? 0),
    "log1p(active28)",
  ),
  column(
    "active members against the 28 days before",
    ["members", "use"],
    ({ features: { members } }) =>
      Math.log(((members?.active28 ?? 0) + 1) / ((members?.activePrevious28 ?? 0) + 1)),
    "log((active28 + 1) / (activePrevious28 + 1))",
  ),
  column(
    "penetration",
    ["members", "use"],
    ({ features: { members } }) => (members?.active28 ?? 0) / Math.max(1, members?.active90 ?? 0),
    "active28 / greatest(1, active90)",
  ),
  column(
    "top member's share",
    ["members", "use"],
    ({ features }) => features.members?.topShare ?? 0,
    "topShare",
  ),
  column(
    "members' mean risk",
    ["members", "use"],
    ({ features }) => features.members?.meanRiskLogOdds ?? 0,
    "ifNull(meanRiskLogOdds, 0)",
  ),
];

const ofBilling = ["billing", "billing"] as const;

/** Whether a fact holds. Unknown without a subscription, which the column "has a subscription" tells. */
function billingFlag(
  name: string,
  fact: "isYearly" | "hasFailedPayment" | "isTrialEnding" | "isDown",
): DesignColumn {
  return column(
    name,
    ofBilling,
    ({ features: { billing } }) => billing && Number(billing[fact]),
    billingFactSql(fact),
  );
}

/** The columns of entities that pay for subscriptions. */
export const billingColumns: readonly DesignColumn[] = [
  column(
    "has a subscription",
    ofBilling,
    ({ features }) => Number(features.billing !== null),
    "toFloat64(notEmpty(billing))",
  ),
  column(
    "MRR",
    ofBilling,
    ({ features: { billing } }) => billing && Math.log1p(billing.mrr),
    `log1p(${billingFactSql("mrr")})`,
  ),
  billingFlag("yearly", "isYearly"),
  column(
    "age of the subscription",
    ofBilling,
    ({ features: { billing } }) => billing && Math.log1p(billing.ageDays),
    `log1p(${billingFactSql("ageDays")})`,
  ),
  ...columnWithUnknown(
    "days to the end of the period",
    ofBilling,
    ({ features: { billing } }) => {
      const daysToPeriodEnd = billing?.daysToPeriodEnd ?? null;
      return daysToPeriodEnd === null ? null : Math.log1p(daysToPeriodEnd);
    },
    `log1p(${billingFactSql("daysToPeriodEnd")})`,
  ),
  column(
    "end scheduled",
    ofBilling,
    ({ features: { billing } }) => billing && Number(billing.endsAtMs !== null),
    `if(empty(billing), NULL, toFloat64(isNotNull(${billingFactSql("endsAtMs")})))`,
  ),
  billingFlag("payment failed", "hasFailedPayment"),
  billingFlag("trial ends soon", "isTrialEnding"),
  billingFlag("MRR or quantity down", "isDown"),
];

/** Whether the first end of a period is within the churn horizon. */
export function periodEndColumn(withinDays: number): DesignColumn {
  const days = billingFactSql("daysToPeriodEnd");
  return column(
    "the period ends within the horizon",
    ofBilling,
    ({ features: { billing } }) => {
      const daysToPeriodEnd = billing?.daysToPeriodEnd ?? null;
      return daysToPeriodEnd === null ? null : Number(daysToPeriodEnd < withinDays);
    },
    `if(isNull(${days}), NULL, toFloat64(${days} < ${withinDays}))`,
  );
}

/** The columns of a user's account. Its members are counted with the user. */
export const accountColumns: readonly DesignColumn[] = [
  ...columnWithUnknown(
    "active members of the account",
    ["account", "use"],
    ({ features: { account } }) => account && Math.log1p(account.active28),
    "log1p(ownAccountActive28)",
  ),
  column(
    "active members of the account against the 28 days before",
    ["account", "use"],
    ({ features: { account } }) =>
      account && Math.log((account.active28 + 1) / (account.activePrevious28 + 1)),
    "log((ownAccountActive28 + 1) / (ownAccountPrevious28 + 1))",
  ),
];

/** The share of seats that active members use. More than twice the seats is a mistake in the number of
 * seats. */
export const seatsColumns: readonly DesignColumn[] = columnWithUnknown(
  "seats used",
  ["seats", "seats"],
  ({ features: { members, seats = null } }) =>
    members === null || seats === null ? null : Math.min(2, members.active28 / seats),
  "least(2, active28 / seats)",
);

/** The pulse of an account. */
export const pulseColumns: readonly DesignColumn[] = columnWithUnknown(
  "pulse",
  ["pulse", "pulse"],
  ({ features: { pulse = null } }) => pulse,
  "toFloat64(pulse)",
);

/** A count of 28 days. The count of a short tenure is scaled to 28 days.
 * @param index of the event in the parameter `mixEvents`, from 0 */
export function eventColumn(event: string, index: number): DesignColumn {
  return {
    event,
    ...column(
      `event ${event}`,
      ["mix", "mix"],
      ({ features }) => Math.log1p(countOf(event, features)),
      `log1p(${countSql(index)})`,
    ),
  };
}

/** A count of 28 days per active member of an account. @param index as in `eventColumn` */
export function memberEventColumn(event: string, index: number): DesignColumn {
  return {
    event,
    ...column(
      `event ${event} per member`,
      ["mix", "mix"],
      ({ features }) => Math.log1p(countOf(event, features) / Math.max(1, features.members?.active28 ?? 0)),
      `log1p(${countSql(index)} / greatest(1, active28))`,
    ),
  };
}

function countOf(event: string, { eventCounts28, tenureDays }: ScoredFeatures): number {
  return ((eventCounts28[event] ?? 0) * 28) / clamp(tenureDays, 14, 28);
}

function countSql(index: number): string {
  return `eventCounts28[{mixEvents:Array(String)}[${index + 1}]] * 28 / least(greatest(tenureDays, 14), 28)`;
}

export const keyEventColumns = columnWithUnknown(
  "days since the last key event",
  ["mix", "mix"],
  ({ features: { keyEventIdleDays } }) => keyEventIdleDays && Math.log1p(keyEventIdleDays),
  "log1p(keyEventIdleDays)",
);

/** @param index of the trait in `traitNumbers`, from 0 */
export function numberColumns(trait: string, index: number): DesignColumn[] {
  const groups = ["traits", "traits"] as const;
  const value = ({ features }: DesignInput) => features.numbers[trait] ?? null;
  const logarithm = (input: DesignInput) => {
    const number = value(input);
    return number === null ? null : Math.log1p(Math.abs(number));
  };
  const sql = `traitNumbers[${index + 1}]`;
  return [
    column(`number ${trait}`, groups, value, sql),
    column(`logarithm of ${trait}`, groups, logarithm, `log1p(abs(${sql}))`),
    unknownColumn(`number ${trait}, unknown`, groups, value, sql),
  ];
}

export const planColumns = columnWithUnknown(
  "days since the plan changed",
  ["traits", "traits"],
  ({ features: { planIdleDays } }) => planIdleDays && Math.log1p(planIdleDays),
  "log1p(planIdleDays)",
);

/** @param index of the value in `traitHits`, from 0 */
export function traitColumn({ trait, value }: TraitValue, index: number): DesignColumn {
  return column(
    `${trait} = ${value}`,
    ["traits", "traits"],
    ({ features }) => Number(features.traits[trait] === value),
    `toFloat64(traitHits[${index + 1}])`,
  );
}
