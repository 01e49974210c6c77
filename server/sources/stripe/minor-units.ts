/** Amounts of Stripe in the minor units of ISO 4217. */

/**
 * Stripe's minor units for one of ISO 4217, where the two differ (docs.stripe.com/currencies, special cases).
 * ISK and UGX have no minor units but two digits in Stripe's amounts. MGA has two digits, and none in
 * Stripe's amounts.
 */
const stripeUnits: ReadonlyMap<string, number> = new Map([
  ["ISK", 100],
  ["UGX", 100],
  ["MGA", 0.01],
]);

/** An amount of Stripe's in minor units of ISO 4217: 5 for 500 of ISK. Undefined beyond exact numbers. */
export function isoAmount(amount: number | undefined, currency: string | undefined): number | undefined {
  if (amount === undefined) return undefined;
  const converted = Math.round(amount / (stripeUnits.get(currency?.toUpperCase() ?? "") ?? 1));
  return Number.isSafeInteger(converted) ? converted : undefined;
}
