/** Rates as they are typed, and as the API takes them. */
import type { Reads } from "../../api/paths.ts";

type Settings = Reads["/api/settings"]["answer"]["settings"];
type Revenue = Reads["/api/revenue"]["answer"];

/** The settings of money, as typed. */
export interface Money {
  /** Empty: the currency that most changes of subscriptions have. */
  readonly reportingCurrency: string;
  /** By currency. An empty text is no rate. */
  readonly rates: Readonly<Record<string, string>>;
}

/** The saved settings as texts. */
export function typedOf({ reportingCurrency, currencyRates }: Settings): Money {
  const texts = Object.entries(currencyRates).map(([currency, rate]) => [currency, String(rate)]);
  return { reportingCurrency: reportingCurrency ?? "", rates: Object.fromEntries(texts) };
}

/** The change from one to the other, as the API takes it: null for a rate that was removed. */
export function changeOf(base: Money, { reportingCurrency, rates }: Money) {
  const currencies = [...new Set([...Object.keys(base.rates), ...Object.keys(rates)])];
  const changed = currencies.filter((currency) => (base.rates[currency] ?? "") !== (rates[currency] ?? ""));
  return {
    ...(base.reportingCurrency !== reportingCurrency && { reportingCurrency: reportingCurrency || null }),
    ...(changed.length > 0 && {
      currencyRates: Object.fromEntries(
        changed.map((currency) => [currency, rates[currency] ? numberOf(rates[currency]) : null]),
      ),
    }),
  };
}

/** The problem with a typed rate, in words. Undefined for a rate, and for none. */
export function problemOf(typed: string | undefined): string | undefined {
  if (!typed) return undefined;
  return numberOf(typed) > 0
    ? undefined
    : "Enter a number above 0, such as 1.08. Leave it empty for no rate.";
}

/** The number of a text. NaN for none. */
function numberOf(typed: string): number {
  return Number(typed.trim() || Number.NaN);
}

/** The currencies that a rate can be set for: those with one, those of subscriptions, and those that were
 * added. */
export function currenciesOf({ reportingCurrency, rates }: Money, used: Revenue): string[] {
  const known = [
    ...Object.keys(rates),
    ...used.unrated.map(({ currency }) => currency),
    ...used.rates.map(({ currency }) => currency),
    used.reportingCurrency,
  ];
  return [...new Set(known)].filter((currency) => currency !== reportingCurrency).toSorted();
}
