/** An entity by its subscriptions at the start of a day: what `server/scoring/queries/subscription-query.ts`
 * is compared with. */
import { msPerDay } from "../../server/calendar/zone.ts";
import {
  type BillingFeatures,
  type billingInstants,
  daysOfUnits,
  type SubscriptionEnd,
  yearlyFromDays,
} from "../../server/scoring/scores/billing.ts";

type BillingInstants = ReturnType<typeof billingInstants>;

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
