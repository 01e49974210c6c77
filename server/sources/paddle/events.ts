/**
 * Maps the notifications of Paddle Billing by their types. They hold a whole entity and nothing of its state
 * before. https://developer.paddle.com/webhooks
 */
import type { JsonObject } from "../../../contract/json.ts";
import type { CustomerFacts } from "../billing/facts.ts";
import { amountOf, fieldOf, instantOf, microsecondsOf, objectsOf, textOf } from "../billing/fields.ts";
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
import { planOf, planOfTransaction } from "./plan.ts";

type Reading = (data: JsonObject, before: Before) => CustomerFacts | Ignored;

/** Every type that is read; all others are ignored. */
export const paddleEvents: Readonly<Record<string, Reading>> = {
  "customer.created": () => ({ events: [] }),
  "customer.imported": () => ({ events: [] }),
  "customer.updated": () => ({ events: [] }),

  "subscription.created": started,
  "subscription.imported": started,
  "subscription.trialing": (data, before) =>
    subscriptionFacts(subscriptionOf(data), before, ["trial_started", { trialEndsAt: trialEndOf(data) }]),
  "subscription.activated": (data, before) =>
    objectsOf(data, "items").some((item) => fieldOf(item, "trial_dates") !== undefined)
      ? subscriptionFacts(subscriptionOf(data), before, ["trial_converted"])
      : updated(data, before),
  "subscription.updated": updated,
  "subscription.past_due": updated,
  "subscription.paused": (data, before) =>
    subscriptionFacts(subscriptionOf(data), before, ["subscription_paused"]),
  "subscription.resumed": (data, before) =>
    subscriptionFacts(subscriptionOf(data), before, ["subscription_resumed"]),
  "subscription.canceled": canceled,

  "transaction.completed": (data) => {
    const amount = paidAmount(data);
    if (amount === 0) return "A transaction of amount 0 is no payment.";
    const currentPeriodEnd = instantOf(data, "billing_period", "ends_at");
    return transactionFacts("payment_succeeded", data, { currentPeriodEnd }, true);
  },
  "transaction.payment_failed": (data) => {
    // A customer who changes the card of a subscription pays nothing with it. No payment would follow that
    // ends a past due time.
    if (paidAmount(data) === 0) return "A transaction of amount 0 is no payment.";
    const [failed, ...earlier] = objectsOf(data, "payments").filter(
      (payment) => textOf(payment, "status") === "error",
    );
    return transactionFacts("payment_failed", data, {
      reason: textOf(failed, "error_code"),
      attempt: failed === undefined ? undefined : earlier.length + 1,
    });
  },
  "transaction.past_due": (data) => transactionFacts("payment_overdue", data),

  "adjustment.created": adjusted,
  "adjustment.updated": adjusted,
};

function started(data: JsonObject, before: Before): CustomerFacts | Ignored {
  const subscription = subscriptionOf(data);
  if (subscription.status === "canceled") return canceled(data, before);
  return subscriptionFacts(
    subscription,
    before,
    ["subscription_started", { trialEndsAt: trialEndOf(data) }],
    ...(subscription.status === "paused" ? [["subscription_paused"] as const] : []),
    ...scheduledEnd(subscription.endsAt),
  );
}

/** Paddle sends this type beside all others of a subscription, and at renewals. It does not tell what
 * changed. */
function updated(data: JsonObject, before: Before): CustomerFacts | Ignored {
  const subscription = subscriptionOf(data);
  const { status, endsAt } = subscription;
  if (status === "canceled") return "subscription.canceled says that it is canceled.";
  if (typeof endsAt === "string") {
    return subscriptionFacts(subscription, before, ["cancellation_scheduled", { endsAt }]);
  }
  return goesOnFacts(subscription, before, "subscription_changed", { trialEndsAt: trialEndOf(data) });
}

function canceled(data: JsonObject, before: Before): CustomerFacts {
  return endedFacts(subscriptionOf(data), before, {});
}

/** Statuses of Paddle that go on. */
const goingOn = ["trialing", "active", "past_due", "paused"] as const;

function subscriptionOf(data: JsonObject): Subscription {
  const isEnding = textOf(data, "scheduled_change", "action") === "cancel";
  return {
    id: textOf(data, "id"),
    plan: planOf(data),
    status: textOf(data, "status"),
    told: goingOn.find((status) => status === textOf(data, "status")),
    version: microsecondsOf(data, "updated_at"),
    currentPeriodEnd: instantOf(data, "current_billing_period", "ends_at"),
    endsAt: isEnding ? instantOf(data, "scheduled_change", "effective_at") : null,
  };
}

function trialEndOf(data: JsonObject): string | undefined {
  if (textOf(data, "status") !== "trialing") return undefined;
  const [item] = objectsOf(data, "items");
  return instantOf(item, "trial_dates", "ends_at") ?? instantOf(data, "next_billed_at");
}

/** With tax, after credit. */
function paidAmount(data: JsonObject): number | undefined {
  return amountOf(data, "details", "totals", "grand_total") ?? amountOf(data, "details", "totals", "total");
}

/** @param isOnce whether a transaction has this event once, whatever the notification */
function transactionFacts(
  event: string,
  data: JsonObject,
  more: JsonObject = {},
  isOnce = false,
): CustomerFacts {
  const id = textOf(data, "id");
  const properties = {
    amount: paidAmount(data),
    currency: textOf(data, "currency_code"),
    plan: planOfTransaction(data),
    origin: textOf(data, "origin"),
    subscriptionId: textOf(data, "subscription_id"),
    invoiceId: textOf(data, "invoice_id") ?? id,
    ...more,
  };
  return oneEvent(event, properties, isOnce && id !== undefined ? `${id}:${event}` : undefined);
}

const adjustments: Readonly<Record<string, string>> = {
  refund: "payment_refunded",
  chargeback: "payment_disputed",
};

/** A refund waits for Paddle's approval, which is an update. */
function adjusted(data: JsonObject): CustomerFacts | Ignored {
  const [action, status] = [textOf(data, "action"), textOf(data, "status")];
  const event = action !== undefined && Object.hasOwn(adjustments, action) ? adjustments[action] : undefined;
  if (event === undefined) return `An adjustment of the kind ${action} is not used.`;
  if (status !== "approved") return `An adjustment that is ${status} moves no money.`;
  const id = textOf(data, "id");
  const properties = {
    amount: amountOf(data, "totals", "total"),
    currency: textOf(data, "currency_code"),
    reason: textOf(data, "reason"),
    subscriptionId: textOf(data, "subscription_id"),
    invoiceId: textOf(data, "transaction_id"),
  };
  return oneEvent(event, properties, id === undefined ? undefined : `${id}:${event}`);
}
