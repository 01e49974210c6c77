/** Reads Polar's webhooks, by a table of their types. They hold a whole object and nothing of its state
 * before. A plan's amount is that of fixed prices and seats, before the discount and without tax.
 * https://docs.polar.sh/integrate/webhooks/events */
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import type { CustomerFacts } from "./billing/facts.ts";
import {
  amountOf,
  fieldOf,
  instantOf,
  intervalText,
  microsecondsOf,
  msOf,
  numberOf,
  textOf,
} from "./billing/fields.ts";
import { type Ignored, partiesOf, type ReadMessage } from "./billing/message.ts";
import type { Plan } from "./billing/plan.ts";
import {
  type Before,
  endedFacts,
  goesOnFacts,
  oneEvent,
  type Subscription,
  scheduledEnd,
  subscriptionFacts,
} from "./billing/subscription.ts";

/** @param body parsed JSON */
export function readPolar(body: unknown): ReadMessage {
  const [type, id] = [textOf(body, "type"), textOf(body, "data", "id")];
  const data = fieldOf(body, "data");
  if (type === undefined || id === undefined || !isJsonObject(data)) {
    return { invalid: "body is not a webhook of Polar: it has no type or data." };
  }
  const reading = Object.hasOwn(polarEvents, type) ? polarEvents[type] : undefined;
  if (reading === undefined) return { ignored: `${type} is not used.` };
  const customer = type.startsWith("customer.") ? data : fieldOf(data, "customer");
  const atMs = msOf(body, "timestamp");
  const version = textOf(body, "timestamp") ?? textOf(data, "modified_at") ?? "";
  return {
    id: `${type}:${id}:${version}`,
    type,
    atMs,
    ...partiesOf({
      tool: "polar",
      customerId: textOf(customer, "id") ?? textOf(data, "customer_id"),
      email: textOf(customer, "email"),
      userId: textOf(customer, "external_id"),
      customData: [fieldOf(data, "metadata"), fieldOf(customer, "metadata")],
    }),
    // A discount's end is compared with the time of the event. Without a time no discount has ended.
    facts: (before) => reading({ data, atMs: atMs ?? 0 }, before),
  };
}

/** The object of a webhook, and the time of the webhook. */
interface Happened {
  readonly data: JsonObject;
  readonly atMs: number;
}

type Reading = (happened: Happened, before: Before) => CustomerFacts | Ignored;

/** Every type that is read; all others are ignored. */
const polarEvents: Readonly<Record<string, Reading>> = {
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

/** @param atMs the time of the event, at which a discount may have ended */
function planOf(data: JsonObject, atMs: number): Plan {
  const amount = amountOf(data, "amount");
  return {
    name: textOf(data, "product", "name"),
    amount: amount === undefined || !holds(data, atMs) ? amount : discounted(data, amount),
    currency: textOf(data, "currency"),
    interval: intervalText(
      textOf(data, "recurring_interval"),
      numberOf(data, "recurring_interval_count") ?? 1,
    ),
    quantity: numberOf(data, "seats"),
  };
}

/** The end of a discount of some months, and the amount from then on; undefined if none ends later. */
function discountEndOf(data: JsonObject, atMs: number): Subscription["discount"] {
  const [endMs, amount] = [discountEndMs(data), amountOf(data, "amount")];
  if (endMs === undefined || endMs <= atMs || amount === undefined) return undefined;
  return { discountEndsAt: new Date(endMs).toISOString(), amountAfterDiscount: amount };
}

/** Whether a discount holds that recurs. One of a single invoice says nothing of the plan. */
function holds(data: JsonObject, atMs: number): boolean {
  const duration = textOf(data, "discount", "duration");
  if (duration === "forever") return true;
  const endMs = discountEndMs(data);
  return endMs !== undefined && endMs > atMs;
}

/** Months are counted from the subscription's start. */
function discountEndMs(data: JsonObject): number | undefined {
  if (textOf(data, "discount", "duration") !== "repeating") return undefined;
  const startMs = msOf(data, "started_at") ?? msOf(data, "created_at");
  const months = numberOf(data, "discount", "duration_in_months");
  if (startMs === undefined || months === undefined || !isMonths(months)) return undefined;
  const start = new Date(startMs);
  const end = new Date(startMs);
  end.setUTCMonth(start.getUTCMonth() + months);
  // The 31st of January and a month is the end of February.
  if (end.getUTCDate() !== start.getUTCDate()) end.setUTCDate(0);
  return end.getTime();
}

function isMonths(months: number): boolean {
  return Number.isInteger(months) && months > 0 && months <= 1_200;
}

function discounted(data: JsonObject, amount: number): number {
  const discount = fieldOf(data, "discount");
  const basisPoints = numberOf(discount, "basis_points");
  const off =
    basisPoints === undefined
      ? (amountOf(discount, "amount") ?? 0)
      : Math.round((amount * basisPoints) / 10_000);
  return Math.min(amount, Math.max(0, amount - off));
}
