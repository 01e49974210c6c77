/** What models look at in the subscriptions of an entity, at the start of a day. Only changes from before
 * that instant count. */
import type { ChurnTarget } from "../../../contract/api/churn-targets.ts";
import type { BillingEventName } from "../../../contract/billing/events.ts";
import type { Zone } from "../../calendar/zone.ts";

/** Facts of an entity's subscriptions that have not ended. */
export interface BillingFeatures {
  /** Whether a subscription is active or past due. */
  readonly isPaying: boolean;
  /** In minor units, of all currencies together. */
  readonly mrr: number;
  readonly isYearly: boolean;
  /** Days since the oldest subscription began, or was opened again. */
  readonly ageDays: number;
  /** To the first end of a period; null where it is unknown. */
  readonly daysToPeriodEnd: number | null;
  /** The last of the scheduled ends; null unless the end of each of them is scheduled. */
  readonly endsAtMs: number | null;
  /** Within 28 days. */
  readonly hasFailedPayment: boolean;
  /** Within 14 days. */
  readonly isTrialEnding: boolean;
  /** Whether MRR or quantity are lower than 84 days ago. */
  readonly isDown: boolean;
  /** Whether a subscription is past due. */
  readonly isPastDue: boolean;
}

/** The facts in the order of the array that stores them. It is empty without a subscription. */
export const billingFacts = [
  "isPaying",
  "mrr",
  "isYearly",
  "ageDays",
  "daysToPeriodEnd",
  "endsAtMs",
  "hasFailedPayment",
  "isTrialEnding",
  "isDown",
  "isPastDue",
] as const satisfies readonly (keyof BillingFeatures)[];

/** The fact of a stored array, in SQL over `billing`; null without a subscription. */
export function billingFactSql(fact: (typeof billingFacts)[number]): string {
  return `billing[${billingFacts.indexOf(fact) + 1}]`;
}

/** The facts of a stored array. */
export function billingOf(values: readonly (number | null)[]): BillingFeatures | null {
  if (values.length === 0) return null;
  const numberOf = (fact: (typeof billingFacts)[number]) => values[billingFacts.indexOf(fact)] ?? null;
  const is = (fact: (typeof billingFacts)[number]) => numberOf(fact) === 1;
  return {
    isPaying: is("isPaying"),
    mrr: numberOf("mrr") ?? 0,
    isYearly: is("isYearly"),
    ageDays: numberOf("ageDays") ?? 0,
    daysToPeriodEnd: numberOf("daysToPeriodEnd"),
    endsAtMs: numberOf("endsAtMs"),
    hasFailedPayment: is("hasFailedPayment"),
    isTrialEnding: is("isTrialEnding"),
    isDown: is("isDown"),
    isPastDue: is("isPastDue"),
  };
}

/** Whether the entity pays, and has nothing left once the ends that are scheduled have come. */
export function isCanceling(billing: BillingFeatures | null): boolean {
  return billing?.isPaying === true && billing.endsAtMs !== null;
}

/** The parts of a churn target that say whether it is met by an end of a subscription. */
export type EndingTarget = Pick<ChurnTarget, "by"> & { readonly event?: string };

/** Whether a scheduled end of all subscriptions meets the target when it comes: then it is known, and not
 * predicted. */
export function isMetByEnd({ by, event }: EndingTarget): boolean {
  return by === "subscription" || (by === "event" && event === endOfSubscription);
}

const endOfSubscription: BillingEventName = "subscription_canceled";

/** `isCanceling` in SQL over `billing`. */
export const isCancelingSql = `ifNull(${billingFactSql("isPaying")} = 1 AND isNotNull(${billingFactSql("endsAtMs")}), false)`;

/** The instants of a day's facts. */
interface BillingInstants {
  readonly atMs: number;
  /** MRR and quantity are compared with MRR and quantity at this instant. */
  readonly comparedMs: number;
  /** Failed payments count from here on. */
  readonly failedFromMs: number;
  /** Trials that end until here end soon. */
  readonly trialUntilMs: number;
}

/** The instants of the facts at the start of a day. */
export function billingInstants(zone: Pick<Zone, "startOfDay">, day: number): BillingInstants {
  return {
    atMs: zone.startOfDay(day),
    comparedMs: zone.startOfDay(day - 84),
    failedFromMs: zone.startOfDay(day - 28),
    trialUntilMs: zone.startOfDay(day + 14),
  };
}

/** A price for at least this many days is a yearly price. */
export const yearlyFromDays = 360;
/** The days of an interval's unit, for comparison with a year. */
export const daysOfUnits: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30, year: 365 };

/** When the last subscription that was ever paid ended. */
export interface SubscriptionEnd {
  readonly atMs: number;
  readonly isInvoluntary: boolean;
}
