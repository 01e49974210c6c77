/** A year of two subscriptions as Stripe's webhooks tell it, in the shape of two versions of its API. */
import type Stripe from "stripe";
import {
  charge,
  customer,
  dispute,
  invoice,
  price,
  stripeEvent,
  subscription,
  subscriptionItem,
} from "./stripe-objects.ts";

/** 2024-06-20: the period and the discount are on the subscription. The newest: the item has the period, and
 * discounts are ids. */
export type StripeForm = "2024-06-20" | "newest";

type Type = Stripe.Event["type"];

/** Half past nine on a day of 2025, `03-15` say, in seconds. */
const on = (day: string) => Date.parse(`2025-${day}T09:30:00Z`) / 1_000;

/** A plan by the month. */
const plan = (name: string, amount: number) =>
  price({ id: `price_${name}`, nickname: name, unit_amount: amount });
const team = plan("Team", 4_900);
const gold = plan("Gold", 9_900);
const seat = plan("Seat", 2_000);

/** 30 % off for two months. */
const discount = {
  id: "di_1",
  object: "discount",
  customer: "cus_ada",
  start: on("03-24"),
  end: on("05-24"),
  coupon: { id: "SPRING", object: "coupon", duration: "repeating", duration_in_months: 2, percent_off: 30 },
};

class Customer {
  readonly #form: StripeForm;
  readonly #name: string;
  readonly #events: object[] = [];
  /** The subscription as Stripe has it. */
  #now: Record<string, unknown> = {};

  constructor(form: StripeForm, name: string) {
    [this.#form, this.#name] = [form, name];
  }

  /** The events in the order of time. */
  get events(): readonly object[] {
    return this.#events;
  }

  tell(type: Type, day: string, object: object, before?: object): void {
    const id = `evt_${this.#name}_${this.#events.length}`;
    this.#events.push(stripeEvent(type, object, { id, created: on(day), ...(before && { before }) }));
  }

  signUp(day: string): void {
    const [id, email] = [`cus_${this.#name}`, `${this.#name}@example.com`];
    this.tell("customer.created", day, customer({ id, email, created: on(day) }));
  }

  /** The price of the subscription, and its paid period. */
  terms(itsPrice: object, quantity: number, from: string, to: string, hasDiscount = false): object {
    const period = { current_period_start: on(from), current_period_end: on(to) };
    const { data: items } = subscription({}, [
      { ...subscriptionItem({ quantity, ...period }, itsPrice), plan: null },
    ]).items;
    const isOld = this.#form === "2024-06-20";
    return {
      items: { object: "list", data: items },
      ...(isOld && { ...period, discount: hasDiscount ? discount : null }),
      discounts: hasDiscount ? [discount.id] : [],
    };
  }

  start(day: string, more: object): void {
    const account = `${this.#name} inc`;
    this.#now = {
      ...subscription({ id: `sub_${this.#name}`, customer: `cus_${this.#name}`, created: on(day) }),
      metadata: { accountId: account },
      start_date: on(day),
      ...more,
    };
    this.tell("customer.subscription.created", day, this.#now);
  }

  /** An update, with the values that the changed fields had before. */
  update(day: string, changed: object, type: Type = "customer.subscription.updated"): void {
    const before = Object.fromEntries(
      Object.keys(changed).map((field) => [field, this.#now[field] ?? null] as const),
    );
    this.#now = { ...this.#now, ...changed };
    this.tell(type, day, this.#now, type === "customer.subscription.updated" ? before : undefined);
  }

  /** An invoice with its other events, which Stripe sends too if they are switched on. */
  bill(day: string, id: string, amount: number, more: object = {}): void {
    const ofVersion =
      this.#form === "newest"
        ? { parent: { type: "subscription_details", subscription_details: { subscription: this.#now.id } } }
        : { parent: undefined, subscription: this.#now.id };
    const bill = {
      ...invoice({ id, amount_due: amount, amount_paid: amount, customer: `cus_${this.#name}` }),
      customer_email: `${this.#name}@example.com`,
      created: on(day),
      ...ofVersion,
      ...more,
    };
    const types: readonly Type[] =
      "attempt_count" in more
        ? ["invoice.payment_failed"]
        : ["invoice.finalized", "invoice.payment_succeeded", "invoice.paid"];
    for (const type of types) this.tell(type, day, bill);
  }

  /** Money that goes back, or is asked back. */
  giveBack(day: string): void {
    const paid = {
      ...charge({ id: "ch_1", customer: `cus_${this.#name}`, amount_refunded: 1_000 }),
      billing_details: { email: `${this.#name}@example.com` },
    };
    this.tell("charge.refunded", day, paid, { amount_refunded: 0 });
    const evidence = { customer_email_address: `${this.#name}@example.com` } as Stripe.Dispute.Evidence;
    this.tell("charge.dispute.created", day, dispute({ charge: "ch_1", evidence }));
  }
}

/** A trial, its start, an upgrade, a discount, a downgrade, a pause, a failed payment, and three scheduled
 * ends. */
function ada(form: StripeForm): readonly object[] {
  const it = new Customer(form, "ada");
  const period = (from: string, to: string, itsPrice: object = team) => it.terms(itsPrice, 1, from, to);
  const canceling = (reason: string | null) => ({
    comment: null,
    feedback: reason && "too_expensive",
    reason,
  });
  it.signUp("01-10");
  it.start("01-10", { status: "trialing", trial_end: on("01-24"), ...period("01-10", "01-24") });
  it.bill("01-10", "in_trial", 0);
  it.update("01-21", {}, "customer.subscription.trial_will_end");
  it.update("01-24", { status: "active", ...period("01-24", "02-24") });
  it.bill("01-24", "in_01", 4_900);
  it.update("02-10", period("01-24", "02-24", gold));
  it.update("02-24", period("02-24", "03-24", gold));
  it.bill("02-24", "in_02", 12_400);
  it.update("03-24", it.terms(gold, 1, "03-24", "04-24", true));
  it.bill("03-24", "in_03", 6_930);
  it.update("04-24", it.terms(gold, 1, "04-24", "05-24", true));
  it.bill("04-24", "in_04", 6_930);
  it.update("05-25", it.terms(gold, 1, "05-24", "06-24"));
  it.bill("05-25", "in_05", 9_900);
  it.update("06-10", period("05-24", "06-24"));
  it.update("06-24", period("06-24", "07-24"));
  it.bill("06-24", "in_06", 1_900);
  it.update("07-05", { pause_collection: { behavior: "void", resumes_at: on("08-20") } });
  it.update("07-24", period("07-24", "08-24"));
  it.update("08-20", { pause_collection: null });
  it.update("08-24", period("08-24", "09-24"));
  it.bill("08-24", "in_08", 4_900);
  it.update("09-24", period("09-24", "10-24"));
  it.bill("09-25", "in_09", 4_900, { amount_paid: 0, status: "open", attempt_count: 1 });
  it.update("09-25", { status: "past_due" });
  it.bill("09-28", "in_09", 4_900, { amount_paid: 0, status: "open", attempt_count: 2 });
  it.bill("10-02", "in_09", 4_900);
  it.update("10-02", { status: "active" });
  it.update("10-24", period("10-24", "11-24"));
  it.bill("10-24", "in_10", 4_900);
  const end = (to: string, day: string, reason = "cancellation_requested") => ({
    ...(form === "newest" ? { cancel_at: on(to) } : { cancel_at: on(to), cancel_at_period_end: true }),
    canceled_at: on(day),
    cancellation_details: canceling(reason),
  });
  const goOn = { cancel_at: null, cancel_at_period_end: false, canceled_at: null };
  it.update("10-28", end("11-24", "10-28"));
  it.update("11-03", { ...goOn, cancellation_details: canceling(null) });
  it.update("11-24", period("11-24", "12-24"));
  it.bill("11-24", "in_11", 4_900);
  it.giveBack("11-26");
  it.update("11-28", end("12-24", "11-28"));
  it.update("12-24", { status: "canceled", ended_at: on("12-24") }, "customer.subscription.deleted");
  return it.events;
}

/** Seats that are added, and an end by payments that failed. */
function bob(form: StripeForm): readonly object[] {
  const it = new Customer(form, "bob");
  it.signUp("03-15");
  it.start("03-15", { status: "incomplete", ...it.terms(seat, 2, "03-15", "04-15") });
  it.update("03-15", { status: "active" });
  it.bill("03-15", "in_b03", 4_000);
  it.update("04-15", it.terms(seat, 2, "04-15", "05-15"));
  it.bill("04-15", "in_b04", 4_000);
  it.update("05-05", it.terms(seat, 5, "04-15", "05-15"));
  it.update("05-15", it.terms(seat, 5, "05-15", "06-15"));
  it.bill("05-15", "in_b05", 12_000);
  it.update("06-15", it.terms(seat, 5, "06-15", "07-15"));
  for (const [attempt, day] of ["06-15", "06-18", "06-23"].entries())
    it.bill(day, "in_b06", 10_000, { amount_paid: 0, status: "open", attempt_count: attempt + 1 });
  it.update("06-16", { status: "past_due" });
  const details = { comment: null, feedback: null, reason: "payment_failed" };
  const ended = { status: "canceled", canceled_at: on("07-02"), ended_at: on("07-02") };
  it.update("07-02", { ...ended, cancellation_details: details }, "customer.subscription.deleted");
  return it.events;
}

/** All events of the year in the order of time, those of one customer after those of the other. */
export function stripeYear(form: StripeForm): readonly object[] {
  return [...ada(form), ...bob(form)];
}
