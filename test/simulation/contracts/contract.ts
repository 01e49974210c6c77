/** A contract: its periods, payments, seats, and the two ways in which it ends. Days count from
 * 1970-01-01. */
import { msPerDay } from "../../../server/calendar/zone.ts";
import type { Properties } from "../../../simulation/catalogue.ts";
import type { Random } from "../../../simulation/random.ts";
import { endEvent, pricedPlans } from "./catalogue.ts";

/** The share of decisions that end the contract on the same day. The others take effect when the period
 * ends. */
export const atOnceShare = 0.35;
/** The share of scheduled ends that are withdrawn on their day. */
export const withdrawnShare = 0.12;
/** Days after a failed payment on which it is tried again. */
export const retryDays: readonly number[] = [3, 7, 14];
/** A contract that is unpaid for so many days ends. */
export const unpaidDays = 21;

/** How a contract ended: by a decision of the customer, or because it was not paid. */
export type Ending = "canceled" | "unpaid";

export interface BillingEvent {
  readonly name: string;
  readonly properties: Properties;
}

/** Facts that never change. The two chances are hidden. */
export interface ContractTerms {
  readonly subscriptionId: string;
  readonly startedDay: number;
  /** 30 or 365. */
  readonly periodDays: number;
  /** The chance that the payment of a period fails at first. */
  readonly failureChance: number;
  /** The chance that a further try succeeds. */
  readonly retryChance: number;
}

export class Contract {
  readonly terms: ContractTerms;
  /** The place in `pricedPlans`. */
  plan: number;
  seats: number;
  /** The day on which a scheduled end takes effect; null while none is scheduled. */
  endsDay: number | null = null;
  /** The day of the failed payment while it is due; null while nothing is due. */
  failedDay: number | null = null;
  endedDay: number | null = null;
  ending: Ending | null = null;

  constructor(terms: ContractTerms, plan: number, seats: number) {
    this.terms = terms;
    this.plan = plan;
    this.seats = seats;
  }

  get planName(): string {
    return pricedPlans[this.plan]?.name ?? "";
  }

  /** The first day after `day` on which a period begins. */
  periodEndAfter(day: number): number {
    const { startedDay, periodDays } = this.terms;
    return startedDay + (Math.floor((day - startedDay) / periodDays) + 1) * periodDays;
  }

  /** Whether a period other than the first begins on a day. */
  isBillingDay(day: number): boolean {
    return day > this.terms.startedDay && this.periodEndAfter(day - 1) === day;
  }

  start(): BillingEvent[] {
    const day = this.terms.startedDay;
    return [this.#event("subscription_started", day), this.#event("payment_succeeded", day)];
  }

  /** The outcome of a scheduled end on its day; nothing on other days. */
  settleScheduledEnd(day: number, random: Random): BillingEvent[] {
    if (this.endsDay !== day) return [];
    this.endsDay = null;
    return random.chance(withdrawnShare)
      ? [this.#event("cancellation_withdrawn", day)]
      : this.#end("canceled", day);
  }

  /** The customer has decided to end the contract: at once, or with the period. */
  decide(day: number, random: Random): BillingEvent[] {
    if (random.chance(atOnceShare)) return this.#end("canceled", day);
    this.endsDay = this.periodEndAfter(day);
    const endsAt = dateOf(this.endsDay);
    return [this.#event("cancellation_scheduled", day, { endsAt })];
  }

  /** The payment of a new period, or of one that is due. */
  bill(day: number, random: Random): BillingEvent[] {
    if (this.failedDay !== null) return this.#billAgain(day, this.failedDay, random);
    if (!this.isBillingDay(day)) return [];
    if (!random.chance(this.terms.failureChance)) return [this.#event("payment_succeeded", day)];
    this.failedDay = day;
    return [this.#event("payment_failed", day)];
  }

  /** Other seats or another plan. */
  change(day: number, to: { readonly seats?: number; readonly plan?: number }): BillingEvent[] {
    const { seats = this.seats, plan = this.plan } = to;
    if (seats === this.seats && plan === this.plan) return [];
    [this.seats, this.plan] = [seats, plan];
    return [this.#event("subscription_changed", day)];
  }

  #billAgain(day: number, failedDay: number, random: Random): BillingEvent[] {
    if (day === failedDay + unpaidDays) return this.#end("unpaid", day);
    if (!retryDays.includes(day - failedDay)) return [];
    if (!random.chance(this.terms.retryChance)) return [this.#event("payment_failed", day)];
    this.failedDay = null;
    return [this.#event("payment_succeeded", day)];
  }

  #end(ending: Ending, day: number): BillingEvent[] {
    [this.endedDay, this.ending, this.endsDay] = [day, ending, null];
    return [this.#event(endEvent, day)];
  }

  #event(name: string, day: number, more: Properties = {}): BillingEvent {
    const { subscriptionId, periodDays } = this.terms;
    const cents = (pricedPlans[this.plan]?.centsPerSeat ?? 0) * this.seats;
    return {
      name,
      properties: {
        subscriptionId,
        plan: this.planName,
        amount: periodDays === 365 ? cents * 12 : cents,
        currency: "EUR",
        interval: `${periodDays} day`,
        quantity: this.seats,
        currentPeriodEnd: dateOf(this.periodEndAfter(day)),
        ...more,
      },
    };
  }
}

function dateOf(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}
