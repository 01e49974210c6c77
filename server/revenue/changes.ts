/** The history of one subscription, from its billing events in any order. */
import { type BillingInterval, isPayment, type ToldStatus } from "../../contract/billing/events.ts";
import { msPerDay } from "../calendar/zone.ts";
import { type BillingEvent, inOrder } from "./billing-event.ts";
import { mrrOf } from "./mrr.ts";
import { periodEndAfter } from "./period-end.ts";

export type SubscriptionStatus = ToldStatus;

/** An account pays, or without one (0) a user. */
export interface Payer {
  readonly account: number;
  /** The user of the event that fixed the payer. */
  readonly user: number;
}

/** A subscription from one instant to the next change. A change may lie in the future: an end that is
 * scheduled. */
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
/** An older version within this time of a newer one says an old state: tools write times in seconds, and not
 * all at once. */
const staleVersionMs = 60_000;
/** A trial that is converted within so many days after its end was never lost: tools and banks take a
 * while. */
const trialGraceDays = 3;
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

/** What an invoice says that a subscription costs. */
interface Invoiced {
  readonly amount: number;
  readonly interval: BillingInterval;
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
  /** Whether it ended because its trial did, without a payment. */
  #isLostTrial = false;
  #isInvoluntary = false;
  /** Whether the last payment failed, and the tool has said no status since. */
  #isFailing = false;
  /** Whether the tool says that it is past due. No payment ends that: another invoice may still be
   * overdue. */
  #isToldPastDue = false;
  #isPricedByInvoice = false;
  #invoiced: Invoiced | undefined;
  #lastFailureMs = Number.NEGATIVE_INFINITY;
  #lastEventMs = Number.NEGATIVE_INFINITY;
  /** The version of the newest state, and the time of its event. */
  #newest = { version: -1, atMs: Number.NEGATIVE_INFINITY };

  /** Applies an event. Events come by time. */
  add(event: BillingEvent): void {
    if (this.#isStale(event)) return;
    const isStart = event.event === "subscription_started" || event.event === "trial_started";
    this.#passTo(event.atMs, { isStart, isTrialKept: isStart || goesOnAfterTrial(event) });
    this.#lastEventMs = event.atMs;
    if (isPayment(event.event)) this.#takeInvoice(event);
    else this.#takeFields(event);
    this.#apply(event);
    // A payment alone does not show what the subscription is, so it opens none.
    if (this.#payer !== undefined || !isPayment(event.event)) {
      this.#payer = this.#payerAfter(event);
      this.#write(event.atMs);
    }
  }

  /** Whether a newer version of the subscription was told just before. */
  #isStale({ event, atMs, properties: { resourceVersion } }: BillingEvent): boolean {
    if (isPayment(event) || resourceVersion === undefined) return false;
    const isOlder = resourceVersion < this.#newest.version;
    if (isOlder && atMs - this.#newest.atMs <= staleVersionMs) return true;
    this.#newest = { version: resourceVersion, atMs };
    return false;
  }

  /** Applies what happens without an event, and returns the changes. */
  finish(): SubscriptionChange[] {
    this.#passTo(Number.POSITIVE_INFINITY, { isStart: false, isTrialKept: false });
    return this.#changes;
  }

  /** Applies ends of discounts, trials and scheduled ends that come before an event. Of those at its very
   * time a start alone comes after the end: it reopens the subscription.
   * @param isTrialKept whether the event shows that a trial which has just ended goes on or is paid for */
  #passTo(
    atMs: number,
    { isStart, isTrialKept }: { readonly isStart: boolean; readonly isTrialKept: boolean },
  ): void {
    if (this.#payer === undefined) return;
    const isBefore = (ms: number) => ms < atMs || (isStart && ms === atMs);
    const end = this.#scheduledEnd;
    const endMs = end !== undefined && isBefore(end.atMs) ? end.atMs : undefined;
    const trialEndMs = this.#trialEndMs();
    const isLost =
      trialEndMs !== undefined &&
      isBefore(trialEndMs) &&
      trialEndMs <= (endMs ?? Number.POSITIVE_INFINITY) &&
      !(isTrialKept && atMs <= trialEndMs + trialGraceDays * msPerDay);
    if (isLost) {
      this.#end(trialEndMs, undefined);
      this.#isLostTrial = true;
      this.#write(trialEndMs);
      return;
    }
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

  /** When the trial ends that goes on now; undefined without one, and while its end is unknown. */
  #trialEndMs(): number | undefined {
    if (this.#status() !== "trialing" || this.#trialEndsAtMs === undefined) return undefined;
    return Math.max(this.#trialEndsAtMs, this.#lastEventMs);
  }

  #takeInvoice({ properties }: BillingEvent): void {
    const { recurringAmount: amount, recurringInterval: interval } = properties;
    if (amount === undefined || interval === undefined) return;
    this.#invoiced = { amount, interval };
    this.#priceByInvoice();
  }

  #priceByInvoice(): void {
    if (!this.#isPricedByInvoice) return;
    const { amount, interval } = this.#invoiced ?? {};
    this.#price = { amount, discountEndsAtMs: undefined, amountAfterDiscount: undefined };
    this.#interval = interval ?? this.#interval;
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
      this.#isPricedByInvoice = false;
    } else if (properties.isPricedByInvoice === true) {
      this.#isPricedByInvoice = true;
      this.#priceByInvoice();
    } else if (discountEndsAtMs !== undefined) {
      this.#price = { ...this.#price, discountEndsAtMs, amountAfterDiscount };
    }
  }

  #apply(sent: BillingEvent): void {
    const { event, atMs, properties } = sent;
    if (event === "subscription_started") this.#start((properties.trialEndsAtMs ?? atMs) > atMs, sent);
    if (event === "trial_started") this.#start(true, sent);
    if (this.#isLostTrial && goesOnAfterTrial(sent)) this.#reopen();
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
    if (!isPayment(event)) this.#schedule(sent);
    if (event === "cancellation_withdrawn") this.#scheduledEnd = undefined;
    const isEnd =
      event === "subscription_canceled" || (properties.status === "canceled" && !isPayment(event));
    if (isEnd) this.#end(atMs, properties.reason ?? this.#scheduledEnd?.reason);
    else if (properties.status !== undefined && !isPayment(event)) this.#take(properties.status, sent);
  }

  /** Takes a scheduled end, which tools that report a whole subscription tell with each change, and null once
   * it was withdrawn. */
  #schedule({ event, atMs, properties }: BillingEvent): void {
    const { endsAtMs, reason } = properties;
    if (endsAtMs === null) this.#scheduledEnd = undefined;
    if (event === "cancellation_scheduled") {
      const endMs = endsAtMs ?? this.#periodEndMs;
      this.#scheduledEnd = endMs === undefined ? undefined : { atMs: Math.max(endMs, atMs), reason };
    } else if (typeof endsAtMs === "number" && event !== "cancellation_withdrawn") {
      this.#scheduledEnd = {
        atMs: Math.max(endsAtMs, atMs),
        reason: reason ?? this.#scheduledEnd?.reason,
      };
    }
  }

  /** Takes the tool's own status. The tool knows of invoices that are overdue or written off, which are no
   * payments. */
  #take(status: ToldStatus, { atMs }: BillingEvent): void {
    if (status === "past_due" && !this.#isPastDue()) this.#lastFailureMs = atMs;
    this.#isTrial = status === "trialing";
    this.#isPaused = status === "paused";
    this.#isToldPastDue = status === "past_due";
    this.#isFailing = false;
  }

  #isPastDue(): boolean {
    return this.#isFailing || this.#isToldPastDue;
  }

  /** A payment when the period is over is one for the next: many senders report no other renewal. */
  #renewBy(paidMs: number): void {
    const [reportedMs, endMs] = [this.#reportedPeriodEndMs, this.#periodEndMs];
    if (this.#isEnded || this.#interval === undefined || reportedMs === undefined) return;
    if (endMs !== undefined && paidMs >= endMs) {
      this.#periodEndMs = periodEndAfter(reportedMs, this.#interval, paidMs);
    }
  }

  /** A start of a subscription that has ended is a new life: nothing of the old one's payments, pauses or
   * trial is left. */
  #start(isTrial: boolean, { properties }: BillingEvent): void {
    if (this.#isEnded) {
      this.#reopen();
      this.#trialEndsAtMs = properties.trialEndsAtMs;
    }
    this.#isTrial = isTrial;
  }

  #reopen(): void {
    [this.#isEnded, this.#isLostTrial, this.#isInvoluntary] = [false, false, false];
    [this.#isPaused, this.#isFailing, this.#isToldPastDue] = [false, false, false];
    this.#lastFailureMs = Number.NEGATIVE_INFINITY;
  }

  /** A stated reason decides: a customer who left for a rival did so also while a payment failed. */
  #end(atMs: number, reason: string | undefined): void {
    const isRecent = atMs - this.#lastFailureMs <= involuntaryDays * msPerDay;
    const isUnpaid = this.#status() === "past_due" && isRecent;
    this.#isInvoluntary = reason === undefined ? isUnpaid : reason === "payment_failed";
    this.#isEnded = true;
    this.#scheduledEnd = undefined;
  }

  /** The payer moves to an account that an event names, and to another user. A user who moves takes no MRR
   * along, and a payment moves none: anyone may pay a bill. */
  #payerAfter({ event, account, user, isAccountNamed, properties }: BillingEvent): Payer {
    const sender = { account, user };
    const payer = this.#payer ?? sender;
    if (isAccountNamed && account !== 0) return account === payer.account ? payer : sender;
    if (isPayment(event) || user === payer.user) return payer;
    const isMoved =
      properties.isTransfer === true || payer.account === 0 || (account !== 0 && account !== payer.account);
    return isMoved ? sender : payer;
  }

  #status(): SubscriptionStatus {
    if (this.#isEnded) return "canceled";
    if (this.#isPaused) return "paused";
    if (this.#isTrial) return "trialing";
    return this.#isPastDue() ? "past_due" : "active";
  }

  #mrr(status: SubscriptionStatus): number {
    const { amount } = this.#price;
    if (status !== "active" && status !== "past_due") return 0;
    if (amount === undefined || this.#interval === undefined || this.#currency === undefined) return 0;
    return mrrOf(amount, this.#interval);
  }

  /** Writes the state as it is from an instant on: over the last change if that is of the same instant. A
   * state that equals the last one only confirms it. */
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

/** Whether an event shows that a subscription goes on after its trial: a conversion, a payment, the tool's
 * status, or another end of the trial that is still to come. */
function goesOnAfterTrial({ event, atMs, properties }: BillingEvent): boolean {
  if (event === "payment_succeeded") return (properties.amount ?? 0) > 0;
  if (isPayment(event)) return false;
  const { status, trialEndsAtMs = atMs } = properties;
  return (
    event === "trial_converted" || trialEndsAtMs > atMs || (status !== undefined && status !== "canceled")
  );
}

const keysOfState = [
  "status",
  "plan",
  "mrr",
  "currency",
  "interval",
  "quantity",
  "periodEndMs",
  "trialEndsAtMs",
  "endsAtMs",
  "isInvoluntary",
] as const;

function isSameState(one: SubscriptionChange, other: SubscriptionChange): boolean {
  return (
    keysOfState.every((key) => one[key] === other[key]) &&
    one.payer.account === other.payer.account &&
    one.payer.user === other.payer.user
  );
}
