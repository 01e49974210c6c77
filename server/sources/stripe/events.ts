/** Maps Stripe's events by their types. Amounts are in minor units of ISO 4217: cents, or whole yen. */
import { isCardMonth } from "../../../contract/billing/events.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../../contract/json.ts";
import type { BillingEvent, CustomerFacts } from "../billing/facts.ts";
import { defined, fieldOf, instantOf, numberOf, textOf } from "../billing/fields.ts";
import { endedTraits, type Plan, planTraits } from "../billing/plan.ts";
import { recurringPartOf } from "./invoice-price.ts";
import { isoAmount } from "./minor-units.ts";
import { idOf, isOtherPlan, planBefore, planOf, planOfInvoice } from "./plan.ts";
import { discountsIn, isSamePrice, periodEndOf, priceOf } from "./price.ts";

/** The object that an event is about, and what an update had before. */
export interface Happened {
  readonly object: JsonObject;
  readonly before: JsonObject;
  /** When it happened. */
  readonly atSeconds: number;
}

/** Why an event is ignored. */
type Ignored = string;

type Reading = (happened: Happened) => CustomerFacts | Ignored;

/** Every type that is read; all others are ignored. */
export const stripeEvents: Readonly<Record<string, Reading>> = {
  "customer.created": () => ({ events: [] }),
  "customer.updated": () => ({ events: [] }),
  "customer.deleted": ({ object }) => one("customer_deleted", { customerId: textOf(object, "id") }),

  "customer.subscription.created": ({ object, atSeconds }) =>
    isNotStarted(textOf(object, "status"))
      ? `A subscription is ${textOf(object, "status")} and not started.`
      : begun(object, atSeconds),
  "customer.subscription.updated": updated,
  "customer.subscription.deleted": ({ object, atSeconds }) => ended(object, atSeconds),
  "customer.subscription.paused": ({ object, atSeconds }) => paused(object, atSeconds),
  "customer.subscription.resumed": ({ object, atSeconds }) =>
    subscriptionFacts("subscription_resumed", object, atSeconds),
  "customer.subscription.trial_will_end": ({ object, atSeconds }) =>
    subscriptionFacts("trial_ending", object, atSeconds, { trialEndsAt: instantOf(object, "trial_end") }),

  "invoice.paid": paid,
  "invoice.payment_succeeded": paid,
  "invoice.payment_failed": ({ object }) => failed(object),
  "invoice.payment_action_required": ({ object }) =>
    invoiceFacts("payment_action_required", object, "amount_due"),
  "invoice.overdue": ({ object }) => invoiceFacts("payment_overdue", object, "amount_due"),
  "invoice.marked_uncollectible": ({ object }) => invoiceFacts("payment_uncollectible", object, "amount_due"),

  "payment_method.attached": ({ object }) => cardUpdated(objectOf(object.card)),
  "payment_method.updated": cardChanged,
  "payment_method.automatically_updated": cardChanged,
  "payment_method.card_automatically_updated": cardChanged,
  "payment_method.detached": ({ object }) => cardFacts("card_removed", objectOf(object.card)),
  "customer.source.created": ({ object }) => cardUpdated(cardOf(object)),
  "customer.source.updated": cardChanged,
  "customer.source.expiring": ({ object }) => cardUpdated(cardOf(object)),
  "customer.source.deleted": ({ object }) => cardFacts("card_removed", cardOf(object)),

  "checkout.session.completed": ({ object }) =>
    one("checkout_completed", {
      ...money(object, "amount_total"),
      mode: textOf(object, "mode"),
      paymentStatus: textOf(object, "payment_status"),
      subscriptionId: idOf(object, "subscription"),
    }),
  "charge.refunded": ({ object, before }) => {
    const total = numberOf(object, "amount_refunded");
    const refunded = total === undefined ? undefined : total - (numberOf(before, "amount_refunded") ?? 0);
    const amount = isoAmount(refunded, textOf(object, "currency"));
    const isWhole = fieldOf(object, "refunded") === true;
    return one("payment_refunded", { ...money(object), amount, isWhole, chargeId: textOf(object, "id") });
  },
  "charge.dispute.created": ({ object }) =>
    one("payment_disputed", {
      ...money(object, "amount"),
      reason: textOf(object, "reason"),
      chargeId: idOf(object, "charge"),
    }),
};

/** Of an older source the card is the object itself, or a part of it. */
function cardOf(object: JsonObject): JsonObject {
  return textOf(object, "object") === "card" ? object : objectOf(object.card);
}

/** An update of a card that has another end than before. Other changes, such as of its address, may be of a
 * card that is not paid with any more. */
function cardChanged({ object, before }: Happened): CustomerFacts | Ignored {
  const earlier = { ...before, ...objectOf(before.card) };
  const isOtherEnd = ["exp_month", "exp_year"].some((field) => Object.hasOwn(earlier, field));
  return isOtherEnd ? cardUpdated(cardOf(object)) : "The end of the card stays.";
}

function cardUpdated(card: JsonObject): CustomerFacts | Ignored {
  return cardFacts("card_updated", card);
}

/** Only the month in which a card ends is kept. */
function cardFacts(event: string, card: JsonObject): CustomerFacts | Ignored {
  const [month, year] = [numberOf(card, "exp_month"), numberOf(card, "exp_year")];
  const cardExpires = `${year}-${String(month).padStart(2, "0")}`;
  return isCardMonth(cardExpires) ? one(event, { cardExpires }) : "A way to pay without an end.";
}

function one(event: string, properties: JsonObject, id?: string): CustomerFacts {
  return { events: [{ event, properties: defined(properties), id }] };
}

/**
 * The id of a fact is made of the object, so that its row in an export has it, too. It is remembered for good
 * under this day: an export and a webhook may differ in a fact's time.
 */
const dayOfFacts = 0;

/** The facts of a subscription that has ended. */
export function ended(subscription: JsonObject, atSeconds: number): CustomerFacts {
  return {
    events: [factOf("subscription_canceled", subscription, atSeconds, reasons(subscription))],
    traits: endedTraits(textOf(subscription, "status")),
  };
}

/** The facts of a trial that became a paid subscription. */
export function converted(subscription: JsonObject, atSeconds: number): CustomerFacts {
  return { events: [factOf("trial_converted", subscription, atSeconds)] };
}

/** The facts of a subscription that is paused. */
export function paused(subscription: JsonObject, atSeconds: number): CustomerFacts {
  return subscriptionFacts("subscription_paused", subscription, atSeconds);
}

/** The end of a subscription that Stripe goes on with as `unpaid`: no invoice is collected any more. It may
 * be reopened and end again, so it is no fact that happens once. */
export function givenUp(subscription: JsonObject, atSeconds: number): BillingEvent {
  return subscriptionEvent("subscription_canceled", subscription, atSeconds, { reason: "payment_failed" });
}

/** A fact that may happen again, of an export: its time is a part of the id, so that a second import does not
 * repeat it. */
export function factAt(fact: BillingEvent, subscription: JsonObject, atSeconds: number): BillingEvent {
  const id = textOf(subscription, "id");
  if (id === undefined) return fact;
  return { ...fact, id: `${id}:${fact.event}:${atSeconds}`, lastingDay: dayOfFacts };
}

interface Scheduled {
  /** When it takes effect, if the subscription does not say so itself. */
  readonly endsAt?: string | undefined;
  /** Whether another end was scheduled before. `canceled_at` may stay then. */
  readonly isMoved?: boolean;
}

/** The facts of a scheduled cancellation. */
export function scheduled(
  subscription: JsonObject,
  atSeconds: number,
  { endsAt, isMoved = false }: Scheduled = {},
): CustomerFacts {
  const end = endOf(subscription);
  const more = { endsAt: endsAt ?? end, ...reasons(subscription) };
  const fact = factOf("cancellation_scheduled", subscription, atSeconds, more);
  if (fact.id === undefined || end === undefined) return { events: [fact] };
  // Earlier versions had ids without the end.
  const id = `${fact.id}:${Date.parse(end) / 1_000}`;
  return { events: [{ ...fact, id, formerId: isMoved ? undefined : fact.id }] };
}

/** A subscription is `incomplete` until its first payment, and never starts without one. */
export function isNotStarted(status: string | undefined): boolean {
  return status === "incomplete" || status === "incomplete_expired";
}

/** The state of a subscription that goes on, of an export. */
export function stateOf(subscription: JsonObject, atSeconds: number): CustomerFacts {
  return {
    events: [
      factAt(subscriptionEvent("subscription_changed", subscription, atSeconds), subscription, atSeconds),
    ],
  };
}

/** Events of an export about an earlier time, without what the object says of today alone: its status and its
 * scheduled end. */
export function withoutToday(events: readonly BillingEvent[]): readonly BillingEvent[] {
  return events.map((event) => {
    const { status: _, endsAt, ...past } = event.properties;
    const properties = event.event === "cancellation_scheduled" ? defined({ ...past, endsAt }) : past;
    return { ...event, properties };
  });
}

/** The facts of a subscription that begins. */
export function started(subscription: JsonObject, atSeconds: number): CustomerFacts {
  const more = { trialEndsAt: instantOf(subscription, "trial_end") };
  return {
    events: [factOf("subscription_started", subscription, atSeconds, more)],
    traits: traitsOf(subscription),
  };
}

/** The facts of a subscription that begins, perhaps with its end. */
function begun(subscription: JsonObject, atSeconds: number): CustomerFacts {
  const facts = started(subscription, atSeconds);
  if (!isCancellationScheduled(subscription)) return facts;
  return { ...facts, events: [...facts.events, ...scheduled(subscription, atSeconds).events] };
}

function subscriptionFacts(
  event: string,
  subscription: JsonObject,
  atSeconds: number,
  more: JsonObject = {},
): CustomerFacts {
  return {
    events: [subscriptionEvent(event, subscription, atSeconds, more)],
    traits: traitsOf(subscription),
  };
}

function subscriptionEvent(
  event: string,
  subscription: JsonObject,
  atSeconds: number,
  more: JsonObject = {},
): BillingEvent {
  const { name: plan, currency, interval, quantity } = planOf(subscription);
  const price = priceOf(subscription, atSeconds);
  const status = event === "subscription_canceled" ? undefined : toldStatusOf(subscription);
  return {
    event,
    properties: defined({
      plan,
      amount: price.amount,
      currency,
      interval: price.interval ?? interval,
      quantity,
      subscriptionId: textOf(subscription, "id"),
      status,
      discountEndsAt: instantOf(price.discountEndsAt),
      amountAfterDiscount: price.amountAfterDiscount,
      ...(price.isInvoiced && { isPricedByInvoice: true }),
      currentPeriodEnd: periodEndOf(subscription),
      endsAt: status !== undefined && isCancellationScheduled(subscription) ? endOf(subscription) : undefined,
      trialEndsAt: status === "trialing" ? instantOf(subscription, "trial_end") : undefined,
      ...more,
    }),
  };
}

/** Statuses of Stripe that go on. `incomplete` has not begun, and `unpaid` and `canceled` are ends. */
const toldStatuses: ReadonlySet<string | undefined> = new Set(["trialing", "active", "past_due", "paused"]);

/** The status in the terms of billing events. While Stripe collects nothing, a subscription is paused,
 * whatever its status. */
function toldStatusOf(subscription: JsonObject): string | undefined {
  const status = textOf(subscription, "status");
  if (!toldStatuses.has(status)) return undefined;
  return isJsonObject(subscription.pause_collection) ? "paused" : status;
}

/** As `subscriptionEvent`, of a fact that happens once. */
function factOf(...[event, subscription, ...others]: Parameters<typeof subscriptionEvent>): BillingEvent {
  return { ...subscriptionEvent(event, subscription, ...others), ...factId(event, subscription) };
}

/** Facts that happen once, with the field that tells one time from another. */
const factsOfSubscriptions: Readonly<Record<string, string | null>> = {
  subscription_started: null,
  subscription_canceled: null,
  trial_converted: "trial_end",
  cancellation_scheduled: "canceled_at",
};

/** The id of a fact about a subscription. None if the object cannot tell it from another time. */
function factId(event: string, subscription: JsonObject): Pick<BillingEvent, "id" | "lastingDay"> {
  const field = Object.hasOwn(factsOfSubscriptions, event) ? factsOfSubscriptions[event] : undefined;
  const id = textOf(subscription, "id");
  if (field === undefined || id === undefined) return {};
  if (field === null) return { id: `${id}:${event}`, lastingDay: dayOfFacts };
  const time = numberOf(subscription, field);
  return time === undefined ? {} : { id: `${id}:${event}:${time}`, lastingDay: dayOfFacts };
}

/** One update may mean several events. The object is complete, so one event at least has it: it may be the
 * first that is heard of the subscription, and only the object says a new status or period. */
function updated({ object, before, atSeconds }: Happened): CustomerFacts | Ignored {
  const status = textOf(object, "status");
  if (isNotStarted(status)) return `A subscription is ${status} and not started.`;
  const statusBefore = textOf(before, "status");
  if (isNotStarted(statusBefore)) return begun(object, atSeconds);
  const events: BillingEvent[] = [];
  const add = (event: string, more?: JsonObject) =>
    events.push(subscriptionEvent(event, object, atSeconds, more));
  const planWas = planBefore(object, before);
  if (planWas !== undefined && isOtherPlan(planWas, planOf(object))) {
    add("subscription_changed", was(planWas));
  } else if (
    !isSamePrice(priceOf({ ...object, ...discountsIn(before) }, atSeconds), priceOf(object, atSeconds))
  ) {
    add("subscription_changed", was(planOf(object)));
  }
  if (statusBefore !== undefined) events.push(...eventsOfStatus(statusBefore, object, atSeconds));
  const isEnding = isCancellationScheduled(object);
  const wasEnding = isCancellationScheduled({ ...object, ...before });
  const isOtherEnd = Object.hasOwn(before, "cancel_at") && endOf(object) !== endOf({ ...object, ...before });
  if (isEnding && (!wasEnding || isOtherEnd))
    events.push(...scheduled(object, atSeconds, { isMoved: wasEnding }).events);
  // An ended subscription is no longer scheduled to end. Its end has its own event.
  if (!isEnding && wasEnding && status !== "canceled") add("cancellation_withdrawn");
  const isPaused = isJsonObject(object.pause_collection);
  if (Object.hasOwn(before, "pause_collection") && isPaused !== isJsonObject(before.pause_collection)) {
    add(isPaused ? "subscription_paused" : "subscription_resumed");
  }
  const isTold = events.some(({ properties }) => properties.status !== undefined);
  if (!isTold && status !== "canceled" && status !== "unpaid") add("subscription_changed");
  return { events, traits: status === "canceled" ? statusOf(object) : traitsOf(object) };
}

/** The events of a new status, which no other type of Stripe tells. `unpaid` is a setting of Stripe for
 * subscriptions whose payments have all failed. */
function eventsOfStatus(before: string, object: JsonObject, atSeconds: number): readonly BillingEvent[] {
  const status = textOf(object, "status");
  if (status === "unpaid") return [givenUp(object, atSeconds)];
  // A customer may get a trial later, too, and pays nothing until it ends.
  if (status === "trialing") {
    const trialEndsAt = instantOf(object, "trial_end");
    return [subscriptionEvent("trial_started", object, atSeconds, { trialEndsAt })];
  }
  if (status !== "active") return [];
  if (before === "trialing") return converted(object, atSeconds).events;
  return before === "unpaid" ? [subscriptionEvent("subscription_started", object, atSeconds)] : [];
}

/** Newer versions of the API send only `cancel_at`, and `cancel_at_period_end` stays false. */
export function isCancellationScheduled(subscription: JsonObject): boolean {
  return subscription.cancel_at_period_end === true || numberOf(subscription, "cancel_at") !== undefined;
}

function endOf(subscription: JsonObject): string | undefined {
  return instantOf(subscription, "cancel_at") ?? periodEndOf(subscription);
}

function was({ name, amount, currency, interval, quantity }: Plan): JsonObject {
  return {
    fromPlan: name,
    fromAmount: amount,
    fromCurrency: currency,
    fromInterval: interval,
    fromQuantity: quantity,
  };
}

/** Reasons of a cancellation, by Stripe and the customer. */
function reasons(subscription: JsonObject): JsonObject {
  const of = (key: string) => textOf(subscription, "cancellation_details", key);
  return { reason: of("reason"), feedback: of("feedback"), comment: of("comment") };
}

function traitsOf(subscription: JsonObject): JsonObject {
  return planTraits(planOf(subscription), textOf(subscription, "status"));
}

function statusOf(subscription: JsonObject): JsonObject {
  return defined({ subscriptionStatus: textOf(subscription, "status") });
}

/** A payment has both `invoice.paid` and `invoice.payment_succeeded`. A payment outside of Stripe has only
 * the first. */
export function paid({ object }: Pick<Happened, "object">): CustomerFacts | Ignored {
  const amount = numberOf(object, "amount_paid");
  const outside = numberOf(object, "amount_paid_off_stripe");
  const isOutside = fieldOf(object, "paid_out_of_band") === true || outside !== undefined;
  if (amount === 0 && !isOutside) return "An invoice of amount 0 is no payment.";
  const { events } = invoiceFacts("payment_succeeded", object, "amount_paid", recurringPartOf(object));
  return { events: events.map((event) => withId(event, object, ":payment_succeeded")) };
}

/** Each attempt to collect an invoice fails once. */
export function failed(invoice: JsonObject): CustomerFacts {
  const attempt = numberOf(invoice, "attempt_count");
  const { events } = invoiceFacts("payment_failed", invoice, "amount_due", {
    attempt,
    nextAttemptAt: instantOf(invoice, "next_payment_attempt"),
  });
  if (attempt === undefined) return { events };
  return { events: events.map((event) => withId(event, invoice, `:payment_failed:${attempt}`)) };
}

function withId(event: BillingEvent, invoice: JsonObject, fact: string): BillingEvent {
  const id = textOf(invoice, "id");
  return id === undefined ? event : { ...event, id: `${id}${fact}`, lastingDay: dayOfFacts };
}

function invoiceFacts(event: string, invoice: JsonObject, amount: string, more: JsonObject = {}) {
  return one(event, {
    ...money(invoice, amount),
    plan: planOfInvoice(invoice),
    billingReason: textOf(invoice, "billing_reason"),
    subscriptionId:
      idOf(invoice, "subscription") ?? idOf(invoice, "parent", "subscription_details", "subscription"),
    invoiceId: textOf(invoice, "id"),
    ...more,
  });
}

function money(object: JsonObject, amount?: string): JsonObject {
  const currency = textOf(object, "currency");
  return {
    ...(amount !== undefined && { amount: isoAmount(numberOf(object, amount), currency) }),
    currency,
  };
}
