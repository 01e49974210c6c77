/** Reads the plan of a Chargebee subscription, in both of its product catalogs. */
import type { JsonObject } from "../../contract/json.ts";
import { amountOf, intervalText, msOf, numberOf, objectsOf, textOf } from "./billing/fields.ts";
import { billedAYear } from "./billing/interval.ts";
import type { Plan } from "./billing/plan.ts";
import type { Subscription } from "./billing/subscription.ts";

/** A recurring part of a subscription. */
interface Line {
  readonly id: string | undefined;
  /** For the whole quantity. Undefined if the payload has none. */
  readonly amount: number | undefined;
  readonly quantity: number | undefined;
  readonly interval: string | undefined;
}

/**
 * The plan of a subscription. Product Catalog 2.0 has `subscription_items`, 1.0 has `plan_id` and `addons`.
 * @param atMs the time of the event: a discount that ended before does not count
 */
export function planOf(subscription: JsonObject, atMs: number): Plan {
  const [first] = linesOf(subscription);
  return {
    name: first?.id ?? textOf(subscription, "plan_id"),
    amount: amountAt(subscription, atMs),
    currency: textOf(subscription, "currency_code"),
    interval: isOfOneInterval(subscription) ? intervalOf(subscription) : "year",
    quantity: first?.quantity,
  };
}

/** The discount that ends first after the event, and the amount from then on. Renewals tell of later ends. */
export function discountEndOf(subscription: JsonObject, atMs: number): Subscription["discount"] {
  const ends = objectsOf(subscription, "discounts")
    .filter(isRecurring)
    .flatMap((discount) => msOf(discount, "apply_till") ?? [])
    .filter((endMs) => endMs > atMs);
  if (ends.length === 0) return undefined;
  const endMs = ends.reduce((first, one) => Math.min(first, one));
  const amountAfterDiscount = amountAt(subscription, endMs);
  if (amountAfterDiscount === undefined) return undefined;
  return { discountEndsAt: new Date(endMs).toISOString(), amountAfterDiscount };
}

/** The amount at a time; undefined if the payload does not tell it. */
function amountAt(subscription: JsonObject, atMs: number): number | undefined {
  const lines = isOfOneInterval(subscription) ? linesOf(subscription) : linesOfYear(subscription);
  const amounts = lines.map((line) => line.amount);
  const isKnown =
    textOf(subscription, "currency_code") !== undefined &&
    lines.length > 0 &&
    amounts.every((amount) => amount !== undefined);
  return isKnown ? discounted(lines, objectsOf(subscription, "discounts"), atMs) : undefined;
}

function linesOf(subscription: JsonObject): readonly Line[] {
  const items = objectsOf(subscription, "subscription_items");
  return items.length > 0 ? linesOfItems(items) : linesOfPlan(subscription);
}

function isRecurring(discount: JsonObject): boolean {
  return textOf(discount, "duration_type") !== "one_time";
}

/** Whether all lines are billed as often as the subscription. */
function isOfOneInterval(subscription: JsonObject): boolean {
  const own = intervalOf(subscription);
  return linesOf(subscription).every(({ interval }) => interval === undefined || interval === own);
}

/** Lines with the amounts of a year. A fixed discount is of one invoice, which need not have all lines, so
 * nothing is known then. */
function linesOfYear(subscription: JsonObject): readonly Line[] {
  const own = intervalOf(subscription);
  const hasFixed = objectsOf(subscription, "discounts").some(
    (discount) => isRecurring(discount) && numberOf(discount, "percentage") === undefined,
  );
  return linesOf(subscription).map((line) => {
    const times = hasFixed ? undefined : billedAYear(line.interval ?? own);
    return { ...line, amount: times && line.amount && Math.round(line.amount * times) };
  });
}

/** The plan's item first. One-off charges and metered items have no recurring amount. */
function linesOfItems(items: readonly JsonObject[]): readonly Line[] {
  const recurring = items.filter(
    (item) => textOf(item, "item_type") !== "charge" && item.metered_quantity === undefined,
  );
  const isPlan = (item: JsonObject) => textOf(item, "item_type") === "plan";
  return [...recurring.filter(isPlan), ...recurring.filter((item) => !isPlan(item))].map((item) =>
    lineOf(item, textOf(item, "item_price_id")),
  );
}

function linesOfPlan(subscription: JsonObject): readonly Line[] {
  const quantity = numberOf(subscription, "plan_quantity");
  const plan = {
    amount: subscription.plan_amount,
    unit_price: subscription.plan_unit_price,
    quantity,
  };
  const addons = objectsOf(subscription, "addons");
  return [
    lineOf(plan, textOf(subscription, "plan_id")),
    ...addons.map((addon) => lineOf(addon, textOf(addon, "id"))),
  ];
}

function lineOf(item: JsonObject, id: string | undefined): Line {
  const quantity = numberOf(item, "quantity");
  const unit = amountOf(item, "unit_price");
  const amount = amountOf(item, "amount") ?? (unit === undefined ? undefined : unit * (quantity ?? 1));
  return { id, amount: amountOf({ amount }, "amount"), quantity, interval: intervalOf(item) };
}

function intervalOf(holder: JsonObject): string | undefined {
  return intervalText(textOf(holder, "billing_period_unit"), numberOf(holder, "billing_period"));
}

/** The amount after recurring discounts. Those of one invoice do not count. */
function discounted(
  lines: readonly Line[],
  discounts: readonly JsonObject[],
  atMs: number,
): number | undefined {
  let total = lines.reduce((sum, { amount }) => sum + (amount ?? 0), 0);
  const amounts = new Map(lines.map(({ id, amount }) => [id, amount]));
  for (const discount of discounts) {
    const endMs = msOf(discount, "apply_till");
    if (!isRecurring(discount) || (endMs !== undefined && endMs <= atMs)) continue;
    const itemId = textOf(discount, "item_price_id");
    const base = itemId === undefined ? total : (amounts.get(itemId) ?? 0);
    const percentage = numberOf(discount, "percentage");
    const off = percentage === undefined ? (amountOf(discount, "amount") ?? 0) : (base * percentage) / 100;
    total -= Math.min(base, Math.max(0, off));
  }
  const rounded = Math.max(0, Math.round(total));
  return Number.isSafeInteger(rounded) ? rounded : undefined;
}
