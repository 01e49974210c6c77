/** MRR, plan, status and renewal of a payer at an instant, from the states of its subscriptions. */
import type { subscriptionStatuses } from "../../contract/billing/payers.ts";
import type { SubscriptionStatus } from "./changes.ts";
import type { Conversion } from "./rates.ts";

export type PayerStatus = (typeof subscriptionStatuses)[number];

/** A subscription at an instant. */
export interface SubscriptionState {
  readonly status: SubscriptionStatus;
  /** Whether it was active or past due by then. */
  readonly wasPaid: boolean;
  /** Empty without one. */
  readonly plan: string;
  /** In minor units of the currency. */
  readonly mrr: number;
  readonly currency: string;
  /** MRR at the end of the horizon, by the scheduled ends. */
  readonly laterMrr: number;
  readonly laterCurrency: string;
  readonly periodEndMs: number | null;
  readonly endsAtMs: number | null;
}

export interface PayerNow {
  /** In minor units of the reporting currency. Null for payers that ever had MRR in a currency without a
   * rate. */
  readonly mrr: number | null;
  /** The part of it that ends within the horizon as scheduled. */
  readonly scheduledMrr: number;
  /** Of these payers, by currency and in its minor units. */
  readonly unratedMrr: readonly { readonly currency: string; readonly mrr: number }[];
  /** Of the subscription with the highest MRR, of those that go on; null without one. */
  readonly plan: string | null;
  /** Subscriptions that go on. */
  readonly subscriptions: number;
  readonly status: PayerStatus;
  /** The next end of a period after which a subscription goes on; without one that is still to come, the
   * last. */
  readonly renewsAtMs: number | null;
  /** The last of the scheduled ends, when all that go on have one. */
  readonly endsAtMs: number | null;
}

interface PayerFacts {
  readonly convert: Conversion;
  /** Whether the payer ever had MRR in a currency without a rate. */
  readonly isUnrated: boolean;
  readonly nowMs: number;
}

/** MRR, plan, status and renewal of a payer from all of its subscriptions. */
export function payerNow(
  states: readonly SubscriptionState[],
  { convert, isUnrated, nowMs }: PayerFacts,
): PayerNow {
  const live = states.filter(({ status }) => status !== "canceled");
  const lasting = live.filter(({ endsAtMs }) => endsAtMs === null);
  const renewals = lasting.flatMap(({ status, periodEndMs }) =>
    status === "paused" ? [] : (periodEndMs ?? []),
  );
  const [highest] = live
    .filter(({ plan }) => plan !== "")
    .map((state) => ({ ...state, converted: convert(state.mrr, state.currency) ?? 0 }))
    .toSorted((a, b) => b.converted - a.converted || b.mrr - a.mrr || (a.plan < b.plan ? 1 : -1));
  const sumOf = (amounts: readonly (number | undefined)[]) =>
    amounts.reduce<number>((sum, amount = 0) => sum + amount, 0);
  const mrr = sumOf(live.map((state) => convert(state.mrr, state.currency)));
  const laterMrr = sumOf(states.map((state) => convert(state.laterMrr, state.laterCurrency)));
  return {
    mrr: isUnrated ? null : mrr,
    scheduledMrr: isUnrated ? 0 : Math.max(0, mrr - laterMrr),
    unratedMrr: isUnrated ? mrrByCurrency(live) : [],
    plan: highest?.plan ?? null,
    subscriptions: live.length,
    status: statusOf(states, live, lasting),
    renewsAtMs: nextRenewal(renewals, nowMs),
    endsAtMs:
      live.length === 0 || lasting.length > 0 ? null : Math.max(...live.map(({ endsAtMs }) => endsAtMs ?? 0)),
  };
}

/** A period that ended without news hides no renewal that is still to come. */
function nextRenewal(periodEnds: readonly number[], nowMs: number): number | null {
  const next = periodEnds.filter((ms) => ms >= nowMs);
  if (next.length > 0) return Math.min(...next);
  return periodEnds.length > 0 ? Math.max(...periodEnds) : null;
}

function mrrByCurrency(live: readonly SubscriptionState[]): PayerNow["unratedMrr"] {
  const paid = live.filter(({ mrr }) => mrr > 0);
  return [...Map.groupBy(paid, ({ currency }) => currency)]
    .map(([currency, own]) => ({ currency, mrr: own.reduce((sum, { mrr }) => sum + mrr, 0) }))
    .toSorted((a, b) => (a.currency < b.currency ? -1 : 1));
}

/** The first that holds. A payer is canceling as for the state of scores: it pays, and an end of all that
 * goes on is scheduled. */
function statusOf(
  states: readonly SubscriptionState[],
  live: readonly SubscriptionState[],
  lasting: readonly SubscriptionState[],
): PayerStatus {
  if (live.length === 0) return states.some(({ wasPaid }) => wasPaid) ? "canceled" : "trial_lost";
  const has = (one: SubscriptionStatus) => live.some(({ status }) => status === one);
  if (lasting.length === 0 && (has("active") || has("past_due"))) return "canceling";
  const order = ["past_due", "active", "trialing"] as const;
  return order.find(has) ?? "paused";
}

/** The expected loss of a payer within the horizon: MRR that ends as scheduled for certain, the rest by the
 * churn risk, if that is known. Null where neither is known. `expectedLossSql` is the same in SQL. */
export function expectedLossOfPayer(
  { mrr, scheduledMrr }: Pick<PayerNow, "mrr" | "scheduledMrr">,
  risk: number | null,
): number | null {
  if (mrr === null) return null;
  if (mrr > 0 && scheduledMrr >= mrr) return mrr;
  if (risk === null) return scheduledMrr || null;
  return scheduledMrr + (mrr - scheduledMrr) * risk;
}
