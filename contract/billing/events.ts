/**
 * Billing events: what a customer pays, by one set of names for every source. An event of these names without
 * a subscription (or, for payments, without an amount) is an ordinary event.
 */

import type { JsonObject } from "../json.ts";
import { limits } from "../limits.ts";
import { currencyCode } from "./currencies.ts";

const subscriptionEvents = [
  "subscription_started",
  "subscription_changed",
  "subscription_canceled",
  "subscription_paused",
  "subscription_resumed",
  "cancellation_scheduled",
  "cancellation_withdrawn",
  "trial_started",
  "trial_converted",
  "trial_ending",
] as const;

const paymentEvents = [
  "payment_succeeded",
  "payment_failed",
  "payment_refunded",
  "payment_disputed",
] as const;

/** What happened to the card that a payer pays with. They are of a payer, not of a subscription. */
const cardEvents = ["card_updated", "card_removed"] as const;

export type BillingEventName = (typeof subscriptionEvents)[number] | (typeof paymentEvents)[number];

type CardEventName = (typeof cardEvents)[number];

/** The names of billing events about cards. */
export const cardEventNames: readonly CardEventName[] = cardEvents;

/** Every name of a billing event about subscriptions and payments. */
export const billingEventNames: readonly BillingEventName[] = [...subscriptionEvents, ...paymentEvents];

/** The names of payments among them. */
export const paymentEventNames: readonly BillingEventName[] = paymentEvents;

const names: ReadonlySet<string> = new Set(billingEventNames);
const namesOfPayments: ReadonlySet<string> = new Set(paymentEventNames);
const namesOfCards: ReadonlySet<string> = new Set(cardEventNames);

/** What a subscription is, as its billing tool says it. */
const toldStatuses = ["trialing", "active", "past_due", "paused", "canceled"] as const;
export type ToldStatus = (typeof toldStatuses)[number];

/** Limits of billing events. */
export const billingLimits = {
  /** Of one interval: a daily amount of this size has an MRR that a number represents exactly. */
  amountMinorUnits: 100_000_000_000_000,
  quantity: 1_000_000_000,
  intervalCount: 999,
  textCharacters: 1_000,
} as const;

/** The price's period: `{ count: 3, unit: "month" }` for "3 months". */
export interface BillingInterval {
  readonly count: number;
  readonly unit: "day" | "week" | "month" | "year";
}

/** Whether an event is a billing event: its name is one of them, and it carries a `subscriptionId`, or, when
 * it is a payment, an `amount`, or, when it is about a card, `cardExpires`. Null counts as absent. */
export function isBillingEvent(
  event: string,
  properties: JsonObject,
): event is BillingEventName | CardEventName {
  if (isCardEvent(event)) return isSent(properties.cardExpires);
  if (!names.has(event)) return false;
  return isSent(properties.subscriptionId) || (namesOfPayments.has(event) && isSent(properties.amount));
}

/** Whether an event is about a card, by its name: then it changes no subscription. */
export function isCardEvent(event: string): event is CardEventName {
  return namesOfCards.has(event);
}

/** Whether a billing event is a payment, a failed one, a refund or a dispute. Its amount is no price of a
 * subscription. */
export function isPayment(event: BillingEventName): boolean {
  return namesOfPayments.has(event);
}

/** The interval of "month", "3 months" or "1 YEAR"; undefined for anything else. */
export function billingInterval(text: string): BillingInterval | undefined {
  const match = /^(?:(\d{1,3}) ?)?(day|week|month|year)s?$/i.exec(text);
  const count = Number(match?.[1] ?? 1);
  const unit = match?.[2]?.toLowerCase();
  if (count < 1) return undefined;
  return unit === "day" || unit === "week" || unit === "month" || unit === "year"
    ? { count, unit }
    : undefined;
}

/** Whether a value is a whole number of minor units within the limit. */
export function isAmount(value: unknown): value is number {
  return isWhole(value, billingLimits.amountMinorUnits);
}

/** A status in small letters; undefined for a text that is none. */
export function toldStatus(text: string): ToldStatus | undefined {
  return toldStatuses.find((status) => status === text.toLowerCase());
}

/** Whether a value can be the version of a tool's object: a whole number that JSON keeps. */
export function isResourceVersion(value: unknown): value is number {
  return isWhole(value, Number.MAX_SAFE_INTEGER);
}

/** Whether a value is a quantity within the limit. */
export function isQuantity(value: unknown): value is number {
  return isWhole(value, billingLimits.quantity);
}

/** Whether a value is the last month of a card, such as 2026-11. */
export function isCardMonth(value: unknown): value is string {
  return typeof value === "string" && /^(19[7-9]\d|2[0-2]\d\d)-(0[1-9]|1[0-2])$/.test(value);
}

/** An identifier as text; undefined for a value that is none. A whole number counts as its decimal digits. */
export function billingId(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : undefined;
  const isId = typeof value === "string" && value.length > 0 && value.length <= limits.identifierCharacters;
  return isId ? value : undefined;
}

/**
 * The first problem of a billing event's properties, as a sentence that names the field and says what to
 * send; undefined without one. Fields that are not sent keep their last value, so few are required: an amount
 * needs its currency in the same event, and `subscription_started` with an amount needs its interval. Other
 * properties of a payment mean nothing here and are not judged.
 * @param isTime whether a text is a time as the write API reads them
 */
export function whyNotBilling(
  event: string,
  properties: JsonObject,
  isTime: (text: string) => boolean,
): string | undefined {
  if (!isBillingEvent(event, properties)) return undefined;
  for (const [field, isValid, isWhat] of rulesOf(event)) {
    const value = properties[field];
    if (isSent(value) && !isValid(value, isTime)) return `properties.${field} is ${isWhat}.`;
  }
  return isCardEvent(event) ? undefined : whatIsMissing(event, properties);
}

function rulesOf(event: BillingEventName | CardEventName): readonly Rule[] {
  if (isCardEvent(event)) return rulesOfCards;
  return isPayment(event) ? rulesOfPayments : rules;
}

function whatIsMissing(event: string, properties: JsonObject): string | undefined {
  const has = (field: string) => isSent(properties[field]);
  if (has("amount") && !has("currency")) {
    return "properties.currency is missing: send a currency such as USD with every amount.";
  }
  if (event === "subscription_started" && has("amount") && !has("interval")) {
    return "properties.interval is missing: send the interval that the amount is for, such as month.";
  }
  if (!namesOfPayments.has(event) && has("discountEndsAt") !== has("amountAfterDiscount")) {
    const [missing, sent] = has("discountEndsAt")
      ? ["amountAfterDiscount", "discountEndsAt"]
      : ["discountEndsAt", "amountAfterDiscount"];
    return `properties.${missing} is missing: send it with ${sent}.`;
  }
  return undefined;
}

type Rule = readonly [
  field: string,
  isValid: (value: unknown, isTime: (text: string) => boolean) => boolean,
  isWhat: string,
];

const notAnAmount = "not a whole number of minor units: send 4900 for 49.00 USD";
const notATime =
  "not a time: send an ISO 8601 date-time with Z or an offset such as 2026-05-17T09:30:00Z, or a date such as 2026-05-17, of the years 1970 to 2299";
const identifierRule = (field: string): Rule => [
  field,
  (value) => billingId(value) !== undefined,
  `not an identifier: send a string of 1 to ${limits.identifierCharacters} characters, or a whole number`,
];
const timeRule = (field: string): Rule => [
  field,
  (value, isTime) => typeof value === "string" && isTime(value),
  notATime,
];
const textRule = (field: string, maxCharacters: number): Rule => [
  field,
  (value) => typeof value === "string" && value.length <= maxCharacters,
  `not a text: send a string of at most ${maxCharacters} characters`,
];

const rulesOfPayments: readonly Rule[] = [
  ...["subscriptionId", "accountId", "invoiceId"].map(identifierRule),
  ["amount", isAmount, notAnAmount],
  [
    "currency",
    (value) => typeof value === "string" && currencyCode(value) !== undefined,
    "not a currency of ISO 4217: send a code such as USD",
  ],
  [
    "resourceVersion",
    isResourceVersion,
    "not a whole number from 0: send the version of the subscription, which grows with each change",
  ],
];

const rulesOfCards: readonly Rule[] = [
  identifierRule("accountId"),
  ["cardExpires", isCardMonth, "not a month: send the last month of the card, such as 2026-11"],
];

const rules: readonly Rule[] = [
  ...rulesOfPayments,
  ["amountAfterDiscount", isAmount, notAnAmount],
  [
    "interval",
    (value) => typeof value === "string" && billingInterval(value) !== undefined,
    "not an interval: send day, week, month or year, or several of them such as 3 months",
  ],
  [
    "status",
    (value) => typeof value === "string" && toldStatus(value) !== undefined,
    `not a status: send one of ${toldStatuses.join(", ")}`,
  ],
  ["isTransfer", (value) => typeof value === "boolean", "not true or false"],
  ["quantity", isQuantity, `not a whole number from 0 to ${billingLimits.quantity}: send 5 for five seats`],
  ...["currentPeriodEnd", "trialEndsAt", "endsAt", "discountEndsAt"].map(timeRule),
  textRule("plan", limits.identifierCharacters),
  ...["reason", "feedback"].map((field) => textRule(field, billingLimits.textCharacters)),
];

function isSent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isWhole(value: unknown, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most;
}
