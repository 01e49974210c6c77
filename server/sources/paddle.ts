/** Reads the notifications of Paddle Billing, by a table of their types. They hold a whole entity and nothing
 * of its state before. https://developer.paddle.com/webhooks */
import { isJsonObject, type JsonObject, objectOf } from "../../contract/json.ts";
import type { CustomerFacts } from "./billing/facts.ts";
import {
  amountOf,
  fieldOf,
  instantOf,
  intervalText,
  microsecondsOf,
  msOf,
  numberOf,
  objectsOf,
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
export function readPaddle(body: unknown): ReadMessage {
  const [id, type] = [textOf(body, "event_id"), textOf(body, "event_type")];
  const data = fieldOf(body, "data");
  if (id === undefined || type === undefined || !isJsonObject(data)) {
    return {
      invalid:
        "body is not a notification of Paddle Billing: it has no event_id, event_type or data. Webhooks of Paddle Classic are not read.",
    };
  }
  const reading = Object.hasOwn(paddleEvents, type) ? paddleEvents[type] : undefined;
  if (reading === undefined) return { ignored: `${type} is not used.` };
  const isCustomer = type.startsWith("customer.");
  const customer = {
    tool: "paddle",
    customerId: textOf(data, isCustomer ? "id" : "customer_id"),
    email: isCustomer ? textOf(data, "email") : undefined,
    customData: [fieldOf(data, "custom_data")],
  };
  const atMs = msOf(body, "occurred_at");
  return {
    id,
    type,
    atMs,
    ...partiesOf(customer),
    testMode: whyTestMode(body, data),
    facts: (before) => reading(data, before),
  };
}

/** Ids of simulated notifications begin so:
 * https://developer.paddle.com/api-reference/simulation-events/overview. */
const simulated = /^ntfsim/;

/** Paddle marks simulations by their ids. A sandbox is told by the addresses that a message has of it, if it
 * has any. */
function whyTestMode(body: unknown, data: JsonObject): string | undefined {
  const ids = [textOf(body, "event_id"), textOf(body, "notification_id")];
  if (ids.some((one) => one !== undefined && simulated.test(one)))
    return "A simulated notification is no money.";
  const urls = [fieldOf(data, "checkout", "url"), ...Object.values(objectOf(data.management_urls))];
  const isSandbox = urls.some((url) => typeof url === "string" && url.startsWith("https://sandbox-"));
  return isSandbox ? "A purchase in Paddle's sandbox is no money." : undefined;
}

type Reading = (data: JsonObject, before: Before) => CustomerFacts | Ignored;

/** Every type that is read; all others are ignored. */
const paddleEvents: Readonly<Record<string, Reading>> = {
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

/** The plan of a subscription: of its first recurring item, with the amounts of all. Notifications have no
 * amount of its discount. */
function planOf(data: JsonObject): Plan {
  const currency = textOf(data, "currency_code");
  const items = objectsOf(data, "items").filter(({ recurring }) => recurring !== false);
  const [first] = items;
  const amounts = items.map((item) => itemAmount(item, currency));
  const isKnown =
    currency !== undefined && amounts.length > 0 && amounts.every((amount) => amount !== undefined);
  const sum = amounts.reduce<number>((total, amount) => total + (amount ?? 0), 0);
  return {
    name: nameOf(first),
    amount: isKnown && Number.isSafeInteger(sum) ? sum : undefined,
    currency,
    interval: intervalText(
      textOf(data, "billing_cycle", "interval"),
      numberOf(data, "billing_cycle", "frequency"),
    ),
    quantity: numberOf(first, "quantity"),
  };
}

/** The name of what a transaction pays for. Its lines have the products, and its items have the prices. */
function planOfTransaction(data: JsonObject): string | undefined {
  const items = objectsOf(data, "items");
  const item =
    items.find((one) => textOf(one, "price", "billing_cycle", "interval") !== undefined) ?? items[0];
  const priceId = textOf(item, "price", "id");
  const details = typeof data.details === "object" ? data.details : undefined;
  const line = objectsOf(details, "line_items").find((one) => textOf(one, "price_id") === priceId);
  return textOf(line, "product", "name") ?? nameOf(item);
}

function nameOf(item: JsonObject | undefined): string | undefined {
  return (
    textOf(item, "product", "name") ??
    textOf(item, "price", "name") ??
    textOf(item, "price", "description") ??
    textOf(item, "price", "id")
  );
}

/** The amount of an item in the subscription's currency, which may be that of an override for some
 * countries. */
function itemAmount(item: JsonObject, currency: string | undefined): number | undefined {
  const prices = [item.price, ...objectsOf(item, "price", "unit_price_overrides")];
  const amounts = prices
    .filter((price) => textOf(price, "unit_price", "currency_code") === currency)
    .map((price) => amountOf(price, "unit_price", "amount"));
  const [amount] = amounts;
  // Several countries may have one currency and different prices.
  if (amount === undefined || amounts.some((other) => other !== amount)) return undefined;
  return amount * (numberOf(item, "quantity") ?? 1);
}
