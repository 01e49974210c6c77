/**
 * The price of a Stripe subscription as billing events have it: without metered parts, after discounts that
 * recur, without tax, in the minor units of ISO 4217. Payloads may have only the ids of discounts. Then the
 * price is without them.
 */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { fieldOf, instantOf, numberOf, secondsOf, textOf } from "../billing/fields.ts";
import { billedAYear } from "../billing/interval.ts";
import { isoAmount } from "./minor-units.ts";
import { type Line, linesOf, listOf } from "./plan.ts";

/** Amounts are of one interval. */
export interface Price {
  readonly amount: number | undefined;
  /** In seconds: the end of the discount that ends first. Undefined if none ends. */
  readonly discountEndsAt: number | undefined;
  readonly amountAfterDiscount: number | undefined;
  /** The interval of the amount. Undefined with one interval: that of the plan. */
  readonly interval?: string;
  /** A part is priced in tiers: only invoices have its amount. */
  readonly isInvoiced?: boolean;
}

interface Discount {
  readonly percentOff: number | undefined;
  readonly amountOff: number | undefined;
  readonly endsAt: number | undefined;
  /** Undefined: all products. */
  readonly products: ReadonlySet<string> | undefined;
}

/** Stripe allows 20 parts, and 20 discounts of each object. The work is their product, so a price of more is
 * not computed. */
const most = 100;

/** The price of a subscription. @param atSeconds the time of the event: discounts that have ended count no
 * more */
export function priceOf(subscription: JsonObject, atSeconds: number): Price {
  const lines = linesOf(subscription);
  const discounted = [subscription, ...lines.map(({ item }) => item)].map(({ discounts }) => discounts);
  if ([lines, ...discounted].some((list) => Array.isArray(list) && list.length > most)) {
    return { ...noDiscount, amount: undefined };
  }
  const priced = lines.filter(({ isMetered }) => !isMetered);
  const [first] = priced;
  if (first === undefined) return { ...noDiscount, amount: lines.length > 0 ? 0 : undefined };
  const isOneInterval = priced.every(({ interval }) => interval === first.interval);
  // Without one part, such as one in tiers, the others would be a price that the customer does not pay.
  if (priced.some(({ amount }) => amount === undefined))
    return { ...noDiscount, amount: undefined, isInvoiced: isOneInterval };
  if (!isOneInterval) return priceOfIntervals(subscription, priced, atSeconds);
  if (priced.some(({ currency }) => currency !== first.currency)) return { ...noDiscount, amount: undefined };
  return discountedPrice(subscription, priced, atSeconds);
}

/** The price of parts that are billed at different intervals, for a year. A fixed discount is of one invoice,
 * whose parts are not known. */
function priceOfIntervals(subscription: JsonObject, lines: readonly Line[], atSeconds: number): Price {
  const [first] = lines;
  const scaled = lines.flatMap((line) => {
    const [times, { amount, currency }] = [billedAYear(line.interval), line];
    if (times === undefined || amount === undefined || currency !== first?.currency) return [];
    return { ...line, amount: amount * times };
  });
  const hasFixed = [subscription, ...lines.map(({ item }) => item)].some((object) =>
    discountsOf(object, atSeconds).some(({ amountOff }) => amountOff !== undefined),
  );
  if (scaled.length < lines.length || hasFixed) return { ...noDiscount, amount: undefined };
  return { ...discountedPrice(subscription, scaled, atSeconds), interval: "year" };
}

function discountedPrice(subscription: JsonObject, priced: readonly Line[], atSeconds: number): Price {
  const amountAt = (seconds: number) => Math.round(netOf(subscription, priced, seconds));
  const ends = [subscription, ...priced.map(({ item }) => item)]
    .flatMap((object) => discountsOf(object, atSeconds))
    .flatMap(({ endsAt }) => endsAt ?? []);
  const amount = amountAt(atSeconds);
  if (ends.length === 0) return { ...noDiscount, amount };
  const discountEndsAt = Math.min(...ends);
  return { amount, discountEndsAt, amountAfterDiscount: amountAt(discountEndsAt) };
}

const noDiscount = { discountEndsAt: undefined, amountAfterDiscount: undefined } as const;

/** Discounts of items come first, then those of the subscription, each of what the ones before have left. */
function netOf(subscription: JsonObject, lines: readonly Line[], seconds: number): number {
  const parts = lines.map(({ amount = 0, product, item }) => {
    const own = discountsOf(item, seconds).reduce((left, one) => reduced(left, one, left), amount);
    return { product, amount: own, keeps: shareWithoutTax(item, subscription) };
  });
  for (const discount of discountsOf(subscription, seconds)) {
    const { products } = discount;
    const reducible = parts.filter(({ product }) => products?.has(product ?? "") ?? true);
    const total = reducible.reduce((sum, { amount }) => sum + amount, 0);
    for (const part of reducible) part.amount = reduced(part.amount, discount, total);
  }
  return parts.reduce((sum, { amount, keeps }) => sum + amount * keeps, 0);
}

/** @param total the sum among whose parts a fixed amount is divided */
function reduced(amount: number, { percentOff, amountOff }: Discount, total: number): number {
  if (percentOff !== undefined) return amount * (1 - percentOff / 100);
  if (amountOff === undefined || total <= 0) return amount;
  return amount * (1 - Math.min(amountOff, total) / total);
}

/** Discounts that recur and have not ended. Older versions of the API have one `discount`. */
function discountsOf(object: JsonObject, atSeconds: number): readonly Discount[] {
  const { discounts, discount } = object;
  const several = Array.isArray(discounts) ? discounts.filter(isJsonObject) : [];
  const sent = several.length > 0 ? several : [discount].filter(isJsonObject);
  return sent.flatMap((one) => {
    const coupon = fieldOf(one, "coupon") ?? fieldOf(one, "source", "coupon");
    const duration = textOf(coupon, "duration");
    const endsAt = duration === "repeating" ? numberOf(one, "end") : undefined;
    // A discount of one invoice is no part of the price.
    if (duration !== "forever" && endsAt === undefined) return [];
    if (endsAt !== undefined && endsAt <= atSeconds) return [];
    const products = fieldOf(coupon, "applies_to", "products");
    return {
      percentOff: numberOf(coupon, "percent_off"),
      amountOff: isoAmount(numberOf(coupon, "amount_off"), textOf(coupon, "currency")),
      endsAt,
      products: Array.isArray(products) ? new Set(products.map(String)) : undefined,
    };
  });
}

/** The part of a price that is no tax: prices may include it. */
function shareWithoutTax(item: JsonObject, subscription: JsonObject): number {
  const own = ratesOf(item, "tax_rates");
  const rates = own.length > 0 ? own : ratesOf(subscription, "default_tax_rates");
  const included = rates.filter((rate) => fieldOf(rate, "inclusive") === true);
  return 100 / included.reduce((sum, rate) => sum + (numberOf(rate, "percentage") ?? 0), 100);
}

function ratesOf(object: JsonObject, key: string): readonly JsonObject[] {
  const rates = object[key];
  return Array.isArray(rates) ? rates.filter(isJsonObject) : listOf(object, key);
}

/** The end of the paid period, as an instant. Since 2025 items have it. */
export function periodEndOf(subscription: JsonObject): string | undefined {
  const [item] = listOf(subscription, "items");
  return instantOf(subscription, "current_period_end") ?? instantOf(item, "current_period_end");
}

/** The start of the paid period, in seconds. Since 2025 items have it. */
export function periodStartOf(subscription: JsonObject): number | undefined {
  const [item] = listOf(subscription, "items");
  return secondsOf(subscription, "current_period_start") ?? secondsOf(item, "current_period_start");
}

/** The discounts among the fields that an update changed. */
export function discountsIn(before: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(before).filter(([key]) => key === "discount" || key === "discounts"),
  );
}

/** Whether two prices are the same, discounts that end included. */
export function isSamePrice(one: Price, other: Price): boolean {
  return (["amount", "interval", "discountEndsAt", "amountAfterDiscount"] as const).every(
    (key) => one[key] === other[key],
  );
}
