/** Billing events as they are stored, read into values that are safe to compute with. */

import { currencyCode } from "../../contract/billing/currencies.ts";
import {
  type BillingEventName,
  type BillingInterval,
  billingId,
  billingInterval,
  billingLimits,
  isAmount,
  isQuantity,
  isResourceVersion,
  type ToldStatus,
  toldStatus,
} from "../../contract/billing/events.ts";
import type { JsonObject } from "../../contract/json.ts";
import { limits } from "../../contract/limits.ts";
import { parseEventTime } from "../calendar/event-time.ts";
import type { Zone } from "../calendar/zone.ts";

/** A billing event whose identities are decided. */
export interface BillingEvent {
  readonly event: BillingEventName;
  readonly atMs: number;
  /** The message id, else the event's id: it orders events of one time and rank. */
  readonly tieBreak: string;
  /** The user's number. */
  readonly user: number;
  /** The number of the account that the event carries: the one it names, else its user's at that time. 0 is
   * none. */
  readonly account: number;
  /** Whether the event itself named the account. */
  readonly isAccountNamed: boolean;
  readonly properties: BillingProperties;
}

/** Properties of a billing event. Those that were not sent, or cannot be read, are absent. */
export interface BillingProperties {
  readonly subscriptionId?: string | undefined;
  readonly plan?: string | undefined;
  /** In minor units of ISO 4217, for the whole quantity and one interval. */
  readonly amount?: number | undefined;
  /** In upper case. */
  readonly currency?: string | undefined;
  readonly interval?: BillingInterval | undefined;
  readonly quantity?: number | undefined;
  readonly currentPeriodEndMs?: number | undefined;
  readonly trialEndsAtMs?: number | undefined;
  /** Null: the event tells that no end is scheduled. */
  readonly endsAtMs?: number | null | undefined;
  readonly reason?: string | undefined;
  readonly feedback?: string | undefined;
  readonly invoiceId?: string | undefined;
  /** From then on the amount is `amountAfterDiscount`. */
  readonly discountEndsAtMs?: number | undefined;
  readonly amountAfterDiscount?: number | undefined;
  /** What the tool says that the subscription is. */
  readonly status?: ToldStatus | undefined;
  /** Grows with each change of the subscription: it orders events of one time. */
  readonly resourceVersion?: number | undefined;
  /** The tool has moved the subscription to the user of the event. */
  readonly isTransfer?: boolean | undefined;
  /** Of a price in tiers: what it costs is known from invoices alone. */
  readonly isPricedByInvoice?: boolean | undefined;
  /** Of an invoice that was paid: what its recurring parts cost for one interval. */
  readonly recurringAmount?: number | undefined;
  readonly recurringInterval?: BillingInterval | undefined;
}

/**
 * The properties of a stored billing event. A value that cannot be read is absent: an event that was stored
 * before its name had a meaning stays valid.
 * @param zone the organization's timezone, in which a date begins
 */
export function billingProperties(properties: JsonObject, zone: Zone): BillingProperties {
  const text = <Value>(field: string, read: (text: string) => Value | undefined) => {
    const value = properties[field];
    return typeof value === "string" ? read(value) : undefined;
  };
  const timeOf = (field: string) => text(field, (value) => parseEventTime(value, zone));
  const words = (field: string, maxCharacters: number) =>
    text(field, (value) => (value === "" ? undefined : value.slice(0, maxCharacters)));
  const amountOf = (value: unknown) => (isAmount(value) ? value : undefined);
  return {
    subscriptionId: billingId(properties.subscriptionId),
    plan: words("plan", limits.identifierCharacters),
    amount: amountOf(properties.amount),
    currency: text("currency", currencyCode),
    interval: text("interval", billingInterval),
    quantity: isQuantity(properties.quantity) ? properties.quantity : undefined,
    currentPeriodEndMs: timeOf("currentPeriodEnd"),
    trialEndsAtMs: timeOf("trialEndsAt"),
    endsAtMs: properties.endsAt === null ? null : timeOf("endsAt"),
    reason: words("reason", billingLimits.textCharacters),
    feedback: words("feedback", billingLimits.textCharacters),
    invoiceId: billingId(properties.invoiceId),
    discountEndsAtMs: timeOf("discountEndsAt"),
    amountAfterDiscount: amountOf(properties.amountAfterDiscount),
    status: text("status", toldStatus),
    resourceVersion: isResourceVersion(properties.resourceVersion) ? properties.resourceVersion : undefined,
    isTransfer: properties.isTransfer === true ? true : undefined,
    isPricedByInvoice: properties.isPricedByInvoice === true ? true : undefined,
    recurringAmount: amountOf(properties.recurringAmount),
    recurringInterval: text("recurringInterval", billingInterval),
  };
}

/** Events of one time apply in this order. */
const ranks: Readonly<Record<BillingEventName, number>> = {
  subscription_started: 0,
  trial_started: 1,
  trial_ending: 2,
  trial_converted: 3,
  subscription_changed: 4,
  subscription_paused: 5,
  subscription_resumed: 6,
  cancellation_scheduled: 7,
  cancellation_withdrawn: 8,
  payment_failed: 9,
  payment_succeeded: 10,
  payment_refunded: 11,
  payment_disputed: 12,
  subscription_canceled: 13,
};

/**
 * Events by time, the tool's version, rank and message id, each once. Without a version an event comes first
 * among those of its time. The order is the same for any order of the same events.
 */
export function inOrder(events: readonly BillingEvent[]): BillingEvent[] {
  const sorted = events.toSorted(
    (a, b) =>
      a.atMs - b.atMs ||
      versionOf(a) - versionOf(b) ||
      ranks[a.event] - ranks[b.event] ||
      compareTexts(a.tieBreak, b.tieBreak) ||
      compareTexts(contentOf(a), contentOf(b)),
  );
  const seen = new Set<string>();
  return sorted.filter(({ atMs, event, tieBreak }) => {
    const key = `${atMs} ${event} ${tieBreak}`;
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  });
}

function versionOf({ properties }: BillingEvent): number {
  return properties.resourceVersion ?? -1;
}

/** Two events with one message id are one event. If their contents differ, the same one of them is taken each
 * time. */
function contentOf({ user, account, isAccountNamed, properties }: BillingEvent): string {
  const entries = Object.entries(properties).filter(([, value]) => value !== undefined);
  return JSON.stringify([user, account, isAccountNamed, ...entries.sort(([a], [b]) => compareTexts(a, b))]);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
