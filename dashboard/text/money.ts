/** Amounts of money as text. The API has them in minor units: 4,900 cents are $49.00. */
import { currencyDigits } from "../../contract/billing/currencies.ts";
import { nothing } from "./format.ts";

type AmountText = (minorUnits: number | null | undefined) => string;

/** Amounts of one currency as text. A missing amount is a dash. */
export interface Money {
  /** $4,100.50 */
  readonly exact: AmountText;
  /** $4,101: without decimals from 1,000 on, for sentences and large figures. $49.50 stays. */
  readonly short: AmountText;
  /** $4.1K, for axes */
  readonly compact: AmountText;
  /** +$4,100.50 */
  readonly change: AmountText;
}

// In en-US only the US dollar is $, and the Canadian is CA$. In en-GB it is US$. Their numbers look the same.
const locale = "en-US";
const shortFrom = 1_000;
const known = new Map<string, Money>();

/** The texts of a currency's amounts. @param currency its code: USD */
export function moneyIn(currency: string): Money {
  const money = known.get(currency) ?? textsOf(currency);
  known.set(currency, money);
  return money;
}

function textsOf(currency: string): Money {
  const digits = currencyDigits(currency);
  const text = (options: Intl.NumberFormatOptions) => {
    const format = new Intl.NumberFormat(locale, { style: "currency", currency, ...options });
    return (minorUnits: number) => format.format(minorUnits / 10 ** digits);
  };
  // Browsers do not agree on the digits of every currency.
  const all = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const [exact, whole] = [text(all), text({ minimumFractionDigits: 0, maximumFractionDigits: 0 })];
  const isLarge = (minorUnits: number) => Math.abs(minorUnits) >= shortFrom * 10 ** digits;
  return {
    exact: orNothing(exact),
    short: orNothing((minorUnits) => (isLarge(minorUnits) ? whole : exact)(minorUnits)),
    compact: orNothing(
      text({ notation: "compact", minimumFractionDigits: 0, maximumFractionDigits: Math.min(1, digits) }),
    ),
    change: orNothing(text({ ...all, signDisplay: "exceptZero" })),
  };
}

const orNothing =
  (text: (minorUnits: number) => string): AmountText =>
  (minorUnits) =>
    minorUnits == null ? nothing : text(minorUnits);
