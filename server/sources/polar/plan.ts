/** Reads the plan of a Polar subscription. Its amount is that of fixed prices and seats, before the discount
 * and without tax. */
import type { JsonObject } from "../../../contract/json.ts";
import { amountOf, fieldOf, intervalText, msOf, numberOf, textOf } from "../billing/fields.ts";
import type { Plan } from "../billing/plan.ts";
import type { Subscription } from "../billing/subscription.ts";

/** @param atMs the time of the event, at which a discount may have ended */
export function planOf(data: JsonObject, atMs: number): Plan {
  const amount = amountOf(data, "amount");
  return {
    name: textOf(data, "product", "name"),
    amount: amount === undefined || !holds(data, atMs) ? amount : discounted(data, amount),
    currency: textOf(data, "currency"),
    interval: intervalText(
      textOf(data, "recurring_interval"),
      numberOf(data, "recurring_interval_count") ?? 1,
    ),
    quantity: numberOf(data, "seats"),
  };
}

/** The end of a discount of some months, and the amount from then on; undefined if none ends later. */
export function discountEndOf(data: JsonObject, atMs: number): Subscription["discount"] {
  const [endMs, amount] = [discountEndMs(data), amountOf(data, "amount")];
  if (endMs === undefined || endMs <= atMs || amount === undefined) return undefined;
  return { discountEndsAt: new Date(endMs).toISOString(), amountAfterDiscount: amount };
}

/** Whether a discount holds that recurs. One of a single invoice says nothing of the plan. */
function holds(data: JsonObject, atMs: number): boolean {
  const duration = textOf(data, "discount", "duration");
  if (duration === "forever") return true;
  const endMs = discountEndMs(data);
  return endMs !== undefined && endMs > atMs;
}

/** Months are counted from the subscription's start. */
function discountEndMs(data: JsonObject): number | undefined {
  if (textOf(data, "discount", "duration") !== "repeating") return undefined;
  const startMs = msOf(data, "started_at") ?? msOf(data, "created_at");
  const months = numberOf(data, "discount", "duration_in_months");
  if (startMs === undefined || months === undefined || !isMonths(months)) return undefined;
  const start = new Date(startMs);
  const end = new Date(startMs);
  end.setUTCMonth(start.getUTCMonth() + months);
  // The 31st of January and a month is the end of February.
  if (end.getUTCDate() !== start.getUTCDate()) end.setUTCDate(0);
  return end.getTime();
}

function isMonths(months: number): boolean {
  return Number.isInteger(months) && months > 0 && months <= 1_200;
}

function discounted(data: JsonObject, amount: number): number {
  const discount = fieldOf(data, "discount");
  const basisPoints = numberOf(discount, "basis_points");
  const off =
    basisPoints === undefined
      ? (amountOf(discount, "amount") ?? 0)
      : Math.round((amount * basisPoints) / 10_000);
  return Math.min(amount, Math.max(0, amount - off));
}
