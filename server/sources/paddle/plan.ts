/** Reads the plan of a Paddle subscription. */
import type { JsonObject } from "../../../contract/json.ts";
import { amountOf, intervalText, numberOf, objectsOf, textOf } from "../billing/fields.ts";
import type { Plan } from "../billing/plan.ts";

/** The plan of a subscription: of its first recurring item, with the amounts of all. Notifications have no
 * amount of its discount. */
export function planOf(data: JsonObject): Plan {
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
export function planOfTransaction(data: JsonObject): string | undefined {
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
