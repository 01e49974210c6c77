/**
 * Maps Polar's webhooks by their types. They hold a whole object and nothing of its state before.
 * https://docs.polar.sh/integrate/webhooks/events
 */
import type { JsonObject } from "../../../contract/json.ts";
import type { CustomerFacts } from "../billing/facts.ts";
import { amountOf, instantOf, microsecondsOf, textOf } from "../billing/fields.ts";
import type { Ignored } from "../billing/message.ts";
import {
  type Before,
  endedFacts,
  goesOnFacts,
  oneEvent,
  type Subscription,
  scheduledEnd,
  subscriptionFacts,
} from "../billing/subscription.ts";
import { discountEndOf, planOf } from "./plan.ts";

/** The object of a webhook, and the time of the webhook. */
interface Happened {
  readonly data: JsonObject;
  readonly atMs: number;
}

type Reading = (happened: Happened, before: Before) => CustomerFacts | Ignored;

/** Every type that is read; all others are ignored. */
export const polarEvents: Readonly<Record<string, Reading>> = {
  "customer.created": () => ({ events: [] }),
  "customer.updated": () => ({ events: [] }),

  "subscription.created": (happened, before) => {
    const subscription = subscriptionOf(happened);
    return (
      whyNotBegun(happened) ??
      subscriptionFacts(
        subscription,
        before,
        ["subscription_started", { trialEndsAt: trialEndOf(happened) }],
        ...scheduledEnd(subscription.endsAt),
      )
    );
  },
  "subscription.active": changed,
  "subscription.updated": changed,
  "subscription.past_due": changed,
  "subscription.canceled": (happened, before) => {
    const subscription = subscriptionOf(happened);
    if (hasEnded(happened)) return endedFacts(subscription, before, reasonsOf(happened));
    const endsAt = subscription.endsAt ?? subscription.currentPeriodEnd;
    if (endsAt === undefined) return "A cancellation without an end.";
    return subscriptionFacts({ ...subscription, endsAt }, before, [
      "cancellation_scheduled",
      { endsAt, ...reasonsOf(happened) },
    ]);
  },
  "subscription.uncanceled": (happened, before) =>
    subscriptionFacts({ ...subscriptionOf(happened), endsAt: null }, before, ["cancellation_withdrawn"]),
  "subscription.revoked": (happened, before) =>
    endedFacts(subscriptionOf(happened), before, reasonsOf(happened)),

  "order.paid": ({ data }) => {
    const [id, amount] = [textOf(data, "id"), amountOf(data, "total_amount")];
    if (amount === 0) return "An order of amount 0 is no payment.";
    const paid = {
      amount,
      currency: textOf(data, "currency"),
      plan: textOf(data, "product", "name"),
      origin: textOf(data, "billing_reason"),
      subscriptionId: textOf(data, "subscription_id"),
      invoiceId: id,
    };
    return oneEvent("payment_succeeded", paid, `${id}:payment_succeeded`);
  },
  "refund.created": refunded,
  "refund.updated": refunded,
};

/** Polar sends subscription.updated beside all others of a subscription, and at renewals. It does not tell
 * what changed. */
function changed(happened: Happened, before: Before): CustomerFacts | Ignored {
  const why = whyNotBegun(happened);
  if (why !== undefined) return why;
  if (hasEnded(happened)) return "subscription.revoked says that it has ended.";
  const subscription = subscriptionOf(happened);
  const { status, endsAt } = subscription;
  // No payment is tried any more. One that is paid after all begins again.
  if (status === "unpaid") return endedFacts(subscription, before, { reason: "payment_failed" });
  if (status === "active" && before.status === "unpaid")
    return goesOnFacts(subscription, before, "subscription_started");
  if (typeof endsAt === "string") {
    const reasons = reasonsOf(happened);
    return subscriptionFacts(subscription, before, ["cancellation_scheduled", { endsAt, ...reasons }]);
  }
  return goesOnFacts(subscription, before, "subscription_changed", { trialEndsAt: trialEndOf(happened) });
}

function whyNotBegun({ data }: Happened): Ignored | undefined {
  const status = textOf(data, "status");
  return status?.startsWith("incomplete") ? `A subscription that is ${status} has not begun.` : undefined;
}

function hasEnded({ data }: Happened): boolean {
  return textOf(data, "status") === "canceled" || textOf(data, "ended_at") !== undefined;
}

function reasonsOf({ data }: Happened): JsonObject {
  return {
    reason: textOf(data, "customer_cancellation_reason"),
    feedback: textOf(data, "customer_cancellation_comment"),
  };
}

/** Statuses in the terms of billing events. */
const told: Readonly<Record<string, Subscription["told"]>> = {
  trialing: "trialing",
  active: "active",
  past_due: "past_due",
};

function subscriptionOf({ data, atMs }: Happened): Subscription {
  const status = textOf(data, "status");
  const currentPeriodEnd = instantOf(data, "current_period_end");
  const isEnding = data.cancel_at_period_end === true;
  return {
    id: textOf(data, "id"),
    plan: planOf(data, atMs),
    status,
    told: status !== undefined && Object.hasOwn(told, status) ? told[status] : undefined,
    version: microsecondsOf(data, "modified_at"),
    currentPeriodEnd,
    endsAt: isEnding ? (instantOf(data, "ends_at") ?? currentPeriodEnd) : null,
    discount: discountEndOf(data, atMs),
  };
}

function trialEndOf({ data }: Happened): string | undefined {
  return textOf(data, "status") === "trialing"
    ? (instantOf(data, "trial_end") ?? instantOf(data, "current_period_end"))
    : undefined;
}

/** A refund of the whole amount, with tax. */
function refunded({ data }: Happened): CustomerFacts | Ignored {
  const status = textOf(data, "status");
  if (status !== "succeeded") return `A refund that is ${status} moves no money.`;
  const [id, amount, tax = 0] = [textOf(data, "id"), amountOf(data, "amount"), amountOf(data, "tax_amount")];
  const properties = {
    amount: amountOf({ whole: (amount ?? Number.NaN) + tax }, "whole"),
    currency: textOf(data, "currency"),
    reason: textOf(data, "reason"),
    subscriptionId: textOf(data, "subscription_id"),
    invoiceId: textOf(data, "order_id"),
  };
  return oneEvent("payment_refunded", properties, `${id}:payment_refunded`);
}
