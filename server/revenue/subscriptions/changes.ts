/** The history of one subscription, from its billing events in any order. */
import { type BillingInterval, isPayment } from "../../../contract/billing/events.ts";
import { msPerDay } from "../../calendar/calendar.ts";
import { type BillingEvent, inOrder } from "./billing-event.ts";
import { mrrOf } from "./mrr.ts";
import { periodEndAfter } from "./period-end.ts";

export type SubscriptionStatus = "trialing" | "active" | "past_due" | "paused" | "canceled";

/** An account pays, or without one (0) a user. */
export interface Payer {
  readonly account: number;
  /** The user of the event that fixed the payer. */
  readonly user: number;
}

/** A subscription from one instant to the next change. A change may lie in the future: an end that is scheduled. */
export interface SubscriptionChange {
  readonly fromMs: number;
  readonly status: SubscriptionStatus;
  readonly plan: string | undefined;
  /** In minor units; 0 unless active or past due, and without a known amount, currency or interval. */
  readonly mrr: number;
  readonly currency: string | undefined;
  /** Of the price: `1 year`. */
  readonly interval: string | undefined;
  readonly quantity: number | undefined;
  readonly periodEndMs: number | undefined;
  /** Of a trial: when it ends. */
  readonly trialEndsAtMs: number | undefined;
  /** When the scheduled end takes effect; undefined without one, and once it has ended. */
  readonly endsAtMs: number | undefined;
  readonly payer: Payer;
  /** Of an end: a failed payment caused it, no decision of the customer. */
  readonly isInvoluntary: boolean;
  /** The time of the newest event before the next change. */
  readonly lastEventMs: number;
}

/** An end counts as involuntary up to this long after the last failed payment. */
const involuntaryDays = 60;
/** So long after the end of its period a subscription without an event is unconfirmed. */
const unconfirmedDays = 30;

/**
 * The changes of one subscription, by time. Consecutive changes differ in more than their time.
 * @param events of one subscription, in any order, with duplicates
 */
export function changesOf(events: readonly BillingEvent[]): SubscriptionChange[] {
  const history = new History();
  for (const event of inOrder(events)) history.add(event);
  return history.finish();
}

/** Whether a subscription counts although its period ended more than 30 days ago and no event came since. */
export function isUnconfirmed(
  change: Pick<SubscriptionChange, "status" | "periodEndMs" | "lastEventMs">,
  atMs: number,
): boolean {
  const { status, periodEndMs, lastEventMs } = change;
  if (periodEndMs === undefined || (status !== "active" && status !== "past_due")) return false;
  return atMs >= Math.max(periodEndMs, lastEventMs) + unconfirmedDays * msPerDay;
}

/** Amounts and the end of a discount belong together: an event that has an amount states all three. */
interface Price {
  readonly amount: number | undefined;
  readonly discountEndsAtMs: number | undefined;
  readonly amountAfterDiscount: number | undefined;
}

interface ScheduledEnd {
  readonly atMs: number;
  readonly reason: string | undefined;
}

class History {
  readonly #changes: SubscriptionChange[] = [];
  #payer: Payer | undefined;
  #plan: string | undefined;
  #price: Price = { amount: undefined, discountEndsAtMs: undefined, amountAfterDiscount: undefined };
  #currency: string | undefined;
  #interval: BillingInterval | undefined;
  #quantity: number | undefined;
  #periodEndMs: number | undefined;
  /** The end of a period as it was reported last: payments move `#periodEndMs` on from it. */
  #reportedPeriodEndMs: number | undefined;
  #trialEndsAtMs: number | undefined;
  #scheduledEnd: ScheduledEnd | undefined;
  #isTrial = false;
  #isPaused = false;
  #isEnded = false;
  #isInvoluntary = false;
  /** Whether the last payment failed. */
  #isFailing = false;
  #lastFailureMs = Number.NEGATIVE_INFINITY;
  #lastEventMs = Number.NEGATIVE_INFINITY;

  /** Applies an event. Events come by time. */
  add(event: BillingEvent): void {
    const isStart = event.event === "subscription_started" || event.event === "trial_started";
    this.#passTo(event.atMs, isStart);
    this.#lastEventMs = event.atMs;
    if (!isPayment(event.event)) this.#takeFields(event);
    this.#apply(event);
    // A payment alone does not show what the subscription is, so it opens none.
    if (this.#payer !== undefined || !isPayment(event.event)) {
      this.#payer = this.#payerAfter(event);
      this.#write(event.atMs);
    }
  }

  /** Applies what happens without an event, and returns the changes. */
  finish(): SubscriptionChange[] {
    this.#passTo(Number.POSITIVE_INFINITY, false);
    return this.#changes;
  }

  /** Applies ends of discounts and scheduled ends that come before an event. Of those at its very time a start alone
   * comes after the end: it reopens the subscription. */
  #passTo(atMs: number, isStart: boolean): void {
    if (this.#payer === undefined) return;
    const isBefore = (ms: number) => ms < atMs || (isStart && ms === atMs);
    const end = this.#scheduledEnd;
    const endMs = end !== undefined && isBefore(end.atMs) ? end.atMs : undefined;
    const { discountEndsAtMs, amountAfterDiscount } = this.#price;
    if (
      discountEndsAtMs !== undefined &&
      isBefore(discountEndsAtMs) &&
      discountEndsAtMs < (endMs ?? Number.POSITIVE_INFINITY)
    ) {
      this.#price = {
        amount: amountAfterDiscount ?? this.#price.amount,
        discountEndsAtMs: undefined,
        amountAfterDiscount: undefined,
      };
      this.#write(Math.max(discountEndsAtMs, this.#lastEventMs));
    }
    if (end !== undefined && endMs !== undefined) {
      this.#end(endMs, end.reason);
      this.#write(endMs);
    }
  }

  #takeFields({ properties }: BillingEvent): void {
    const { amount, discountEndsAtMs, amountAfterDiscount } = properties;
    this.#plan = properties.plan ?? this.#plan;
    this.#currency = properties.currency ?? this.#currency;
    this.#interval = properties.interval ?? this.#interval;
    this.#quantity = properties.quantity ?? this.#quantity;
    this.#reportedPeriodEndMs = properties.currentPeriodEndMs ?? this.#reportedPeriodEndMs;
    this.#periodEndMs = properties.currentPeriodEndMs ?? this.#periodEndMs;
    this.#trialEndsAtMs = properties.trialEndsAtMs ?? this.#trialEndsAtMs;
    if (amount !== undefined) {
      this.#price = { amount, discountEndsAtMs, amountAfterDiscount };
    } else if (discountEndsAtMs !== undefined) {
      this.#price = { ...this.#price, discountEndsAtMs, amountAfterDiscount };
    }
  }

  #apply({ event, atMs, properties }: BillingEvent): void {
    if (event === "subscription_started") this.#start((properties.trialEndsAtMs ?? atMs) > atMs);
    if (event === "trial_started") this.#start(true);
    if (event === "payment_failed") [this.#isFailing, this.#lastFailureMs] = [true, atMs];
    if (event === "payment_succeeded") {
      this.#isFailing = false;
      if ((properties.amount ?? 0) > 0) {
        this.#isTrial = false;
        this.#renewBy(atMs);
      }
    }
    if (this.#isEnded) return;
    if (event === "trial_ending" && this.#payer === undefined) this.#isTrial = true;
    if (event === "trial_converted") this.#isTrial = false;
    if (event === "subscription_paused") this.#isPaused = true;
    if (event === "subscription_resumed") this.#isPaused = false;
    // Tools that report a whole subscription tell so that an end was withdrawn.
    if (properties.endsAtMs === null && !isPayment(event)) this.#scheduledEnd = undefined;
    if (event === "cancellation_scheduled") {
      const endMs = properties.endsAtMs ?? this.#periodEndMs;
      this.#scheduledEnd =
        endMs === undefined ? undefined : { atMs: Math.max(endMs, atMs), reason: properties.reason };
    }
    if (event === "cancellation_withdrawn") this.#scheduledEnd = undefined;
    if (event === "subscription_canceled") this.#end(atMs, properties.reason ?? this.#scheduledEnd?.reason);
  }

  /** A payment when the period is over is one for the next: many senders report no other renewal. */
  #renewBy(paidMs: number): void {
    const [reportedMs, endMs] = [this.#reportedPeriodEndMs, this.#periodEndMs];
    if (this.#isEnded || this.#interval === undefined || reportedMs === undefined) return;
    if (endMs !== undefined && paidMs >= endMs) {
      this.#periodEndMs = periodEndAfter(reportedMs, this.#interval, paidMs);
    }
  }

  /** A start of a subscription that has ended is a new life: nothing of the old one's payments or pauses is left. */
  #start(isTrial: boolean): void {
    this.#isTrial = isTrial;
    if (!this.#isEnded) return;
    [this.#isEnded, this.#isInvoluntary, this.#isPaused, this.#isFailing] = [false, false, false, false];
    this.#lastFailureMs = Number.NEGATIVE_INFINITY;
  }

  #end(atMs: number, reason: string | undefined): void {
    const isRecent = atMs - this.#lastFailureMs <= involuntaryDays * msPerDay;
    this.#isInvoluntary = reason === "payment_failed" || (this.#status() === "past_due" && isRecent);
    this.#isEnded = true;
    this.#scheduledEnd = undefined;
  }

  #payerAfter({ account, user, isAccountNamed }: BillingEvent): Payer {
    const payer = this.#payer ?? { account, user };
    return isAccountNamed && account !== 0 && account !== payer.account ? { account, user } : payer;
  }

  #status(): SubscriptionStatus {
    if (this.#isEnded) return "canceled";
    if (this.#isPaused) return "paused";
    if (this.#isTrial) return "trialing";
    return this.#isFailing ? "past_due" : "active";
  }

  #mrr(status: SubscriptionStatus): number {
    const { amount } = this.#price;
    if (status !== "active" && status !== "past_due") return 0;
    if (amount === undefined || this.#interval === undefined || this.#currency === undefined) return 0;
    return mrrOf(amount, this.#interval);
  }

  /** Writes the state as it is from an instant on: over the last change if that is of the same instant. A state that
   * equals the last one only confirms it. */
  #write(fromMs: number): void {
    if (this.#payer === undefined) return;
    const status = this.#status();
    const change: SubscriptionChange = {
      fromMs,
      status,
      plan: this.#plan,
      mrr: this.#mrr(status),
      currency: this.#currency,
      interval: this.#interval && `${this.#interval.count} ${this.#interval.unit}`,
      quantity: this.#quantity,
      periodEndMs: this.#periodEndMs,
      trialEndsAtMs: status === "trialing" ? this.#trialEndsAtMs : undefined,
      endsAtMs: this.#scheduledEnd?.atMs,
      payer: this.#payer,
      isInvoluntary: this.#isInvoluntary,
      lastEventMs: this.#lastEventMs,
    };
    if (this.#changes.at(-1)?.fromMs === fromMs) this.#changes.pop();
    const last = this.#changes.at(-1);
    if (last !== undefined && isSameState(last, change)) {
      this.#changes[this.#changes.length - 1] = { ...last, lastEventMs: change.lastEventMs };
    } else {
      this.#changes.push(change);
    }
  }
}

const keysOfState = [
  ...(["status", "plan", "mrr", "currency", "interval", "quantity"] as const),
  ...(["periodEndMs", "trialEndsAtMs", "endsAtMs", "isInvoluntary"] as const),
] as const;

function isSameState(one: SubscriptionChange, other: SubscriptionChange): boolean {
  return (
    keysOfState.every((key) => one[key] === other[key]) &&
    one.payer.account === other.payer.account &&
    one.payer.user === other.payer.user
  );
}
