/** Currencies and their minor units, as ISO 4217 has them. */

/** Codes that are in use, and codes that were withdrawn since 2005, which an imported history may have. */
const twoDigits =
  "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUC " +
  "CUP CVE CYP CZK DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR " +
  "JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL LTL LVL MAD MDL MGA MKD MMK MNT MOP MRO MRU MTL MUR MVR MWK MXN MYR MZN " +
  "NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SIT SKK SLE SLL SOS SRD SSP " +
  "STD STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VEF VES WST XCD XCG YER ZAR ZMK ZMW ZWG ZWL";
const noDigits = "BIF BYR CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF";
const threeDigits = "BHD IQD JOD KWD LYD OMR TND";

const digitsByCode: ReadonlyMap<string, number> = new Map(
  Object.entries({ 0: noDigits, 2: twoDigits, 3: threeDigits }).flatMap(([digits, codes]) =>
    codes.split(" ").map((code) => [code, Number(digits)] as const),
  ),
);

/** The code of a currency in upper case, from any case; undefined when ISO 4217 has none. */
export function currencyCode(text: string): string | undefined {
  // Upper case alone makes letters of ASCII from others: "ısk" becomes "ISK".
  const code = /^[a-z]{3}$/i.test(text) ? text.toUpperCase() : "";
  return digitsByCode.has(code) ? code : undefined;
}

/** The currencies without a rate in which payers have MRR. Their payers may have MRR in currencies with a
 * rate, too. */
export function currenciesWithoutRate(answer: {
  readonly unrated: readonly { readonly currency: string }[];
  readonly rates: readonly { readonly currency: string }[];
  readonly reportingCurrency: string;
}): readonly string[] {
  const rated = [answer.reportingCurrency, ...answer.rates.map(({ currency }) => currency)];
  return answer.unrated.map(({ currency }) => currency).filter((currency) => !rated.includes(currency));
}

/** An amount in units, as CSVs have it: 222500 cents are "2225.00". Digits are moved, not divided, so that no
 * amount is rounded but one that has parts of a minor unit, such as an expected loss.
 * @param minorUnits at most 2^53 from 0 */
export function amountInUnits(minorUnits: number, currency: string): string {
  const digits = currencyDigits(currency);
  const whole = Math.round(minorUnits);
  const text = String(Math.abs(whole)).padStart(digits + 1, "0");
  const units = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  return whole < 0 ? `-${units}` : units;
}

/** An amount in units, as an expression of SQL. @param amount an expression, a whole number from 0; @param
 * currency another, a text */
export function amountInUnitsSql(amount: string, currency: string): string {
  const withDigits = (digits: number) =>
    `concat(toString(intDiv(${amount}, ${10 ** digits})), '.', leftPad(toString(${amount} % ${10 ** digits}), ${digits}, '0'))`;
  const isOneOf = (codes: string) => `${currency} IN ('${codes.replaceAll(" ", "', '")}')`;
  return `multiIf(${isOneOf(noDigits)}, toString(${amount}), ${isOneOf(threeDigits)}, ${withDigits(3)}, ${withDigits(2)})`;
}

/** Digits of a currency's minor unit: 2 for USD, 0 for JPY, 3 for KWD. 2 for a code that ISO 4217 does not
 * have. */
export function currencyDigits(code: string): number {
  return digitsByCode.get(code) ?? 2;
}
