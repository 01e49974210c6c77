/**
 * What the recurring parts of an invoice cost for one interval. A subscription's object has no amount for a
 * price in tiers; its invoices have.
 */
import type { JsonObject } from "../../../contract/json.ts";
import { fieldOf, msOf, numberOf, objectsOf, textOf } from "../billing/fields.ts";
import { intervalBetween } from "../billing/interval.ts";
import { isoAmount } from "./minor-units.ts";
import { listOf } from "./plan.ts";

/** Properties of a payment: `recurringAmount` and `recurringInterval`, after the invoice's discounts and
 * without tax. Nothing when each part has a price for each unit, which the subscription's object has, too, or
 * when the invoice does not have all of its parts. */
export function recurringPartOf(invoice: JsonObject): JsonObject {
  if (fieldOf(invoice, "lines", "has_more") === true) return {};
  const lines = listOf(invoice, "lines").filter((line) => isRecurring(line, invoice));
  if (lines.every(isPricedForEachUnit)) return {};
  const [interval, ...others] = new Set(
    lines.map((line) => intervalBetween(msOf(line, "period", "start"), msOf(line, "period", "end"))),
  );
  // An invoice of several intervals need not have the parts that are billed at other times.
  if (interval === undefined || others.length > 0) return {};
  const net = lines.reduce((sum, line) => sum + netOf(line), 0);
  const recurringAmount = isoAmount(Math.max(0, net), textOf(invoice, "currency"));
  return recurringAmount === undefined ? {} : { recurringAmount, recurringInterval: interval };
}

/** Whether a line is a part of the subscription's price: no proration, no one-off charge, and nothing
 * metered, which is billed after its period. */
function isRecurring(line: JsonObject, invoice: JsonObject): boolean {
  const isOfSubscription =
    textOf(line, "type") === "subscription" || textOf(line, "parent", "type") === "subscription_item_details";
  const isProration =
    line.proration === true || fieldOf(line, "parent", "subscription_item_details", "proration") === true;
  const usage = textOf(line, "price", "recurring", "usage_type") ?? textOf(line, "plan", "usage_type");
  const isInAdvance = (numberOf(line, "period", "end") ?? 0) > (numberOf(invoice, "created") ?? 0);
  return isOfSubscription && !isProration && usage !== "metered" && isInAdvance;
}

/** The newest versions of the API have ids of prices alone, which do not tell. */
function isPricedForEachUnit(line: JsonObject): boolean {
  return [line.price, line.plan].some(
    (price) =>
      fieldOf(price, "unit_amount") !== undefined ||
      fieldOf(price, "unit_amount_decimal") !== undefined ||
      fieldOf(price, "amount") !== undefined,
  );
}

function netOf(line: JsonObject): number {
  const sumOf = (amounts: readonly JsonObject[]) =>
    amounts.reduce((sum, one) => sum + (numberOf(one, "amount") ?? 0), 0);
  const taxes = [...objectsOf(line, "tax_amounts"), ...objectsOf(line, "taxes")];
  const included = taxes.filter(
    (tax) => tax.inclusive === true || textOf(tax, "tax_behavior") === "inclusive",
  );
  return (numberOf(line, "amount") ?? 0) - sumOf(objectsOf(line, "discount_amounts")) - sumOf(included);
}
