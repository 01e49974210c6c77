/** Amounts of RevenueCat, whose prices are decimals. */
import { currencyCode, currencyDigits } from "../../../contract/billing/currencies.ts";

/** A price in minor units of its currency. Undefined without a currency of ISO 4217. */
export function minorUnits(price: number | undefined, currency: string | undefined): number | undefined {
  const code = currencyCode(currency ?? "");
  if (price === undefined || code === undefined) return undefined;
  const amount = Math.round(price * 10 ** currencyDigits(code));
  return Number.isSafeInteger(amount) ? amount : undefined;
}
