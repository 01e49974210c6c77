/** Fits the properties of billing tools' events to those that admission takes: a tool cannot correct them. */

import { currencyCode } from "../../../contract/billing/currencies.ts";
import {
  billingId,
  billingInterval,
  billingLimits,
  isAmount,
  isBillingEvent,
  isCardMonth,
  isQuantity,
} from "../../../contract/billing/events.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";

type IsRight = (value: unknown) => boolean;

const isText = (read: (text: string) => unknown) => (value: unknown) =>
  typeof value === "string" && read(value) !== undefined;

const rights: Readonly<Record<string, IsRight>> = {
  subscriptionId: (value) => billingId(value) !== undefined,
  invoiceId: (value) => billingId(value) !== undefined,
  accountId: (value) => billingId(value) !== undefined,
  amount: isAmount,
  cardExpires: isCardMonth,
  amountAfterDiscount: isAmount,
  currency: isText(currencyCode),
  interval: isText(billingInterval),
  quantity: isQuantity,
};

const longest: Readonly<Record<string, number>> = {
  plan: limits.identifierCharacters,
  reason: billingLimits.textCharacters,
  feedback: billingLimits.textCharacters,
};

/** The properties without values that a billing event cannot have, and with texts cut to their limits. An
 * event that is no billing event is left as it is. @param accountId of metadata, which names the payer */
export function fittedProperties(
  event: string,
  properties: JsonObject,
  accountId: string | undefined,
): JsonObject {
  if (!isBillingEvent(event, properties)) return properties;
  const entries = Object.entries({ ...properties, ...(accountId !== undefined && { accountId }) });
  const kept = Object.fromEntries(
    entries
      .filter(([field, value]) => rights[field]?.(value) ?? true)
      .map(([field, value]) => [field, typeof value === "string" ? cut(value, longest[field]) : value]),
  );
  const isPriced =
    kept.currency !== undefined && (kept.interval !== undefined || event !== "subscription_started");
  if (!isPriced || kept.amount === undefined) return without(kept, ["amount", ...ofDiscount]);
  return ofDiscount.every((field) => kept[field] !== undefined) ? kept : without(kept, ofDiscount);
}

/** One means nothing without the other. An amount means nothing without its currency and, at the start, its
 * interval. */
const ofDiscount = ["amountAfterDiscount", "discountEndsAt"];

/** A text up to its limit. A character that is cut in two cannot be stored. */
function cut(text: string, characters: number | undefined): string {
  return text.slice(0, characters).toWellFormed();
}

function without(properties: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([field]) => !fields.includes(field)));
}
