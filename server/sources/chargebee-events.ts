/**
 * Maps Chargebee's events by their types. `content` has the resources that an event is about.
 * https://apidocs.chargebee.com/docs/api/events
 */
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import type { CustomerFacts } from "./billing/facts.ts";
import { amountOf, fieldOf, instantOf, numberOf, objectsOf, textOf } from "./billing/fields.ts";
import type { Ignored } from "./billing/message.ts";
import {
  type Before,
  endedFacts,
  oneEvent,
  type Subscription,
  scheduledEnd,
  subscriptionFacts,
} from "./billing/subscription.ts";
import { discountEndOf, planOf } from "./chargebee-plan.ts";

/** The content of an event, and its time. */
interface Happened {
  readonly content: JsonObject;
  readonly atMs: number;
}

type Reading = (happened: Happened, before: Before) => CustomerFacts | Ignored;

/** Every type that is read; all others are ignored. Those with backdating have a suffix, see `readingOf`. */
const events: Readonly<Record<string, Reading>> = {
  customer_created: () => ({ events: [] }),
  customer_changed: () => ({ events: [] }),
  customer_deleted: ({ content }) =>
    oneEvent("customer_deleted", { customerId: textOf(content, "customer", "id") }),

  subscription_created: (happened, before) =>
    statusOf(happened) === "future" ? "A subscription is future and not started." : started(happened, before),
  subscription_started: started,
  subscription_reactivated: started,
  subscription_activated: (happened, before) =>
    subscriptionFacts(subscriptionOf(happened), before, [
      fieldOf(happened.content, "subscription", "trial_end") === undefined
        ? "subscription_changed"
        : "trial_converted",
    ]),
  subscription_changed: changed,
  subscription_renewed: changed,
  subscription_trial_extended: changed,
  subscription_trial_end_reminder: (happened, before) =>
    subscriptionFacts(subscriptionOf(happened), before, [
      "trial_ending",
      { trialEndsAt: ofSubscription(happened, "trial_end") },
    ]),
  subscription_paused: (happened, before) =>
    subscriptionFacts(subscriptionOf(happened), before, ["subscription_paused"]),
  subscription_resumed: (happened, before) =>
    subscriptionFacts(subscriptionOf(happened), before, ["subscription_resumed"]),
  subscription_cancellation_scheduled: (happened, before) => {
    const subscription = subscriptionOf(happened);
    const endsAt = subscription.endsAt ?? subscription.currentPeriodEnd;
    return subscriptionFacts({ ...subscription, endsAt }, before, [
      "cancellation_scheduled",
      { endsAt, ...reasonsOf(happened) },
    ]);
  },
  subscription_scheduled_cancellation_removed: (happened, before) =>
    subscriptionFacts({ ...subscriptionOf(happened), endsAt: null }, before, ["cancellation_withdrawn"]),
  subscription_cancelled: canceled,
  subscription_canceled: canceled,
  subscription_deleted: canceled,

  payment_succeeded: (happened, before) =>
    amountOf(happened.content, "transaction", "amount") === 0
      ? "A transaction of amount 0 is no payment."
      : besidesState(
          happened,
          before,
          payment("payment_succeeded", happened, {
            currentPeriodEnd: ofSubscription(happened, "current_term_end"),
          }),
        ),
  payment_failed: (happened, before) =>
    besidesState(
      happened,
      before,
      payment("payment_failed", happened, {
        reason: textOf(happened.content, "transaction", "error_code"),
        attempt: objectsOf(happened.content, "invoice", "dunning_attempts").length || undefined,
        nextAttemptAt: instantOf(happened.content, "invoice", "next_retry_at"),
      }),
    ),
  invoice_updated: overdue,
  payment_refunded: (happened) => payment("payment_refunded", happened),
  // Chargebee records a chargeback as a reversal of the payment.
  transaction_created: (happened) =>
    textOf(happened.content, "transaction", "type") === "payment_reversal"
      ? payment("payment_disputed", happened)
      : "Only a transaction that reverses a payment is used.",
};

const backdated = /_with_backdating$/;

/** The reading of a type; undefined if it is not used. */
export function readingOf(type: string): Reading | undefined {
  const plain = type.replace(backdated, "");
  return Object.hasOwn(events, plain) ? events[plain] : undefined;
}

/** A subscription that a team takes over from another tool may have ended, be paused, or be about to end. */
function started(happened: Happened, before: Before): CustomerFacts {
  const subscription = subscriptionOf(happened);
  const { status, endsAt } = subscription;
  if (status === "cancelled") return canceled(happened, before);
  const trialEndsAt = status === "in_trial" ? ofSubscription(happened, "trial_end") : undefined;
  return subscriptionFacts(
    subscription,
    before,
    ["subscription_started", { trialEndsAt }],
    ...(status === "paused" ? [["subscription_paused"] as const] : []),
    ...scheduledEnd(endsAt, reasonsOf(happened)),
  );
}

/** Also at a renewal, which moves the period's end. */
function changed(happened: Happened, before: Before): CustomerFacts | Ignored {
  const status = statusOf(happened);
  if (status === "future") return "A subscription is future and not started.";
  if (status === "cancelled") return "A subscription that has ended does not change.";
  const trialEndsAt = status === "in_trial" ? ofSubscription(happened, "trial_end") : undefined;
  const subscription = subscriptionOf(happened);
  const { endsAt } = subscription;
  return subscriptionFacts(subscription, before, ["subscription_changed", { trialEndsAt, endsAt }]);
}

/** A payment with the state of its subscription, if the event says whether the subscription has unpaid
 * invoices: no other event says it after a payment, and this may be the first event of the subscription. */
function besidesState(happened: Happened, before: Before, paid: CustomerFacts): CustomerFacts {
  const { id, told } = subscriptionOf(happened);
  if (id === undefined || told === undefined) return paid;
  const state = changed(happened, before);
  return typeof state === "string" ? paid : { ...state, events: [...state.events, ...paid.events] };
}

/** An invoice that was not paid when it was due makes its subscription past due, without any attempt to
 * charge it. */
function overdue({ content }: Happened): CustomerFacts | Ignored {
  const status = textOf(content, "invoice", "status");
  const subscriptionId = textOf(content, "invoice", "subscription_id");
  if (status !== "payment_due" && status !== "not_paid")
    return `An invoice that is ${status} is not overdue.`;
  if (subscriptionId === undefined) return "An invoice of no subscription.";
  return oneEvent("subscription_changed", { subscriptionId, status: "past_due" });
}

function canceled(happened: Happened, before: Before): CustomerFacts {
  return endedFacts(subscriptionOf(happened), before, reasonsOf(happened));
}

function subscriptionOf({ content, atMs }: Happened): Subscription {
  const found = fieldOf(content, "subscription");
  const subscription = isJsonObject(found) ? found : {};
  const isEnding = textOf(subscription, "status") === "non_renewing";
  return {
    id: textOf(subscription, "id"),
    plan: planOf(subscription, atMs),
    discount: discountEndOf(subscription, atMs),
    status: textOf(subscription, "status"),
    told: toldOf(subscription),
    version: numberOf(subscription, "resource_version"),
    currentPeriodEnd: instantOf(subscription, "current_term_end"),
    // `cancelled_at` is also the time for which an end is scheduled.
    endsAt: isEnding ? instantOf(subscription, "cancelled_at") : undefined,
  };
}

/** Chargebee's status says nothing of unpaid invoices: it counts them beside it. */
function toldOf(subscription: JsonObject): Subscription["told"] {
  const due = numberOf(subscription, "due_invoices_count");
  const status = textOf(subscription, "status");
  if (status === "in_trial") return "trialing";
  if (status === "paused") return "paused";
  if ((status !== "active" && status !== "non_renewing") || due === undefined) return undefined;
  return due > 0 ? "past_due" : "active";
}

function statusOf(happened: Happened): string | undefined {
  return ofSubscriptionText(happened, "status");
}

function ofSubscriptionText({ content }: Happened, key: string): string | undefined {
  return textOf(content, "subscription", key);
}

function ofSubscription({ content }: Happened, key: string): string | undefined {
  return instantOf(content, "subscription", key);
}

/** Ends of a subscription that its customer did not choose. */
const unpaid: ReadonlySet<string> = new Set(["not_paid", "no_card"]);

/** `payment_failed` is what Stripe says of such an end. */
function reasonsOf({ content }: Happened): JsonObject {
  const reason = textOf(content, "subscription", "cancel_reason");
  const code = textOf(content, "subscription", "cancel_reason_code");
  const isUnpaid = reason !== undefined && unpaid.has(reason);
  return { reason: isUnpaid ? "payment_failed" : (reason ?? code), feedback: code };
}

function payment(event: string, { content }: Happened, more: JsonObject = {}): CustomerFacts {
  const [linked] = objectsOf(content, "transaction", "linked_invoices");
  return oneEvent(event, {
    amount: amountOf(content, "transaction", "amount"),
    currency: textOf(content, "transaction", "currency_code"),
    subscriptionId:
      textOf(content, "transaction", "subscription_id") ??
      textOf(content, "subscription", "id") ??
      textOf(content, "invoice", "subscription_id"),
    invoiceId:
      textOf(content, "invoice", "id") ??
      textOf(content, "credit_note", "reference_invoice_id") ??
      textOf(linked, "invoice_id"),
    ...more,
  });
}
