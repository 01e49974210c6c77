/**
 * Reads RevenueCat's events, by a table of their types. Stores report purchases, not the price of a plan: the
 * last purchase is what it costs. Prices are decimals.
 * https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields
 */
import { currencyCode, currencyDigits } from "../../contract/billing/currencies.ts";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { isInvalid } from "../intake/admission/json.ts";
import type { CustomerFacts } from "./billing/facts.ts";
import { defined, fieldOf, instantOf, msOf, numberOf, textOf } from "./billing/fields.ts";
import { intervalBetween } from "./billing/interval.ts";
import { type Ignored, partiesOf, type ReadMessage } from "./billing/message.ts";
import { accountIdKeys, userIdKeys } from "./billing/person.ts";
import type { Plan } from "./billing/plan.ts";
import {
  type Before,
  endedFacts,
  oneEvent,
  type Subscription,
  subscriptionFacts,
} from "./billing/subscription.ts";
import type { Party } from "./billing/transfer.ts";
import { isGenericId, parseId } from "./parse.ts";

/** @param body parsed JSON */
export function readRevenuecat(body: unknown): ReadMessage {
  const event = fieldOf(body, "event");
  const [id, type] = [textOf(event, "id"), textOf(event, "type")];
  if (id === undefined || type === undefined || !isJsonObject(event)) {
    return { invalid: "body is not an event of RevenueCat: it has no event with id and type." };
  }
  if (type === "TEST")
    return { ignored: "A test of RevenueCat: the address and the authorization are right." };
  const testMode =
    textOf(event, "environment") === "SANDBOX" ? "A purchase in a store's sandbox is no money." : undefined;
  const atMs = msOf(event, "event_timestamp_ms");
  if (type === "TRANSFER") {
    const [from, to] = [partiesIn(event.transferred_from), partiesIn(event.transferred_to)];
    return { id, atMs, testMode, from, to };
  }
  const reading = Object.hasOwn(revenuecatEvents, type) ? revenuecatEvents[type] : undefined;
  if (reading === undefined) return { ignored: `${type} is not used.` };
  return {
    id,
    type,
    atMs,
    testMode,
    ...partiesOf(customerOf(event)),
    facts: (before) => reading(event, before),
  };
}

/** Customers by their app user ids, which are several names of one. */
function partiesIn(value: unknown): readonly Party[] {
  return idsIn(value).map((id) => ({
    anonymousId: `revenuecat:${id}`,
    userId: anonymous.test(id) ? undefined : id,
  }));
}

function idsIn(value: unknown): readonly string[] {
  const sent: readonly unknown[] = Array.isArray(value) ? value.slice(0, maxAliases) : [];
  return sent.flatMap((one) => {
    const id = parseId(one, "app_user_id");
    return id === undefined || isInvalid(id) || isGenericId(id) ? [] : [id];
  });
}

/** Ids that RevenueCat gives before an app names its user. */
const anonymous = /^\$RCAnonymousID:/;

/** How many aliases are looked at. */
const maxAliases = 100;

function customerOf(event: JsonObject) {
  const aliases = fieldOf(event, "aliases");
  const ids = [...idsIn([event.app_user_id, event.original_app_user_id]), ...idsIn(aliases)];
  const attribute = (key: string) => fieldOf(event, "subscriber_attributes", key, "value");
  const keys = [...userIdKeys, ...accountIdKeys];
  return {
    tool: "revenuecat",
    customerId: textOf(event, "original_app_user_id") ?? ids[0],
    email: textOf(event, "subscriber_attributes", "$email", "value"),
    userId: ids.find((id) => !anonymous.test(id)),
    customData: [Object.fromEntries(keys.map((key) => [key, attribute(key)]))],
  };
}

type Reading = (event: JsonObject, before: Before) => CustomerFacts | Ignored;

/** Every type that is read; all others are ignored. */
const revenuecatEvents: Readonly<Record<string, Reading>> = {
  INITIAL_PURCHASE: (event, before) => {
    const isTrial = textOf(event, "period_type") === "TRIAL";
    const trialEndsAt = isTrial ? endOf(event) : undefined;
    const subscription = bought(event, isTrial ? "trialing" : "active");
    const facts = subscriptionFacts(subscription, before, ["subscription_started", { trialEndsAt }]);
    return withPayment(event, withSubscription(event, before, facts));
  },
  RENEWAL: (event, before) => withPayment(event, withSubscription(event, before, renewed(event, before))),
  NON_RENEWING_PURCHASE: (event) => {
    const paid = priceOf(event);
    return paid === 0
      ? "A purchase of price 0 is no payment."
      : oneEvent("payment_succeeded", money(event, paid));
  },
  SUBSCRIPTION_EXTENDED: (event, before) =>
    subscriptionFacts(unpriced(event, undefined), before, ["subscription_changed"]),
  CANCELLATION: canceled,
  UNCANCELLATION: (event, before) =>
    subscriptionFacts({ ...unpriced(event, undefined), endsAt: null }, before, ["cancellation_withdrawn"]),
  BILLING_ISSUE: (event, before) => {
    const { traits } = subscriptionFacts(unpriced(event, "past_due"), before);
    const failed = {
      ...money(event, positive(priceOf(event))),
      subscriptionId: subscriptionIdOf(event),
      graceEndsAt: instantOf(event, "grace_period_expiration_at_ms"),
    };
    return { ...oneEvent("payment_failed", failed), traits: traits ?? {} };
  },
  EXPIRATION: (event, before) =>
    textOf(event, "expiration_reason") === "SUBSCRIPTION_PAUSED"
      ? subscriptionFacts(unpriced(event, "paused"), before, ["subscription_paused"])
      : endedFacts(unpriced(event, "canceled"), before, { reason: reasonOf(event, "expiration_reason") }),
};

/** The store does not say whether the subscription had ended or had been paused, and the user's traits may be
 * of another one. So a renewal is a start, which changes nothing of a subscription that goes on. Only
 * Google's store pauses subscriptions. */
function renewed(event: JsonObject, before: Before): CustomerFacts {
  const mayBePaused = textOf(event, "store") === "PLAY_STORE";
  return subscriptionFacts(
    bought(event, "active"),
    before,
    ["subscription_started", { endsAt: null }],
    ...(event.is_trial_conversion === true ? [["trial_converted"] as const] : []),
    ...(mayBePaused ? [["subscription_resumed"] as const] : []),
  );
}

/** A refund is a cancellation with a negative price, after which the subscription may go on. */
function canceled(event: JsonObject, before: Before): CustomerFacts | Ignored {
  const price = priceOf(event);
  if (price !== undefined && price < 0) {
    const refunded = { ...money(event, -price), subscriptionId: subscriptionIdOf(event) };
    return oneEvent("payment_refunded", { ...refunded, reason: reasonOf(event, "cancel_reason") });
  }
  if (textOf(event, "cancel_reason") === "BILLING_ERROR") return "BILLING_ISSUE says that a payment failed.";
  const endsAt = endOf(event);
  if (endsAt === undefined) return "A purchase that does not renew has no end.";
  return subscriptionFacts({ ...unpriced(event, undefined), endsAt }, before, [
    "cancellation_scheduled",
    { endsAt, reason: reasonOf(event, "cancel_reason") },
  ]);
}

/** `payment_failed` is what Stripe says of an end that its customer did not choose. */
function reasonOf(event: JsonObject, key: string): string | undefined {
  const reason = textOf(event, key);
  if (reason === "UNKNOWN") return undefined;
  return reason === "BILLING_ERROR" ? "payment_failed" : reason?.toLowerCase();
}

/** The state after a purchase. The price of a trial is not that of the plan. A shared subscription is paid by
 * another user. */
function bought(event: JsonObject, status: string): Subscription {
  const currency = textOf(event, "currency");
  const price = event.is_family_share === true ? 0 : netPriceOf(event);
  const interval = intervalBetween(msOf(event, "purchased_at_ms"), msOf(event, "expiration_at_ms"));
  const isPriced = status !== "trialing" && interval !== undefined;
  const amount = isPriced ? minorUnits(positive(price), currency) : undefined;
  return {
    ...unpriced(event, status),
    plan: {
      name: textOf(event, "product_id"),
      amount,
      currency,
      quantity: undefined,
      interval: amount === undefined ? undefined : interval,
    },
    endsAt: null,
  };
}

/** The state in other events, whose price may be that of another period. */
function unpriced(event: JsonObject, status: string | undefined): Subscription {
  const plan: Plan = {
    name: textOf(event, "product_id"),
    amount: undefined,
    currency: undefined,
    interval: undefined,
    quantity: undefined,
  };
  const [id, currentPeriodEnd] = [subscriptionIdOf(event), endOf(event)];
  return { id, plan, status, currentPeriodEnd, endsAt: undefined };
}

function subscriptionIdOf(event: JsonObject): string | undefined {
  return textOf(event, "original_transaction_id") ?? textOf(event, "transaction_id");
}

function endOf(event: JsonObject): string | undefined {
  return instantOf(event, "expiration_at_ms");
}

function priceOf(event: JsonObject): number | undefined {
  return numberOf(event, "price_in_purchased_currency");
}

/** The price without tax, by the store's estimate. */
function netPriceOf(event: JsonObject): number | undefined {
  const [price, tax] = [priceOf(event), numberOf(event, "tax_percentage") ?? 0];
  return price === undefined || tax < 0 || tax >= 1 ? price : price * (1 - tax);
}

function positive(price: number | undefined): number | undefined {
  return price !== undefined && price >= 0 ? price : undefined;
}

function money(event: JsonObject, price: number | undefined): JsonObject {
  const currency = textOf(event, "currency");
  const [plan, invoiceId] = [textOf(event, "product_id"), textOf(event, "transaction_id")];
  return { amount: minorUnits(price, currency), currency, plan, invoiceId, store: textOf(event, "store") };
}

/** Of one user: their own and some that families share. */
const maxSubscriptions = 20;

/** The trait that names the user's subscriptions: a transfer of RevenueCat names none. */
function withSubscription(event: JsonObject, before: Before, facts: CustomerFacts): CustomerFacts {
  const id = subscriptionIdOf(event);
  if (id === undefined) return facts;
  const others = before.subscriptionIds.filter((one) => one !== id);
  const subscriptionIds = [...others, id].slice(-maxSubscriptions);
  return { ...facts, traits: { ...facts.traits, subscriptionIds } };
}

/** The purchase's payment beside the event of its subscription. */
function withPayment(event: JsonObject, facts: CustomerFacts): CustomerFacts {
  const price = event.is_family_share === true ? 0 : priceOf(event);
  if (price === undefined || price <= 0) return facts;
  const paid = { ...money(event, price), subscriptionId: subscriptionIdOf(event) };
  return { ...facts, events: [...facts.events, { event: "payment_succeeded", properties: defined(paid) }] };
}

/** A price in minor units of its currency. Undefined without a currency of ISO 4217. */
function minorUnits(price: number | undefined, currency: string | undefined): number | undefined {
  const code = currencyCode(currency ?? "");
  if (price === undefined || code === undefined) return undefined;
  const amount = Math.round(price * 10 ** currencyDigits(code));
  return Number.isSafeInteger(amount) ? amount : undefined;
}
