/** The settings of revenue: one reporting currency, and one set of rates for all dates. */
import Type from "typebox";
import { currencyCode } from "./currencies.ts";

const rateLimits = { currencies: 200, least: 1e-9, most: 1e9 } as const;

export const ReportingCurrency = Type.String({
  pattern: "^[A-Z]{3}$",
  description:
    "The currency of revenue figures, an ISO 4217 code. Null: the currency of most changes of subscriptions. Only owners can change it.",
  "x-send": "the code of a currency, such as USD",
});

export const CurrencyRate = Type.Number({
  minimum: rateLimits.least,
  maximum: rateLimits.most,
  description: "Units of the reporting currency for one unit of this currency.",
  "x-send": `a number from ${rateLimits.least} to ${rateLimits.most}`,
});

export const currencyRatesOptions = {
  maxProperties: rateLimits.currencies,
  propertyNames: Type.String({ pattern: "^[A-Z]{3}$", "x-send": "the code of a currency, such as USD" }),
  description:
    "Exchange rates by currency, in units of the reporting currency: 1.08 for EUR if USD is the reporting currency. A rate holds for all dates. Only owners can change rates.",
  "x-send": 'an object of currencies and their rates, such as {"EUR": 1.08}',
} as const;

/** The settings of money, by name. */
export const revenueSettings = ["reportingCurrency", "currencyRates"] as const;

interface Money {
  readonly reportingCurrency: string | null;
  readonly currencyRates: Readonly<Record<string, number>>;
}

/** The problem with the settings of revenue, as the text of a refusal; undefined for valid ones. */
export function ratesProblem({ reportingCurrency, currencyRates }: Money): string | undefined {
  if (reportingCurrency !== null && currencyCode(reportingCurrency) === undefined) {
    return `reportingCurrency is ${reportingCurrency}, which is no currency of ISO 4217: send a code such as USD.`;
  }
  const codes = Object.keys(currencyRates);
  const unknown = codes.find((code) => currencyCode(code) === undefined);
  if (unknown !== undefined) {
    return `currencyRates has ${unknown}, which is no currency of ISO 4217: send codes such as EUR.`;
  }
  if (codes.length > 0 && reportingCurrency === null) {
    return "currencyRates need a reportingCurrency: send both.";
  }
  if (reportingCurrency !== null && Object.hasOwn(currencyRates, reportingCurrency)) {
    return `currencyRates has ${reportingCurrency}, the reporting currency, whose rate is 1: send null for it.`;
  }
  if (codes.length <= rateLimits.currencies) return undefined;
  return `currencyRates would have more than ${rateLimits.currencies} currencies: send null for currencies that need no rate.`;
}
