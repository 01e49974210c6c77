/** Currencies whose minor units differ between Stripe and ISO 4217: docs.stripe.com/currencies, special
 * cases. */
import { describe, expect, test } from "bun:test";
import { currencyDigits } from "../../contract/billing/currencies.ts";
import { propertiesOf, traitsOf } from "./stripe-items.ts";
import { charge, invoice, price, stripeEvent, subscription, subscriptionItem } from "./stripe-objects.ts";

describe.each([
  ["isk", 500, 5],
  ["UGX", 38_000, 380],
  ["mga", 500, 50_000],
  ["jpy", 500, 500],
  ["huf", 500, 500],
  ["kwd", 5_120, 5_120],
  ["xof", 500, 500],
])("%s: %p of Stripe's", (currency, amount, minorUnits) => {
  test(`are ${minorUnits} minor units in subscriptions, invoices and refunds`, () => {
    const item = subscriptionItem({ quantity: 2 }, price({ currency, unit_amount: amount }));
    const started = stripeEvent("customer.subscription.created", subscription({}, [item]));
    expect(propertiesOf(started)).toMatchObject({ amount: 2 * minorUnits });
    expect(traitsOf(started)).toMatchObject({ planAmount: 2 * minorUnits });
    const failed = stripeEvent("invoice.payment_failed", invoice({ currency, amount_due: amount }));
    expect(propertiesOf(failed)).toMatchObject({ amount: minorUnits, currency });
    const refund = charge({ currency, amount: 3 * amount, amount_refunded: 3 * amount });
    const refunded = stripeEvent("charge.refunded", refund, { before: { amount_refunded: amount } });
    expect(propertiesOf(refunded)).toMatchObject({ amount: 2 * minorUnits });
  });
});

test("Stripe's three digits of dinars and its whole yen are those of ISO 4217", () => {
  expect(["BHD", "JOD", "KWD", "OMR", "TND"].map(currencyDigits)).toEqual([3, 3, 3, 3, 3]);
  const whole = "BIF CLP DJF GNF JPY KMF KRW PYG RWF VND VUV XAF XOF XPF";
  expect(new Set(whole.split(" ").map(currencyDigits))).toEqual(new Set([0]));
});
