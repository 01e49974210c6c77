/**
 * A subscription of a simulated account, until it ends or the log does. It ends for the reasons for which the
 * account stops using the product, but at the end of a period. An account that has decided to leave uses it
 * less and less, then cancels. An account whose users have all left stops paying. An account that uses it
 * little pays in some months only. Besides, payments fail by chance.
 */
import type { BillingEventName } from "../contract/billing/events.ts";
import { msPerDay } from "../server/calendar/zone.ts";
import { type Properties, plans } from "./catalogue.ts";
import type { Customer } from "./paying-customer.ts";
import {
  breaks,
  chances,
  givingUp,
  type Interval,
  monthsOf,
  patienceDays,
  pauseChance,
  priceOf,
  reasons,
  refundShare,
  retryDays,
  type StatedReason,
  trialDays,
  unpaidShare,
} from "./prices.ts";
import type { Random } from "./random.ts";

/** How an account pays, in all of its subscriptions. */
export interface Terms {
  readonly currency: "USD" | "EUR";
  readonly interval: Interval;
  /** The share of the seats which it fills in the end that it buys at the start. */
  readonly seatsShare: number;
}

export interface SubscriptionStart {
  /** From 1, among those of its account. */
  readonly number: number;
  readonly startMs: number;
  /** It begins with a trial. */
  readonly isTrial: boolean;
  /** The end of the log. */
  readonly endMs: number;
}

/** A billing event, before it has a user. */
export interface Report {
  readonly event: BillingEventName;
  readonly timeMs: number;
  readonly properties: Properties;
}

/** The terms of an account from a time on. */
export interface Agreement {
  readonly timeMs: number;
  /** Null: nothing. */
  readonly renewsMs: number | null;
  /** In whole units of its currency. */
  readonly perYear: number;
}

/** What an account pays from a time on, as its books have it. */
export interface Charge {
  readonly timeMs: number;
  /** In minor units, for one interval: 0 for nothing. */
  readonly amount: number;
  /** Of an end: why, as billing was told. Null: nothing was said. */
  readonly why: StatedReason | null;
  readonly isUnpaid: boolean;
}

type Step = readonly [timeMs: number, take: (timeMs: number) => void];

export class Subscription {
  /** When and why it ended. */
  end: { readonly timeMs: number; readonly reason: EndReason } | undefined;
  readonly agreements: Agreement[] = [];
  /** In time order. */
  readonly charges: Charge[] = [];
  readonly #reports: Report[] = [];
  readonly #id: string;
  readonly #customer: Customer;
  readonly #terms: Terms;
  readonly #start: SubscriptionStart;
  readonly #random: Random;
  /** The first payment is due then, and periods begin. */
  readonly #paidFromMs: number;
  #plan: number;
  #seats: number;
  /** Whole months since the first payment was due; -1 in a trial. */
  #months: number;
  #isPaused = false;
  #invoices = 0;
  /** It ends then, unless it is withdrawn or paid. */
  #dueEnd: { readonly timeMs: number; readonly reason: EndReason; readonly why?: StatedReason } | undefined;

  constructor(customer: Customer, terms: Terms, start: SubscriptionStart, random: Random) {
    const { accountId, seats } = customer.facts;
    this.#id = `sub-${accountId}-${start.number}`;
    this.#customer = customer;
    this.#terms = terms;
    this.#start = start;
    this.#random = random;
    this.#months = start.isTrial ? -1 : 0;
    this.#paidFromMs = start.startMs + (start.isTrial ? trialDays * msPerDay : 0);
    // An account on the free plan tries the smallest paid one.
    this.#plan = Math.max(1, customer.planAt(start.startMs));
    this.#seats = Math.max(1, customer.usersAt(start.startMs), Math.ceil(seats * terms.seatsShare));
  }

  /** Its events; those of a subscription that ended stop there. Some may be later than the end of the log. */
  get reports(): readonly Report[] {
    const untilMs = this.end?.timeMs ?? Number.POSITIVE_INFINITY;
    return this.#reports.filter(({ timeMs }) => timeMs <= untilMs);
  }

  /** Lives until it ends or the log does. */
  live(): void {
    const { startMs, endMs, isTrial } = this.#start;
    this.#report(startMs, isTrial ? "trial_started" : "subscription_started", {
      ...this.#price,
      currentPeriodEnd: iso(this.#periodEndMs),
      ...(isTrial && { trialEndsAt: iso(this.#paidFromMs) }),
    });
    if (isTrial) this.#report(this.#paidFromMs - 3 * msPerDay, "trial_ending", {});
    for (const [timeMs, take] of this.#agenda()) {
      this.#endIfDue(timeMs);
      if (this.end !== undefined) return;
      take(timeMs);
    }
    this.#endIfDue(endMs);
  }

  /** All that is to happen until the log ends, unless the subscription ends before. */
  #agenda(): Step[] {
    const { startMs, endMs } = this.#start;
    const { planChanges, doubts, cancelsMs } = this.#customer;
    const steps: Step[] = [[this.#paidFromMs, (timeMs) => this.#begin(timeMs)]];
    for (let month = 1; this.#monthMs(month) < endMs; month += 1) {
      steps.push([this.#monthMs(month), (timeMs) => this.#nextMonth(timeMs)]);
    }
    for (const { timeMs, plan } of planChanges) steps.push([timeMs, () => this.#changePlan(timeMs, plan)]);
    for (const { fromMs, untilMs } of doubts) {
      const scheduledMs = (Math.max(fromMs, this.#lastRenewal(untilMs)) + untilMs) / 2;
      steps.push([scheduledMs, () => this.#schedule(scheduledMs)]);
      steps.push([untilMs, () => this.#withdraw(untilMs)]);
    }
    if (cancelsMs !== undefined) steps.push([cancelsMs, () => this.#schedule(cancelsMs)]);
    return steps
      .filter(([timeMs]) => timeMs >= startMs && timeMs < endMs)
      .sort(([one], [other]) => one - other);
  }

  /** The first payment. A trial of an account that stayed on the free plan, or lapsed, ends. */
  #begin(timeMs: number): void {
    if (this.#customer.planAt(timeMs) === 0 || this.#hasLapsed(timeMs)) {
      this.#endAt(timeMs, "trial_not_converted");
      return;
    }
    this.#months = 0;
    const { isTrial } = this.#start;
    if (isTrial)
      this.#report(timeMs, "trial_converted", { ...this.#price, currentPeriodEnd: iso(this.#periodEndMs) });
    this.#agree(timeMs);
    this.#charge(timeMs, this.#price.amount);
    this.#renew(timeMs);
  }

  #nextMonth(timeMs: number): void {
    this.#months += 1;
    const isRenewal = this.#months % monthsOf[this.#terms.interval] === 0;
    const currentPeriodEnd = iso(this.#periodEndMs);
    if (isRenewal && !this.#isPaused && this.#pauses(timeMs)) {
      this.#isPaused = true;
      this.#report(timeMs, "subscription_paused", { currentPeriodEnd });
      this.#charge(timeMs, 0);
      return;
    }
    if (isRenewal && this.#isGivenUp(timeMs)) {
      this.#endAt(timeMs, "unused");
      return;
    }
    const wasPaused = this.#isPaused;
    if (wasPaused) this.#report(timeMs, "subscription_resumed", {});
    this.#isPaused = false;
    const seats = this.#seatsWanted(timeMs, isRenewal);
    if (seats !== this.#seats || isRenewal) {
      this.#seats = seats;
      this.#change(timeMs);
    } else if (wasPaused) this.#charge(timeMs, this.#price.amount);
    if (isRenewal) this.#renew(timeMs);
  }

  #pauses(timeMs: number): boolean {
    const isSmall = this.#terms.interval === "month" && this.#plan <= 2;
    return isSmall && !this.#hasLapsed(timeMs) && this.#random.chance(pauseChance);
  }

  /** Whether its users work so little that it is not renewed. */
  #isGivenUp(timeMs: number): boolean {
    if (this.#hasLapsed(timeMs) || this.#dueEnd !== undefined) return false;
    const { chance, workPerUser, worthwhileWork, steepness } = breaks;
    const users = Math.max(1, this.#customer.usersAt(timeMs));
    const worthwhile = Math.min(worthwhileWork, workPerUser * users);
    const worth = (this.#customer.workAt(timeMs) / worthwhile) ** steepness;
    return this.#random.chance(chance / (1 + worth));
  }

  /** Each user needs a seat. Seats without users are given up at a renewal. */
  #seatsWanted(timeMs: number, isRenewal: boolean): number {
    const users = this.#customer.usersAt(timeMs);
    const hasTooMany = isRenewal && users > 0 && users < givingUp.belowShare * this.#seats;
    if (hasTooMany && this.#random.chance(givingUp.chance)) return Math.ceil((users + this.#seats) / 2);
    return Math.max(users, this.#seats);
  }

  #changePlan(timeMs: number, plan: number): void {
    if (plan === 0) {
      this.#endAt(timeMs, "downgraded");
      return;
    }
    this.#plan = plan;
    this.#change(timeMs);
  }

  #change(timeMs: number): void {
    this.#report(timeMs, "subscription_changed", {
      ...this.#price,
      currentPeriodEnd: iso(this.#periodEndMs),
    });
    this.#agree(timeMs);
    if (!this.#isPaused) this.#charge(timeMs, this.#price.amount);
  }

  #schedule(timeMs: number): void {
    // A subscription that is not paid for ends by itself.
    if (this.#dueEnd !== undefined) return;
    const { reason, feedback: texts } = this.#random.weighted(reasons);
    // Not drawn: all later events are the same with other texts.
    const feedback = texts[this.#customer.facts.number % texts.length] ?? "";
    this.#dueEnd = { timeMs: this.#periodEndMs, reason: "canceled", why: { reason, feedback } };
    this.#report(timeMs, "cancellation_scheduled", {
      endsAt: iso(this.#dueEnd.timeMs),
      reason,
      ...(feedback !== "" && { feedback }),
    });
  }

  #withdraw(timeMs: number): void {
    if (this.#dueEnd?.reason !== "canceled") return;
    this.#dueEnd = undefined;
    this.#report(timeMs, "cancellation_withdrawn", {});
  }

  /** Pays for a period: at once, at a later try, or not at all. */
  #renew(timeMs: number): void {
    this.#invoices += 1;
    const tries = [timeMs, ...retryDays.map((days) => timeMs + days * msPerDay)];
    const paidAt = this.#tryThatPays(timeMs);
    for (const triedMs of tries.slice(0, paidAt)) this.#pay(triedMs, "payment_failed");
    const paidMs = tries[paidAt];
    if (paidMs === undefined) {
      this.#dueEnd = { timeMs: timeMs + patienceDays * msPerDay, reason: "payment_failed" };
      return;
    }
    this.#pay(paidMs, "payment_succeeded");
    if (this.#random.chance(chances.disputed)) this.#pay(paidMs + 9 * msPerDay, "payment_disputed");
    if (this.#hasLapsed(timeMs)) this.#schedule(timeMs + msPerDay);
  }

  /** From 0; one that there is not when each of them fails. */
  #tryThatPays(timeMs: number): number {
    const none = retryDays.length + 1;
    if (this.#hasLapsed(timeMs)) return this.#random.chance(unpaidShare) ? none : 0;
    if (this.#months === 0 || !this.#random.chance(chances.fails)) return 0;
    const retry = retryDays.findIndex(() => this.#random.chance(chances.recovers));
    return retry < 0 ? none : retry + 1;
  }

  #pay(timeMs: number, event: BillingEventName): void {
    const { amount, currency } = this.#price;
    this.#report(timeMs, event, { amount, currency, invoiceId: `in-${this.#id}-${this.#invoices}` });
  }

  #endIfDue(timeMs: number): void {
    if (this.#dueEnd !== undefined && this.#dueEnd.timeMs <= timeMs && this.end === undefined) {
      const { timeMs: endMs, reason, why } = this.#dueEnd;
      this.#endAt(endMs, reason, why);
    }
  }

  #endAt(timeMs: number, reason: EndReason, why: StatedReason = { reason, feedback: "" }): void {
    this.end = { timeMs, reason };
    this.#charge(timeMs, 0, why, reason === "payment_failed");
    const isRefunded = reason === "canceled" && this.#months >= 0 && this.#random.chance(refundShare);
    if (isRefunded) this.#pay(timeMs, "payment_refunded");
    this.#report(timeMs, "subscription_canceled", { reason });
    if (this.#months >= 0) this.agreements.push({ timeMs, renewsMs: null, perYear: 0 });
  }

  #charge(timeMs: number, amount: number, why: StatedReason | null = null, isUnpaid = false): void {
    this.charges.push({ timeMs: Math.round(timeMs), amount, why, isUnpaid });
  }

  #agree(timeMs: number): void {
    const perYear = (this.#price.amount * 12) / monthsOf[this.#terms.interval] / 100;
    this.agreements.push({ timeMs, renewsMs: this.#periodEndMs, perYear });
  }

  #report(timeMs: number, event: BillingEventName, properties: Properties): void {
    const { accountId } = this.#customer.facts;
    const ids = { subscriptionId: this.#id, accountId };
    this.#reports.push({ event, timeMs: Math.round(timeMs), properties: { ...ids, ...properties } });
  }

  #hasLapsed(timeMs: number): boolean {
    return (this.#customer.lapsedMs ?? Number.POSITIVE_INFINITY) < timeMs;
  }

  get #price() {
    const { currency, interval } = this.#terms;
    const amount = priceOf(this.#plan, this.#seats, interval);
    return { plan: plans[this.#plan]?.name ?? "", amount, currency, interval, quantity: this.#seats };
  }

  /** The end of the trial, or of the period that is paid. */
  get #periodEndMs(): number {
    if (this.#months < 0) return this.#paidFromMs;
    const months = monthsOf[this.#terms.interval];
    return this.#monthMs((Math.floor(this.#months / months) + 1) * months);
  }

  /** The begin of the period, or of the trial, at a time. */
  #lastRenewal(timeMs: number): number {
    let beginMs = this.#start.startMs;
    const months = monthsOf[this.#terms.interval];
    for (let month = 0; this.#monthMs(month) <= timeMs; month += months) beginMs = this.#monthMs(month);
    return beginMs;
  }

  /** So many months after the first payment was due. */
  #monthMs(months: number): number {
    return monthsAfter(this.#paidFromMs, months);
  }
}

type EndReason = "canceled" | "unused" | "downgraded" | "payment_failed" | "trial_not_converted";

/** The same day and time in a later month, or its last day, in UTC. */
function monthsAfter(timeMs: number, months: number): number {
  const date = new Date(timeMs);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const days = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, days));
  return date.getTime();
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
