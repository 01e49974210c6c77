/**
 * The subscriptions of an entity at the start of a day: whether it has left, and the facts that models look
 * at. Only changes from before that instant count. `subscription-query.ts` is the same in SQL, for all
 * entities at once; a test compares the two on random logs.
 */
import type { ChurnTarget } from "../../../contract/api/churn-targets.ts";
import type { BillingEventName } from "../../../contract/billing/events.ts";
import { msPerDay, type Zone } from "../../calendar/zone.ts";

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

/** A change of a subscription, as facts follow from it. */
interface SubscriptionStep {
  readonly fromMs: number;
  readonly status: string;
  readonly mrr: number;
  /** `1 year` */
  readonly interval: string | undefined;
  readonly quantity: number | undefined;
  readonly periodEndMs: number | undefined;
  readonly trialEndsAtMs: number | undefined;
  readonly endsAtMs: number | undefined;
  readonly payer: { readonly account: number; readonly user: number };
  readonly isInvoluntary: boolean;
}

/** One subscription: its changes by time, and the times at which payments failed. */
export interface SubscriptionLog {
  readonly changes: readonly SubscriptionStep[];
  readonly failedMs: readonly number[];
}

/** When the last subscription that was ever paid ended. */
export interface SubscriptionEnd {
  readonly atMs: number;
  readonly isInvoluntary: boolean;
}

/** An entity by its subscriptions. */
export interface Standing {
  /** Null for an entity that has not left. A trial that ended unpaid is no departure. */
  readonly left: SubscriptionEnd | null;
  readonly billing: BillingFeatures | null;
}

/** The standing of an entity. @param isPayer whether the entity pays for a subscription that has this
 * payer */
export function standingAt(
  subscriptions: readonly SubscriptionLog[],
  instants: BillingInstants,
  isPayer: (payer: SubscriptionStep["payer"]) => boolean,
): Standing {
  const known = subscriptions
    .flatMap((subscription) => statusAt(subscription, instants) ?? [])
    .filter(({ now }) => isPayer(now.payer));
  const live = known.filter(({ now }) => now.status !== "canceled");
  const ends = known.flatMap(({ end }) => end ?? []);
  if (live.length > 0) return { left: null, billing: factsOf(known, live) };
  const atMs = Math.max(...ends.map(({ fromMs }) => fromMs));
  const last = ends.filter(({ fromMs }) => fromMs === atMs);
  return {
    left: last.length === 0 ? null : { atMs, isInvoluntary: last.every((end) => end.isInvoluntary) },
    billing: null,
  };
}

/** A subscription at an instant. */
interface StatusAt {
  readonly now: SubscriptionStep;
  /** The end of the last time that it was paid; undefined while it goes on, and for a subscription that was
   * never paid. */
  readonly end: SubscriptionStep | undefined;
  readonly earlier: SubscriptionStep | undefined;
  readonly ageDays: number;
  readonly daysToPeriodEnd: number | null;
  readonly hasFailedPayment: boolean;
  readonly isTrialEnding: boolean;
}

function statusAt({ changes, failedMs }: SubscriptionLog, instants: BillingInstants): StatusAt | undefined {
  const { atMs, comparedMs, failedFromMs, trialUntilMs } = instants;
  const known = changes.filter(({ fromMs }) => fromMs < atMs);
  const now = known.at(-1);
  if (now === undefined) return undefined;
  const lastPaid = known.findLastIndex(isPaid);
  const isEnded = now.status === "canceled" && lastPaid >= 0;
  const begun = known[known.findLastIndex(({ status }) => status === "canceled") + 1] ?? now;
  const { periodEndMs, trialEndsAtMs, status } = now;
  return {
    now,
    end: isEnded ? known.slice(lastPaid).find((change) => change.status === "canceled") : undefined,
    earlier: known.findLast(({ fromMs }) => fromMs < comparedMs),
    ageDays: (atMs - begun.fromMs) / msPerDay,
    daysToPeriodEnd: periodEndMs === undefined ? null : Math.max(0, (periodEndMs - atMs) / msPerDay),
    hasFailedPayment: failedMs.some((ms) => ms >= failedFromMs && ms < atMs),
    isTrialEnding:
      status === "trialing" &&
      trialEndsAtMs !== undefined &&
      trialEndsAtMs >= atMs &&
      trialEndsAtMs <= trialUntilMs,
  };
}

function factsOf(known: readonly StatusAt[], live: readonly StatusAt[]): BillingFeatures {
  const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  const mrr = sumOf(known.map(({ now }) => now.mrr));
  const earlierMrr = sumOf(known.map(({ earlier }) => earlier?.mrr ?? 0));
  const quantity = sumOf(known.map(({ now }) => quantityOf(now)));
  const earlierQuantity = sumOf(known.map(({ earlier }) => quantityOf(earlier)));
  const periodEnds = live.flatMap(({ daysToPeriodEnd }) => daysToPeriodEnd ?? []);
  const ends = live.flatMap(({ now }) => now.endsAtMs ?? []);
  return {
    isPaying: live.some(({ now }) => isPaid(now)),
    mrr,
    isYearly: live.some(({ now }) => isYearlyInterval(now.interval)),
    ageDays: Math.max(...live.map(({ ageDays }) => ageDays)),
    daysToPeriodEnd: periodEnds.length === 0 ? null : Math.min(...periodEnds),
    endsAtMs: ends.length < live.length ? null : Math.max(...ends),
    hasFailedPayment: live.some(({ hasFailedPayment }) => hasFailedPayment),
    isTrialEnding: live.some(({ isTrialEnding }) => isTrialEnding),
    isDown: mrr < earlierMrr || quantity < earlierQuantity,
    isPastDue: live.some(({ now }) => now.status === "past_due"),
  };
}

function isPaid({ status }: SubscriptionStep): boolean {
  return status === "active" || status === "past_due";
}

function quantityOf(change: SubscriptionStep | undefined): number {
  return change !== undefined && isPaid(change) ? (change.quantity ?? 0) : 0;
}

function isYearlyInterval(interval: string | undefined): boolean {
  const [count = "", unit = ""] = (interval ?? "").split(" ");
  return Number(count) * (daysOfUnits[unit] ?? 0) >= yearlyFromDays;
}
