/** Reads LemonSqueezy's webhooks, by a table of their types. A subscription has no price and no interval of
 * its own: the invoices that are paid have the amount.
 * https://docs.lemonsqueezy.com/help/webhooks/event-types */
import { billingInterval } from "../../contract/billing/events.ts";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import type { CustomerFacts } from "./billing/facts.ts";
import {
  amountOf,
  fieldOf,
  idOf,
  instantOf,
  microsecondsOf,
  msOf,
  numberOf,
  textOf,
} from "./billing/fields.ts";
import { intervalBetween } from "./billing/interval.ts";
import { type Ignored, partiesOf, type ReadMessage } from "./billing/message.ts";
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
export function readLemonsqueezy(body: unknown): ReadMessage {
  const [type, kind, id] = [
    textOf(body, "meta", "event_name"),
    textOf(body, "data", "type"),
    idOf(body, "data", "id"),
  ];
  const attributes = fieldOf(body, "data", "attributes");
  if (type === undefined || kind === undefined || id === undefined || !isJsonObject(attributes)) {
    return {
      invalid: "body is not a webhook of LemonSqueezy: it has no meta.event_name, data or attributes.",
    };
  }
  const reading = Object.hasOwn(lemonsqueezyEvents, type) ? lemonsqueezyEvents[type] : undefined;
  if (reading === undefined) return { ignored: `${type} is not used.` };
  const isTest = fieldOf(body, "meta", "test_mode") === true || fieldOf(attributes, "test_mode") === true;
  const custom = fieldOf(body, "meta", "custom_data");
  const happened = { id, attributes, custom };
  const atMs = timeOf(happened);
  return {
    // No id is sent of the message. An attempt that is repeated has the object as it was.
    id: `${type}:${kind}:${id}:${textOf(attributes, "updated_at") ?? ""}`,
    type,
    atMs,
    ...partiesOf({
      tool: "lemonsqueezy",
      customerId: idOf(attributes, "customer_id"),
      email: textOf(attributes, "user_email"),
      customData: [custom],
    }),
    testMode: isTest ? "A purchase in LemonSqueezy's test mode is no money." : undefined,
    facts: (before) => reading(happened, before),
  };
}

/** The object of a webhook. */
interface Happened {
  readonly id: string;
  readonly attributes: JsonObject;
  /** What the checkout was given. */
  readonly custom: unknown;
}

type Reading = (happened: Happened, before: Before) => CustomerFacts | Ignored;

/** Every type that is read; all others are ignored. Orders are: a subscription's first order has an invoice,
 * too. */
const lemonsqueezyEvents: Readonly<Record<string, Reading>> = {
  subscription_created: (happened, before) => {
    const subscription = subscriptionOf(happened);
    return subscriptionFacts(
      subscription,
      before,
      ["subscription_started", { trialEndsAt: trialEndOf(happened), interval: firstInterval(happened) }],
      ...scheduledEnd(subscription.endsAt),
    );
  },
  subscription_updated: (happened, before) => {
    const subscription = subscriptionOf(happened);
    const { status, endsAt } = subscription;
    if (status === "expired") return "subscription_expired says that it has ended.";
    // No payment is tried any more. One that is paid after all begins again.
    if (status === "unpaid") return endedFacts(subscription, before, { reason: "payment_failed" });
    if (status === "active" && before.status === "unpaid")
      return goesOnFacts(subscription, before, "subscription_started");
    if (typeof endsAt === "string") {
      return subscriptionFacts(subscription, before, ["cancellation_scheduled", { endsAt }]);
    }
    return goesOnFacts(subscription, before, "subscription_changed", { trialEndsAt: trialEndOf(happened) });
  },
  subscription_cancelled: (happened, before) => {
    const subscription = subscriptionOf(happened);
    const { endsAt } = subscription;
    return typeof endsAt === "string"
      ? subscriptionFacts(subscription, before, ["cancellation_scheduled", { endsAt }])
      : "A cancellation without an end.";
  },
  subscription_resumed: (happened, before) =>
    subscriptionFacts({ ...subscriptionOf(happened), endsAt: null }, before, ["cancellation_withdrawn"]),
  subscription_paused: (happened, before) =>
    subscriptionFacts(subscriptionOf(happened), before, ["subscription_paused"]),
  subscription_unpaused: (happened, before) =>
    subscriptionFacts(subscriptionOf(happened), before, ["subscription_resumed"]),
  subscription_expired: (happened, before) => {
    // Only unpaid subscriptions end without a cancellation.
    const isUnpaid = happened.attributes.cancelled === false;
    return endedFacts(subscriptionOf(happened), before, { reason: isUnpaid ? "payment_failed" : undefined });
  },

  subscription_payment_success: paid,
  subscription_payment_recovered: paid,
  subscription_payment_failed: ({ id, attributes }) =>
    oneEvent("payment_failed", { ...money(id, attributes), amount: amountOf(attributes, "total") }),
  subscription_payment_refunded: ({ id, attributes }) => {
    const amount = amountOf(attributes, "refunded_amount") ?? amountOf(attributes, "total");
    const refunded = { ...money(id, attributes), amount };
    return oneEvent("payment_refunded", refunded, `invoice:${id}:payment_refunded:${amount ?? ""}`);
  },
};

/** The time of what happened: an object has the time of its last change. */
function timeOf({ attributes }: Happened): number | undefined {
  return msOf(attributes, "updated_at") ?? msOf(attributes, "created_at");
}

/** Invoices of a change in the middle of a period are prorated, and say nothing of the plan. */
const wholePeriods: readonly unknown[] = ["initial", "renewal"];

/** A payment, with the price of the plan: the amount of a whole period, after discounts and without tax. */
function paid({ id, attributes }: Happened, before: Before): CustomerFacts | Ignored {
  const [total, tax = 0] = [amountOf(attributes, "total"), amountOf(attributes, "tax")];
  if (total === 0) return "An invoice of amount 0 is no payment.";
  const payment = oneEvent(
    "payment_succeeded",
    { ...money(id, attributes), amount: total },
    `invoice:${id}:payment_succeeded`,
  );
  const amount = total === undefined || tax < 0 || tax > total ? undefined : total - tax;
  const isPrice = amount !== undefined && wholePeriods.includes(attributes.billing_reason);
  const subscriptionId = idOf(attributes, "subscription_id");
  if (!isPrice || subscriptionId === undefined) return payment;
  const plan = { name: undefined, amount, currency: textOf(attributes, "currency") };
  const subscription: Subscription = {
    id: subscriptionId,
    plan: { ...plan, interval: undefined, quantity: undefined },
    status: undefined,
    currentPeriodEnd: undefined,
    endsAt: undefined,
  };
  const priced = subscriptionFacts(subscription, before, ["subscription_changed"]);
  return { ...priced, events: [...priced.events, ...payment.events] };
}

function money(id: string, attributes: JsonObject): JsonObject {
  return {
    currency: textOf(attributes, "currency"),
    subscriptionId: idOf(attributes, "subscription_id"),
    invoiceId: id,
  };
}

/** Statuses in the terms of billing events. One that is cancelled goes on until its end. */
const told: Readonly<Record<string, Subscription["told"]>> = {
  on_trial: "trialing",
  active: "active",
  paused: "paused",
  past_due: "past_due",
};

function subscriptionOf({ id, attributes, custom }: Happened): Subscription {
  const status = textOf(attributes, "status");
  const isCancelled = status === "cancelled";
  // Of a subscription that is past due this is the next attempt, and not the end of a period.
  const isRenewing = status === "active" || status === "on_trial";
  return {
    id,
    plan: {
      name: nameOf(attributes),
      amount: undefined,
      currency: undefined,
      interval: intervalOf(attributes, custom),
      quantity: numberOf(fieldOf(attributes, "first_subscription_item"), "quantity"),
    },
    status,
    told: status !== undefined && Object.hasOwn(told, status) ? told[status] : undefined,
    version: microsecondsOf(attributes, "updated_at"),
    currentPeriodEnd: instantOf(attributes, isCancelled ? "ends_at" : isRenewing ? "renews_at" : ""),
    endsAt: isCancelled ? instantOf(attributes, "ends_at") : null,
  };
}

function trialEndOf({ attributes }: Happened): string | undefined {
  if (textOf(attributes, "status") !== "on_trial") return undefined;
  return instantOf(attributes, "trial_ends_at") ?? instantOf(attributes, "renews_at");
}

/** The interval of a subscription that begins: named, else the length of its first period, unless that is a
 * trial. */
function firstInterval({ attributes, custom }: Happened): string | undefined {
  const named = intervalOf(attributes, custom);
  if (named !== undefined || textOf(attributes, "status") !== "active") return named;
  return intervalBetween(msOf(attributes, "created_at"), msOf(attributes, "renews_at"));
}

/** The product with its variant: `Team Monthly`. A product without variants has one called Default. */
function nameOf(attributes: JsonObject): string | undefined {
  const [product, variant] = [textOf(attributes, "product_name"), textOf(attributes, "variant_name")];
  const names = [product, variant === "Default" ? undefined : variant].filter((name) => name !== undefined);
  return names.length === 0 ? undefined : names.join(" ");
}

/** Words of variants' names, the rarest first: what is "monthly, billed annually" is paid by the year. A bare
 * noun says nothing, as in "7 day trial". */
const words = [
  [/\b(annual|annually|yearly)\b|(\/ ?|\bper )year\b|^year$/i, "year"],
  [/\bquarterly\b|(\/ ?|\bper )quarter\b|^quarter$/i, "3 months"],
  [/\bmonthly\b|(\/ ?|\bper )month\b|^month$/i, "month"],
  [/\bweekly\b|(\/ ?|\bper )week\b|^week$/i, "week"],
  [/\bdaily\b|(\/ ?|\bper )day\b|^day$/i, "day"],
] as const;

/** The interval that the checkout's custom data says, or a word of the variant's name. */
function intervalOf(attributes: JsonObject, custom: unknown): string | undefined {
  const said = textOf(custom, "interval");
  if (said !== undefined && billingInterval(said) !== undefined) return said;
  const variant = textOf(attributes, "variant_name") ?? "";
  return words.find(([word]) => word.test(variant))?.[1];
}
