/** Subscriptions of two years, simulated. Each life sends billing events, and keeps the books of what it does
 * itself. */
import { type BillingEventName, isPayment } from "../../contract/billing/events.ts";
import type { JsonObject } from "../../contract/json.ts";
import { msPerDay } from "../../server/calendar/zone.ts";
import { Random } from "../../simulation/random.ts";
import { Books, type CentRates, type Money, quotient } from "./books.ts";

/** An event about a subscription, as it is sent. */
export interface Sent {
  readonly event: BillingEventName;
  readonly atMs: number;
  /** The user and account that the event carries. */
  readonly from: number;
  /** Whether the event names the account. */
  readonly isNamed: boolean;
  readonly messageId: string;
  readonly properties: JsonObject;
}

const beginMs = Date.UTC(2024, 6, 1);
const endMs = Date.UTC(2026, 1, 1);
/** Intervals, how many of their units a year has, and how many units they have. */
const intervals: readonly (readonly [text: string, perYear: number, count: number])[] = [
  ["month", 12, 1],
  ["3 months", 12, 3],
  ["year", 1, 1],
  ["2 years", 1, 2],
  ["week", 52, 1],
  ["2 weeks", 52, 2],
  ["30 days", 365, 30],
];

/** 1.0842 USD for a euro, 0.0067 for a yen, 3.255 for a Kuwaiti dinar. A Swedish krona has no rate. */
const centRates: CentRates = {
  USD: [1, 1],
  EUR: [10_842, 10_000],
  JPY: [67, 100],
  KWD: [3_255, 10_000],
};
export const rates = { reporting: "USD", rates: { EUR: 1.0842, JPY: 0.0067, KWD: 3.255 } };

/** Lives of this many subscriptions: their events by time, and the books. */
export function simulate(subscriptions: number, seed: number): { sent: Sent[]; books: Books } {
  const books = new Books(centRates);
  const sent: Sent[] = [];
  const random = new Random(seed);
  for (let index = 0; index < subscriptions; index += 1) {
    const payer = random.between(1, Math.ceil(subscriptions * 0.7));
    const life = new Life(random, books, `sub_${index}`, payer, (one) => sent.push(one));
    life.live();
  }
  return { sent: sent.sort((a, b) => a.atMs - b.atMs), books };
}

class Life {
  readonly #random: Random;
  readonly #books: Books;
  readonly #id: string;
  #payer: number;
  /** Whether an account pays. In the events of `books.test.ts` users with even numbers have one. */
  #hasAccount: boolean;
  readonly #send: (sent: Sent) => void;
  readonly #currency: string;
  #atMs: number;
  #number = 0;
  #interval = intervals[0] ?? ["month", 12, 1];
  #amount = 0;
  #isCounted = false;
  #booked = 0;
  #discount: { readonly endsMs: number; readonly after: number } | undefined;
  #scheduledMs: number | undefined;
  /** Whether a scheduled end took effect while time passed last. */
  #isEnded = false;
  #failedMs: number | undefined;

  constructor(random: Random, books: Books, id: string, payer: number, send: (sent: Sent) => void) {
    [this.#random, this.#books, this.#id, this.#payer, this.#send] = [random, books, id, payer, send];
    this.#hasAccount = payer % 2 === 0;
    this.#currency = random.pick(["USD", "USD", "USD", "EUR", "EUR", "JPY", "KWD", "SEK"]);
    this.#atMs = beginMs + random.between(0, 480 * msPerDay);
  }

  live(): void {
    this.#open();
    while (this.#pass(2, 45)) {
      if (!this.#isCounted) this.#comeBack();
      else this.#act();
    }
  }

  /** Starts with or without a trial, at a price with or without a discount. */
  #open(): void {
    this.#interval = this.#random.pick(intervals);
    this.#amount = this.#random.between(1, 200_000);
    const price = this.#price();
    if (this.#random.chance(0.3)) {
      const trialEndsAt = iso(this.#atMs + 14 * msPerDay);
      const isStart = this.#random.chance(0.5);
      this.#emit(isStart ? "subscription_started" : "trial_started", { ...price, trialEndsAt });
      if (!this.#pass(10, 20)) return;
      if (this.#random.chance(0.3)) {
        this.#emit("subscription_canceled");
        return;
      }
      const payment = { amount: this.#amount, currency: this.#currency };
      if (this.#random.chance(0.5)) this.#emit("trial_converted");
      else this.#emit("payment_succeeded", payment);
    } else {
      this.#emit("subscription_started", price);
    }
    this.#isCounted = true;
    this.#book(this.#atMs, false);
  }

  /** The price's properties, sometimes with a discount of limited time. */
  #price(): JsonObject {
    const [interval] = this.#interval;
    const price = { plan: "pro", currency: this.#currency.toLowerCase(), interval, amount: this.#amount };
    this.#discount = undefined;
    if (!this.#random.chance(0.2)) return price;
    this.#discount = { endsMs: this.#later(20, 120), after: this.#amount + this.#random.between(1, 50_000) };
    const { endsMs, after } = this.#discount;
    return { ...price, discountEndsAt: iso(endsMs), amountAfterDiscount: after };
  }

  #act(): void {
    const act = this.#random.pick([
      () => this.#change(),
      () => this.#change(),
      () => this.#change(),
      () => this.#pause(),
      () => this.#move(),
      () => this.#move(),
      () => this.#fail(),
      () => this.#fail(),
      () => this.#schedule(),
      () => this.#schedule(),
      () => this.#end({ reason: "cancellation_requested" }, false),
    ]);
    act();
  }

  /** Another amount, interval, or both: a change omits what stays. */
  #change(): void {
    if (this.#random.chance(0.3)) {
      this.#interval = this.#random.pick(intervals);
      const [interval] = this.#interval;
      this.#emit("subscription_changed", { interval });
    } else {
      this.#amount = this.#random.between(1, 200_000);
      this.#emit("subscription_changed", this.#price());
    }
    this.#book(this.#atMs, false);
  }

  /** An event names another account, or the tool moves the subscription to another user: it is paid by these
   * from then on. */
  #move(): void {
    const before = this.#payer;
    this.#payer += this.#random.between(1, 20);
    const isNamed = this.#random.chance(0.5);
    this.#hasAccount = isNamed || this.#payer % 2 === 0;
    this.#emit("subscription_changed", isNamed ? {} : { isTransfer: true }, isNamed);
    const money = { amount: this.#booked, currency: this.#currency };
    this.#books.pass(this.#atMs, `payer ${before}`, `payer ${this.#payer}`, money);
  }

  #pause(): void {
    this.#emit("subscription_paused");
    this.#isCounted = false;
    this.#book(this.#atMs, false);
    if (!this.#pass(5, 80) || this.#isEnded) return;
    this.#emit("subscription_resumed");
    this.#isCounted = true;
    this.#book(this.#atMs, false);
  }

  /** A failed payment, after which the customer pays or the subscription ends. */
  #fail(): void {
    this.#emit("payment_failed", { amount: this.#amount, currency: this.#currency });
    const failedMs = this.#atMs;
    if (!this.#pass(1, 90) || !this.#isCounted) return;
    if (this.#random.chance(0.5)) this.#emit("payment_succeeded", { amount: 1, currency: this.#currency });
    else this.#end({}, this.#atMs - failedMs <= 60 * msPerDay);
  }

  /** An end that is scheduled, and sometimes withdrawn. Nothing is sent when it takes effect, or only days
   * later. */
  #schedule(): void {
    if (this.#scheduledMs !== undefined) return;
    this.#scheduledMs = this.#later(5, 60);
    this.#emit("cancellation_scheduled", { endsAt: iso(this.#scheduledMs) });
    if (!this.#random.chance(0.4) || !this.#pass(1, 40) || !this.#isCounted) return;
    this.#scheduledMs = undefined;
    this.#emit("cancellation_withdrawn");
  }

  #end(properties: JsonObject, isInvoluntary: boolean): void {
    this.#emit("subscription_canceled", properties);
    this.#isCounted = false;
    this.#scheduledMs = undefined;
    this.#book(this.#atMs, isInvoluntary);
  }

  /** A subscription that has ended reports its end late, or starts again. */
  #comeBack(): void {
    if (!this.#random.chance(0.5)) this.#emit("subscription_canceled");
    if (this.#random.chance(0.7) && this.#pass(10, 150)) this.#open();
    else this.#atMs = endMs;
  }

  /** Time goes on, and what happens without an event happens. False at the end of the simulation. */
  #pass(leastDays: number, mostDays: number): boolean {
    const nextMs = this.#later(leastDays, mostDays);
    this.#isEnded = false;
    const discount = this.#discount;
    const endsMs = this.#scheduledMs ?? Number.POSITIVE_INFINITY;
    if (discount !== undefined && discount.endsMs < Math.min(nextMs, endsMs)) {
      this.#amount = discount.after;
      this.#discount = undefined;
      this.#book(discount.endsMs, false);
    }
    if (endsMs < nextMs) {
      this.#isCounted = false;
      this.#isEnded = true;
      this.#scheduledMs = undefined;
      this.#book(endsMs, this.#isFailing(endsMs));
    }
    this.#atMs = nextMs;
    return nextMs < endMs;
  }

  #isFailing(atMs: number): boolean {
    return this.#failedMs !== undefined && atMs - this.#failedMs <= 60 * msPerDay;
  }

  /** A time some days later, now and then the first instant of a month. */
  #later(leastDays: number, mostDays: number): number {
    const ms = this.#atMs + this.#random.between(leastDays * msPerDay, mostDays * msPerDay);
    const date = new Date(ms);
    const firstMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
    return this.#random.chance(0.1) ? firstMs : ms;
  }

  /** Sends an event: now and then by another user, who has no account where one pays, or who pays the bill of
   * a user. */
  #emit(event: BillingEventName, properties: JsonObject = {}, isNamed = false): void {
    if (event === "payment_failed") this.#failedMs = this.#atMs;
    if (event === "payment_succeeded" || event === "subscription_started") this.#failedMs = undefined;
    this.#number += 1;
    const isMoved = isNamed || properties.isTransfer === true;
    const isOther = this.#number > 1 && !isMoved && this.#random.chance(0.1);
    const other = this.#random.between(1, 300);
    const withoutAccount = this.#hasAccount ? other - (other % 2) + 1 : this.#payer;
    const from = isOther ? (isPayment(event) ? other : withoutAccount) : this.#payer;
    this.#send({
      event,
      atMs: this.#atMs,
      from,
      isNamed,
      messageId: `${this.#id}-${this.#number}`,
      properties: { subscriptionId: this.#id, ...properties },
    });
  }

  #book(atMs: number, isInvoluntary: boolean): void {
    const [, perYear, count] = this.#interval;
    const mrr = this.#isCounted ? quotient(this.#amount * perYear, 12 * count) : 0;
    const money = (amount: number): Money => ({ amount, currency: this.#currency });
    this.#books.post(atMs, `payer ${this.#payer}`, money(this.#booked), money(mrr), isInvoluntary);
    this.#booked = mrr;
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
