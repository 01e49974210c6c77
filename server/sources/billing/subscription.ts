/** Events of a subscription, as tools report its whole state with each change. */
import type { ToldStatus } from "../../../contract/billing/events.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { BillingEvent, CustomerFacts } from "./facts.ts";
import { defined, instantOf, textOf } from "./fields.ts";
import { endedTraits, type Plan, planTraits } from "./plan.ts";

/** The state of a subscription in a message. */
export interface Subscription {
  readonly id: string | undefined;
  readonly plan: Plan;
  /** As the tool names it. */
  readonly status: string | undefined;
  /** In the terms of billing events; undefined where the tool does not say it, and for an end. */
  readonly told?: Exclude<ToldStatus, "canceled"> | undefined;
  /** Grows with each change: it orders changes of one second. */
  readonly version?: number | undefined;
  readonly currentPeriodEnd: string | undefined;
  /** When it is scheduled to end. Null if it is not; undefined if the message does not say. */
  readonly endsAt: string | null | undefined;
  /** The end of a discount, and the amount from then on. */
  readonly discount?: { readonly discountEndsAt: string; readonly amountAfterDiscount: number } | undefined;
}

/** The state that the user's traits hold from earlier messages. */
export interface Before {
  readonly status: string | undefined;
  readonly endsAt: string | undefined;
  /** The subscriptions that the user has, of a tool that moves them without naming them. */
  readonly subscriptionIds: readonly string[];
}

/** @param traits as they are stored */
export function beforeOf(traits: JsonObject): Before {
  return {
    status: textOf(traits, "subscriptionStatus"),
    endsAt: instantOf(traits, "subscriptionEndsAt"),
    subscriptionIds: subscriptionIdsOf(traits),
  };
}

/** Subscriptions that a user's trait names, of a tool that moves them without naming them. */
export function subscriptionIdsOf(traits: JsonObject): readonly string[] {
  const { subscriptionIds } = traits;
  return Array.isArray(subscriptionIds) ? subscriptionIds.filter((id) => typeof id === "string") : [];
}

/** An event with the subscription's state. */
function subscriptionEvent(
  event: string,
  { id, plan: { name, ...plan }, currentPeriodEnd, discount, told, version }: Subscription,
  more: JsonObject = {},
): BillingEvent {
  const state = { status: event === "subscription_canceled" ? undefined : told, resourceVersion: version };
  const properties = Object.assign(
    { subscriptionId: id, plan: name, currentPeriodEnd },
    plan,
    discount,
    state,
    more,
  );
  return { event, properties: defined(properties) };
}

/** The user's traits after a message. */
function subscriptionTraits({ plan, status, endsAt }: Subscription, before: Before): JsonObject {
  const traits = planTraits(plan, status);
  if (endsAt === undefined || (endsAt === null && before.endsAt === undefined)) return traits;
  return { ...traits, subscriptionEndsAt: endsAt };
}

type NamedEvent = readonly [event: string, more?: JsonObject];

/** The event of an end that is scheduled already when a subscription begins. None without one. */
export function scheduledEnd(
  endsAt: Subscription["endsAt"],
  reasons: JsonObject = {},
): readonly NamedEvent[] {
  return typeof endsAt === "string" ? [["cancellation_scheduled", { endsAt, ...reasons }]] : [];
}

/** An event of a subscription that goes on, with the traits that follow. */
export function subscriptionFacts(
  subscription: Subscription,
  before: Before,
  ...events: readonly NamedEvent[]
): CustomerFacts {
  return {
    events: events.map(([event, more]) => subscriptionEvent(event, subscription, more)),
    traits: subscriptionTraits(subscription, before),
  };
}

/** A state without a scheduled end, of a tool that does not tell when one was withdrawn. `endsAt: null` holds
 * in any order of arrival. The event of the withdrawal is for people, and needs the trait of an earlier
 * message. */
export function goesOnFacts(
  subscription: Subscription,
  before: Before,
  event: string,
  more: JsonObject = {},
): CustomerFacts {
  return subscriptionFacts(
    subscription,
    before,
    [event, { endsAt: null, ...more }],
    ...(before.endsAt === undefined ? [] : [["cancellation_withdrawn"] as const]),
  );
}

/** The end of a subscription. */
export function endedFacts(subscription: Subscription, before: Before, reasons: JsonObject): CustomerFacts {
  return {
    events: [subscriptionEvent("subscription_canceled", subscription, reasons)],
    traits: {
      ...endedTraits(subscription.status),
      ...(before.endsAt !== undefined && { subscriptionEndsAt: null }),
    },
  };
}

/** One event without traits, such as a payment. */
export function oneEvent(event: string, properties: JsonObject, id?: string): CustomerFacts {
  return { events: [{ event, properties: defined(properties), id }] };
}
